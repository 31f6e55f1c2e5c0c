"""One GPU, four parts: tests, latency compared with PyTorch, transfers compared with raw copies, cold starts. See docs/gpu.md."""

import argparse
import datetime
import importlib.util
import json
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import cold_part
import goals
import latency_part
import installations
import report
import results
import target as targets
import tests_part
import transfer_part
from refusal import Refusal
from steps import Deadline, Steps

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("tests", "latency", "transfer", "cold")
PART_SECONDS = 540
MATHS = ("fp32", "tf32", "fp16")
PROBE_LIMIT_S = 60
DONE, SOMETHING_WRONG = 0, 1


def words(allowed):
    def read(text):
        chosen = text.split(",")
        for word in chosen:
            if word not in allowed:
                raise argparse.ArgumentTypeError(f"unknown: {word!r}; possible: {', '.join(allowed)}")
        return chosen
    return read


def arguments(argv=None):
    parser = argparse.ArgumentParser(prog="bench/gpu.sh", description=__doc__)
    parser.add_argument("--part", type=words(PARTS), default=list(PARTS), metavar="NAME[,NAME]",
                        help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--output", type=Path, metavar="DIR",
                        help="folder of <gpu>.json and <gpu>.md, to which results are added (bench/results)")
    parser.add_argument("--networks", type=words(targets.NETWORKS), default=list(targets.NETWORKS),
                        metavar="NAME[,NAME]")
    parser.add_argument("--sizes", type=words(targets.SIZE_WORDS), default=list(targets.SIZE_WORDS),
                        metavar="WORD[,WORD]", help=f"sizes of the latency part, in this order: {', '.join(targets.SIZE_WORDS)}")
    parser.add_argument("--math", type=words(MATHS), default=["fp32"], metavar="NAME[,NAME]",
                        help="arithmetic of the latency and the cold part: fp32 (the main table), tf32, fp16")
    parser.add_argument("--quick", action="store_true", help="default sizes, fewer iterations, no torch.compile")
    parser.add_argument("--no-compile", action="store_true", help="without torch.compile")
    parser.add_argument("--part-seconds", type=float, default=PART_SECONDS, metavar="S",
                        help="a part starts no step after that, and ends the running one (%(default)s)")
    parser.add_argument("--programs", type=Path, metavar="DIR", help="folder of the programs (the pack's, or build/cuda/bin)")
    parser.add_argument("--keep", type=Path, metavar="FILE.tar.gz", help="also keep profiles, schedules and reports")
    parser.add_argument("--rehearse", action="store_true",
                        help="run everything on the CPU at tiny sizes, as a test; writes to a new folder "
                             "or --output, never to bench/results")
    args = parser.parse_args(argv)
    if args.rehearse and args.output and args.output.resolve() == (ROOT / "bench/results").resolve():
        parser.error("--rehearse must not write to bench/results: name another --output")
    if args.rehearse and args.math != ["fp32"]:
        parser.error("--rehearse computes on the CPU, in fp32 only")
    return args


def say(text):
    print(text, file=sys.stderr, flush=True)


def probe_gpu(installation):
    """Asks the driver: {"gpu": …}, or {"why": …}."""
    folder = installation.libraries.get("libcuda.so.1")
    library = str(folder / "libcuda.so.1") if folder else "libcuda.so.1"
    try:
        done = subprocess.run([sys.executable, "-B", Path(__file__).with_name("probe.py"), library], text=True,
                              timeout=PROBE_LIMIT_S, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=installation.environment())
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"why": f"the driver does not answer within {PROBE_LIMIT_S} s"}
    except ValueError:
        return {"why": f"asking the driver ended with status {done.returncode}"}


def chosen_target(args):
    if args.rehearse:
        return targets.REHEARSAL
    return targets.QUICK if args.quick else targets.Target()


class Bench:
    """A call: the installation, the machine, and the results so far."""

    def __init__(self, args, installation, found, scratch):
        self.args, self.installation, self.scratch = args, installation, scratch
        self.target = chosen_target(args)
        self.has_torch = importlib.util.find_spec("torch") is not None
        name = results.file_name(found["gpu"])
        folder = args.output or (scratch / "results" if args.rehearse else installation.results())
        last = results.read(folder / f"{name}.json") or (
            None if args.rehearse else results.read(installation.results() / f"{name}.json"))
        when = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        self.results = results.Results(found["gpu"], folder / f"{name}.json", last, when)
        if args.rehearse:
            self.results.document["rehearsal"] = True
        self.results.describe(driver_cuda=found.get("driver_cuda"), python=platform.python_version(),
                              commit=installation.manifest.get("commit"))
        self.log = folder / f"{name}.log"
        self.about = {"single_copy": installation.single_copy, "libraries": installation.origins()}

    def write_page(self):
        results.write(self.results.path.with_suffix(".md"), report.page(self.results.document))

    def saver(self, put, **more):
        def save(record):
            put(record, {**self.about, **more})
            self.write_page()
        return save

    def run(self):
        self.results.save()
        for part in self.args.part:
            started = time.monotonic()
            say(f"== {part}, at most {self.args.part_seconds:.0f} s ==")
            steps = Steps(self.log, Deadline(self.args.part_seconds), self.installation.environment(), say,
                          {self.scratch: "FILES", self.installation.root: "TREE"})
            getattr(self, part)(steps)
            say(f"== {part}: {time.monotonic() - started:.0f} s ==")
        self.write_page()

    def tests(self, steps):
        save = self.saver(self.results.put_tests)
        networks = self.args.networks
        tests_part.Tests(self.installation, self.target, steps, self.folder("tests"), save).run(networks)

    def latency(self, steps):
        target, args = self.target, self.args
        protocol = {"warmup": target.warmup, "iterations": target.iterations, "rounds": target.rounds,
                    "sweeps": target.sweeps, "streams": target.streams}
        save = self.saver(self.results.put_latency, protocol=protocol)
        latency = latency_part.Latency(self.installation, target, steps, self.folder("latency"), self.has_torch, save)
        sizes = args.sizes[:1] if args.quick else args.sizes
        cases = latency_part.make_cases(target, args.networks, sizes, args.math, self.scratch / "latency")
        latency.run(cases, compiles=not (args.no_compile or args.quick))
        if latency.torch_info:
            self.results.describe(**{name: latency.torch_info[name] for name in ("torch", "cudnn")})
            self.results.save()

    def transfer(self, steps):
        save = self.saver(self.results.put_transfer)
        transfer_part.Transfers(self.installation, self.target, steps, self.folder("transfer"), self.has_torch, save).run()

    def cold(self, steps):
        save = self.saver(self.results.put_cold)
        cold = cold_part.Cold(self.installation, self.target, steps, self.folder("cold"), save)
        cold.run(self.args.networks, self.args.math)

    def folder(self, name):
        folder = self.scratch / name
        folder.mkdir(exist_ok=True)
        return folder


def keep_files(scratch, file):
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:gz") as archive:
        for path in sorted(scratch.rglob("*")):
            if path.is_file() and path.suffix in (".json", ".log"):
                archive.add(path, path.relative_to(scratch))


def all_well(document, names):
    """True if all tests of these parts passed and every row and path has numbers."""
    parts = {name: document["parts"][name] for name in names if name in document["parts"]}
    tests = [entry for kind in ("programs", "networks", "checkers") for entry in parts.get("tests", {}).get(kind, [])]
    cold = parts.get("cold", {}).get("rows", [])
    rows = parts.get("latency", {}).get("rows", []) + cold
    return (all(entry["well"] for entry in tests) and not any("failed" in row for row in rows)
            and all(row.get("verified") for row in cold) and not parts.get("transfer", {}).get("failed"))


def prepared(args):
    """Returns a Bench. Raises Refusal if a library or the GPU is missing."""
    installation = installations.find_installation(ROOT, args.programs)
    missing = [name for name in installations.NEEDED if name not in installation.libraries]
    if missing:
        raise Refusal(f"{' and '.join(missing)} not found in Python's packages, in /usr/local/cuda or by the "
                      "loader: name the folder in LD_LIBRARY_PATH")
    found = {"gpu": "rehearsal"} if args.rehearse else probe_gpu(installation)
    if "why" in found:
        raise Refusal(f"no GPU to measure: {found['why']}; --rehearse runs everything on the CPU")
    # Short, because Open MPI makes sockets in it, whose paths have at most 107 letters.
    scratch = Path(tempfile.mkdtemp(prefix="hios-gpu-"))
    try:
        bench = Bench(args, installation, found, scratch)
    except Refusal:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    say(f"{found['gpu']}; programs in {installation.programs}; results in {bench.results.path.parent}; "
        f"PyTorch {'yes' if bench.has_torch else 'no'}; files in {scratch}")
    return bench


def main(argv=None):
    args = arguments(argv)
    try:
        bench = prepared(args)
    except Refusal as refusal:
        say(f"bench/gpu.sh: {refusal}")
        sys.exit(2)
    try:
        bench.run()
    finally:
        if args.keep:
            keep_files(bench.scratch, args.keep)
    document = bench.results.document
    print("\n".join(report.changes(document)))
    for goal in [] if args.rehearse else goals.goals(document):
        print(f"{goal.word:>12}  {goal.name}: {goal.found}")
    print(f"results: {bench.results.path} and .md")
    if not args.rehearse:
        shutil.rmtree(bench.scratch, ignore_errors=True)
    sys.exit(DONE if all_well(document, args.part) else SOMETHING_WRONG)


if __name__ == "__main__":
    main()

"""bench/exchange.sh: exports schedules of built-in networks by `hios export`, and has the current onnx package and ONNX Runtime
read them: the checker accepts the device configurations, each node has its device there, and sessions with the partition file
give the same bits as one without. With --ios, also imports schedules that IOS published, measures their stages and ours on
one rank, and prints the latencies, predicted and measured in turns.
Prints tables; --keep writes them to bench/results. Status 1 if something was not read back.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python")]

import published  # noqa: E402
from built import built  # noqa: E402
from exchange_tables import page  # noqa: E402
from hios.launch.programs import Programs  # noqa: E402

PACKAGES = ("numpy==2.4.6", "onnx==1.23.2", "onnxruntime==1.32.0")
PLANS = {"2 devices": ["--devices", 2, "--algorithm", "hios-lp"],
         "1 device, 2 streams": ["--devices", 1, "--threads", 2, "--streams", 2, "--algorithm", "ios"]}


def arguments():
    parser = argparse.ArgumentParser(prog="bench/exchange.sh", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("--network", action="append", metavar="NAME", help="built-in, repeatable (squeezenet and inception_v3)")
    parser.add_argument("--ios", action="append", default=[], metavar="FILE.json",
                        help="a schedule that IOS published, repeatable")
    parser.add_argument("--ios-model", default="inception_v3", metavar="NAME", help="their network (inception_v3)")
    parser.add_argument("--programs", type=Path, help="folder of the programs (build/release/bin, built first)")
    parser.add_argument("--keep", action="store_true", help="write bench/results/exchange.json and .md")
    return parser.parse_args()


def surroundings():
    """A Python that has both packages."""
    folder = ROOT / "build/exchange"
    if not (folder / "bin/pip").exists():
        subprocess.run([ROOT / "scripts/setup.sh", "--peers"], stdout=sys.stderr, check=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", *PACKAGES], stdout=sys.stderr, check=True)
    return folder / "bin/python"


def hios(programs, *words):
    """Runs the command of the sources with these programs."""
    environment = {**os.environ, "HIOS_PROGRAMS": str(programs.folder), "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-B", "-m", "hios", *map(str, words)], env=environment, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"hios {' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def exported(programs, network, flags, folder):
    """The network's file, the partition and the file with devices, of a schedule that these flags make."""
    net, profile, schedule = folder / "net.onnx", folder / "profile.json", folder / "schedule.json"
    ranks = flags[1]
    measuring = ["--threads", 2, "--streams", 2] if ranks == 1 else ["--threads", 1]
    programs.run("hios-run", "--model", network, "--export-onnx", net, "--force", "-q")
    programs.run("hios-profile", "--model", network, *measuring, "--stages", "none", "--warmup", 1, "--iterations", 3,
                 "--output", profile, "--force", "-q", ranks=ranks)
    programs.run("hios-schedule", "--model", network, "--profile", profile, *flags, "--output", schedule, "--force", "-q")
    words = ["export", net, "--model", network, "--schedule", schedule, "--force"]
    hios(programs, *words, "--to", "onnxruntime", "-o", folder / "partition.cfg")
    hios(programs, *words, "--to", "onnx", "-o", folder / "devices.onnx")
    return net, folder / "partition.cfg", folder / "devices.onnx"


def read_back(python, files):
    done = subprocess.run([python, "-B", Path(__file__).parent / "reader.py", *files], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else f"ended with status {done.returncode}"}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    options = arguments()
    programs, python = Programs((options.programs or built()).resolve()), surroundings()
    results = {"read_back": [], "published": [], "cores": published.CORES, "cpu": published.cpu()}
    for network in options.network or ["squeezenet", "inception_v3"]:
        for plan, flags in PLANS.items():
            with tempfile.TemporaryDirectory() as folder:
                answer = read_back(python, exported(programs, network, flags, Path(folder)))
            results["read_back"].append({"network": network, "plan": plan, **answer})
            results |= {name: answer[name] for name in ("onnx", "onnxruntime") if name in answer}
    if options.ios:
        results["published"] = published.compare(programs, lambda *words: hios(programs, *words), options.ios_model,
                                                 options.ios)
    print(page(results))
    if options.keep:
        (ROOT / "bench/results/exchange.json").write_text(json.dumps(results, indent=1) + "\n")
        (ROOT / "bench/results/exchange.md").write_text(page(results))
    return 0 if all(each.get("same_bits") for each in results["read_back"]) else 1


if __name__ == "__main__":
    sys.exit(main())

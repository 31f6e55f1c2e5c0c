"""bench/cold.sh: cold starts of networks, planned and run: parameters come from memory or from a disk while operators run.
For each network, store and set of cores, every plan runs once a round, every other round in the reverse order; a run measures
its two walls too, an inference with all parameters there and the loads alone. Plans are by the loads and operators that
hios-profile --objective cold-start measures first. On one rank, ONNX Runtime starts cold in the same rounds. Leaves profiles,
schedules, reports and summary.json in build/cold; prints a table. Needs an idle machine.
"""

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python")]

from built import built  # noqa: E402
from cold_peer import Peer, Worker, surroundings  # noqa: E402
from cold_rows import added, page, row  # noqa: E402
from hios.launch.programs import Programs  # noqa: E402
from machine import processor  # noqa: E402

NETWORKS = ("squeezenet", "inception_v3", "randwire_large", "nasnet_large")
STORES = ("memory", "disk")
# By name: ranks, threads of each, and the algorithms next to load-then-run and pipelined, which are of one device.
PLACES = {"1x1": (1, 1, ("best",)), "1x2": (1, 2, ("best",)), "2x1": (2, 1, ("hios-lp", "best"))}
ONE_DEVICE = ("load-then-run", "pipelined")
PEER = "onnxruntime"


def arguments(words=None):
    parser = argparse.ArgumentParser(prog="bench/cold.sh", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("--network", action="append", metavar="NAME", help=f"built-in, repeatable ({', '.join(NETWORKS)})")
    parser.add_argument("--store", action="append", choices=STORES, help="repeatable (both)")
    parser.add_argument("--place", action="append", choices=PLACES, help="ranks x cores, repeatable (all that there are cores for)")
    parser.add_argument("--height", type=int, metavar="N", help="of the networks' inputs (their own)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each plan (5)")
    parser.add_argument("--iterations", type=int, default=5, metavar="N", help="cold starts of a run (5)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/cold", help="where all is left (build/cold)")
    parser.add_argument("--no-peer", action="store_true", help="leave ONNX Runtime out, which is installed into build/ first")
    parser.add_argument("--keep", action="store_true", help="write bench/results/cold.json and .md, where rows of other networks, stores and cores by the same protocol remain")
    parser.add_argument("--programs", type=Path, help="folder of the programs (build/release/bin, built first)")
    return parser.parse_args(words)


class Place:
    """One network, store and set of cores: its profile, weights, schedules and runs."""

    def __init__(self, programs, options, network, store, place, worker=None):
        """`worker`: of ONNX Runtime; none leaves it out."""
        self.programs, self.options, self.network, self.store, self.place = programs, options, network, store, place
        self.ranks, self.threads, others = PLACES[place]
        self.algorithms = ONE_DEVICE + others
        self.model = ["--model", network, *(["--height", options.height] if options.height else [])]
        self.folder = options.folder / f"{network}-{store}-{place}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.profile, self.weights = self.folder / "profile.json", self.folder / "weights"
        self.peer = None if worker is None or self.ranks > 1 else Peer(worker, programs, self.model, self.folder, store,
                                                                      self.threads)

    def schedule(self, algorithm):
        """The schedule's file, and its number of devices: a plan of one device runs on one rank."""
        devices = 1 if algorithm in ONE_DEVICE else self.ranks
        file = self.folder / f"{algorithm}.json"
        budget = ["--time-limit", 2] if algorithm == "best" else []
        self.programs.run("hios-schedule", *self.model, "--profile", self.profile, "--devices", devices, "--threads",
                          self.threads, "--objective", "cold-start", "--store", self.store, "--algorithm", algorithm, *budget,
                          "--output", file, "--force", "-q")
        return file, devices

    def run(self, algorithm, schedule, devices, *flags):
        """The report of one run."""
        report = self.folder / f"{algorithm}.report.json"
        weights = ["--weights", self.weights] if self.store == "disk" else []
        self.programs.run("hios-run", *self.model, "--profile", self.profile, "--schedule", schedule, *weights, "--iterations",
                          self.options.iterations, "--warmup", 1, "--json", report, "--force", "-q", *flags, ranks=devices)
        return json.loads(report.read_text())

    def measure(self, existing, *flags):
        """Measures one rank, and as many as there are, into one profile."""
        for devices in sorted({1, self.ranks}):
            self.programs.run("hios-profile", *self.model, "--threads", self.threads, "--stages", "none", "--objective",
                              "cold-start", *flags, "--output", self.profile, existing, "-q", ranks=devices)
            existing = "--update"

    def prepare(self):
        """Measures operators and loads, those of a disk once the weights are packed by the same algorithms. Returns the rate
        of one rank's loads."""
        self.measure("--force")
        if self.store == "disk":
            self.programs.run("hios-run", *self.model, "--threads", self.threads, "--profile", self.profile, "--write-weights",
                              self.weights, "--packed", "--force", "-q")
            self.measure("--update", "--weights", self.weights)
        measured = json.loads(self.profile.read_text())["configurations"]
        loads = next(each["loads"] for each in measured if each["ranks"] == 1)
        if self.store not in loads:
            sys.exit(f"{self.weights}.packed: its pages stay in memory: give --folder on a disk, or --store memory")
        return loads[self.store]["gb_per_s"]

    def rows(self):
        gb_per_s = self.prepare()
        if self.peer:
            self.peer.prepare()
        plans = {name: self.schedule(name) for name in self.algorithms}
        reports = {name: [] for name in plans}
        names = [*plans, *([PEER] if self.peer else [])]
        for turn in range(self.options.rounds):
            for name in reversed(names) if turn % 2 else names:
                if name == PEER:
                    self.peer.run(self.options.iterations)
                else:
                    reports[name].append(self.run(name, *plans[name], *([] if turn else ["--verify"])))
                print(f"{self.network} {self.store} {self.place}: round {turn + 1} of {self.options.rounds}, {name}",
                      file=sys.stderr, flush=True)
        where = {"model": self.network, "store": self.store, "threads": self.threads, "place": self.place,
                 "gb_per_s": gb_per_s}
        rows = [row({**where, "ranks": plans[name][1], "algorithm": name}, found) for name, found in reports.items()]
        return rows + ([self.peer.row(where)] if self.peer else [])


def main(words=None):
    options = arguments(words)
    programs = Programs((options.programs or built()).resolve())
    cores = len(os.sched_getaffinity(0))
    places = options.place or [name for name, (ranks, threads, _) in PLACES.items() if ranks * threads <= cores]
    worker = None if options.no_peer else Worker(surroundings())
    summary = {"processor": processor(), "cores": cores, "onnxruntime": worker and worker.ask({"do": "versions"})["onnxruntime"],
               "rounds": options.rounds, "iterations": options.iterations, "rows": []}
    for network in options.network or NETWORKS:
        for store in options.store or STORES:
            for place in places:
                summary["rows"] += Place(programs, options, network, store, place, worker).rows()
                (options.folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(page(summary))
    if options.keep:
        kept = ROOT / "bench/results/cold.json"
        whole = added(summary, json.loads(kept.read_text()) if kept.exists() else None)
        kept.write_text(json.dumps(whole, indent=1) + "\n")
        (ROOT / "bench/results/cold.md").write_text(f"# Cold starts on the cores of one machine\n\n{page(whole)}\n")
    return 0 if all(each["verified"] for each in summary["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())

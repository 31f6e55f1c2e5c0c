"""Measures a network, schedules it in every way that this machine can run, runs the schedules in turn and prints a table.
All rows use one profile file; a row's samples are those of all its rounds.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from hios.throughput import command as throughput
from hios.bench.profiling import TurnsProfile
from hios.bench.running import Rounds
from hios.bench.summary import summarize, summarize_samples
from hios.bench.table import page
from hios.bench.ways import effort_for, make_rows
from hios.launch.programs import Programs, programs_folder


class Yardstick:
    """The network's layers as oneDNN calls in a bare loop: no plan, no executor, no ranks."""

    def __init__(self, program, threads, folder, environment):
        self.program, self.threads, self.environment = program, threads, environment
        self.name = f"bare oneDNN loop, {threads} core{'s' if threads > 1 else ''}"
        self.file = folder / "rounds" / f"bare-{threads}.json"
        self.samples = []

    def run(self, model, iterations):
        command = [self.program, "--model", model, "--threads", self.threads, "--iterations", iterations,
                   "--json", self.file]
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:self.threads]))
        subprocess.run(["taskset", "-c", cores, *map(str, command)], check=True, stdout=subprocess.DEVNULL,
                       env={**self.environment, "GOMP_SPINCOUNT": "5000"})
        self.samples += json.loads(self.file.read_text())["iterations_ms"]

    def result(self):
        return {"name": self.name, "threads": self.threads, "latency_ms": summarize_samples(self.samples)}


def arguments(words):
    parser = argparse.ArgumentParser(prog="compare", description=" ".join(__doc__.split()))
    parser.add_argument("--model", default="inception_v3", help="a built-in network or a hios-model file (%(default)s)")
    parser.add_argument("--batch", type=int, help="images at once (default: the network's)")
    parser.add_argument("--height", type=int, help="in pixels (default: the network's)")
    parser.add_argument("--width", type=int, help="in pixels (default: the network's)")
    parser.add_argument("--programs", type=Path, help="folder of the three programs (default: beside hios, or in PATH)")
    parser.add_argument("--output", type=Path, required=True,
                        help="folder for profile, schedules and reports; its content is removed")
    parser.add_argument("--rounds", type=int, help="rounds; each runs every row once")
    parser.add_argument("--iterations", type=int, help="measured runs per row and round")
    parser.add_argument("--bare", type=Path, help="bench/raw_onednn, to run in turn with the rows")
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and inputs (%(default)s)")
    return parser.parse_args(words)


def measure(args, programs, folder):
    """Measures, schedules and runs all rows, and returns the summary."""
    effort = effort_for(args.model, args.rounds, args.iterations)
    model = ["--model", args.model]
    for flag in ("batch", "height", "width"):
        if getattr(args, flag):
            model += [f"--{flag}", getattr(args, flag)]
    rows = make_rows(folder)
    yardsticks = []
    if args.bare:
        yardsticks = [Yardstick(args.bare, threads, folder, programs.environment) for threads in (1, 2)]

    def after_round():
        for yardstick in yardsticks:
            yardstick.run(args.model, effort.iterations)

    profile = TurnsProfile(programs, rows, model, folder, effort, args.seed)
    profile.measure()
    rounds = Rounds(programs, profile, rows, model, effort, args.seed)
    rounds.schedule(rows)
    rounds.run_all(after_round)
    rounds.replace_moved(after_round)
    rounds.repeat_off()
    summary = summarize(rows, args.model, rounds.repeated, profile.unsettled())
    if yardsticks:
        summary["extra"]["yardsticks"] = [yardstick.result() for yardstick in yardsticks]
    return summary


def main(words):
    if words[:1] == ["--throughput"]:
        return throughput.main(words[1:])
    args = arguments(words)
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        sys.exit(f"the comparison needs 2 cores and may use {cores}")
    started = time.monotonic()
    folder = args.output
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "rounds").mkdir(parents=True)
    summary = measure(args, Programs(args.programs or programs_folder()), folder)
    summary["seconds"] = time.monotonic() - started
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(page(summary))
    print(f"\nreports, schedules and traces are in {folder}/ ({summary['seconds']:.0f} s)")
    if not all(row["verified"] and row["bitwise_equal_to_one_rank"] for row in summary["rows"]):
        sys.exit("a row did not verify")


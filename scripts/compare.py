#!/usr/bin/env python3
"""Measures a network, schedules it in every way this machine can run, runs the schedules in turns and
prints them side by side.

All rows stand on one profile file. They run in turns, round after round, so that noise hits all
alike; a row's samples are those of all its rounds. Standard library only.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

# name, ranks, cores a rank, streams a rank, algorithm
ROWS = [
    ("1 rank x 1 core sequential", 1, 1, 1, "sequential"),
    ("1 rank x 2 cores sequential", 1, 2, 1, "sequential"),
    ("1 rank x 2 cores ios", 1, 2, 2, "ios"),
    ("2 ranks x 1 core inter-lp", 2, 1, 1, "inter-lp"),
    ("2 ranks x 1 core hios-lp", 2, 1, 1, "hios-lp"),
    ("2 ranks x 1 core inter-mr", 2, 1, 1, "inter-mr"),
    ("2 ranks x 1 core hios-mr", 2, 1, 1, "hios-mr"),
]

# Iterations a round, sweeps of the profiler, rounds: enough samples in a few minutes.
EFFORT = {"nasnet_large": (8, 12, 4)}
DEFAULT_EFFORT = (20, 30, 6)


class Row:
    def __init__(self, name, ranks, threads, streams, algorithm, folder):
        self.name, self.ranks, self.threads = name, ranks, threads
        self.streams, self.algorithm = streams, algorithm
        key = f"{ranks}x{threads}-{algorithm}"
        self.schedule = folder / f"schedule-{key}.json"
        self.report = folder / f"report-{key}.json"
        self.trace = folder / f"trace-{key}.json"
        self.rounds = []

    def round_report(self, number):
        return self.report.parent / "rounds" / f"{self.report.stem}-{number}.json"


class Machine:
    """Starts the programs; a failing one ends the comparison with its own words."""

    def __init__(self, programs):
        self.programs = programs
        self.environment = dict(os.environ)
        if os.geteuid() == 0:  # Open MPI wants to be told twice
            self.environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            self.environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"

    def run(self, ranks, program, *flags):
        command = [str(self.programs / program), *map(str, flags)]
        if ranks:
            command = ["mpirun", "-np", str(ranks), "--bind-to", "none", "--oversubscribe",
                       "--mca", "btl", "self,vader", "--mca", "oob_tcp_if_include", "lo", *command]
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with status {done.returncode}")
        return done.stdout


def say(text):
    print(text, file=sys.stderr, flush=True)


def profile(machine, rows, model, folder, sweeps, seed):
    """One file, one configuration after the other; only what several streams can use is asked of
    concurrent stages."""
    ways = sorted({(row.ranks, row.threads) for row in rows})
    for ranks, threads in ways:
        same = [row for row in rows if (row.ranks, row.threads) == (ranks, threads)]
        streams = max(row.streams for row in same)
        wanted = ",".join(row.algorithm for row in same if row.streams > 1)
        stages = ["--streams", streams, "--stages", wanted] if wanted else []
        say(f"profiling {ranks} x {threads} ...")
        machine.run(ranks, "hios-profile", *model, "--backend", "auto", "--threads", threads, *stages,
                    "--warmup", 3, "--iterations", sweeps, "--seed", seed,
                    "--output", folder / "profile.json", "--update", "-q")


def schedule(machine, rows, model, folder):
    for row in rows:
        machine.run(0, "hios-schedule", *model, "--profile", folder / "profile.json",
                    "--devices", row.ranks, "--threads", row.threads, "--streams", row.streams,
                    "--algorithm", row.algorithm, "--output", row.schedule, "--force")


def run_round(machine, rows, model, folder, number, iterations, seed):
    say(f"round {number} ...")
    for row in rows:
        extra = ["--verify", "--trace", row.trace] if number == 1 else []
        report = row.round_report(number)
        machine.run(row.ranks, "hios-run", *model, "--schedule", row.schedule,
                    "--profile", folder / "profile.json", "--backend", "auto", "--seed", seed,
                    "--warmup", 3, "--iterations", iterations, *extra,
                    "--json", report, "--force", "-q")
        row.rounds.append(json.loads(report.read_text()))


class Yardstick:
    """The network's layers straight from oneDNN in a bare loop: no plan, no executor, no ranks."""

    def __init__(self, program, threads, folder):
        self.program, self.threads = program, threads
        self.name = f"bare oneDNN loop, {threads} core{'s' if threads > 1 else ''}"
        self.file = folder / "rounds" / f"bare-{threads}.json"
        self.samples = []

    def run(self, machine, model, iterations):
        command = [self.program, "--model", model, "--threads", self.threads, "--iterations", iterations,
                   "--json", self.file]
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:self.threads]))
        subprocess.run(["taskset", "-c", cores, *map(str, command)], check=True, stdout=subprocess.DEVNULL,
                       env={**machine.environment, "GOMP_SPINCOUNT": "5000"})
        self.samples += json.loads(self.file.read_text())["iterations_ms"]

    def result(self):
        return {"name": self.name, "threads": self.threads, "latency_ms": summarize_samples(self.samples)}


def summarize_samples(samples):
    """The statistics of a report's latency_ms (docs/formats.md), percentiles by the nearest rank."""
    ordered = sorted(samples)
    count = len(ordered)

    def percentile(p):
        return ordered[max(0, -(-count * p // 100) - 1)]

    return {"min": ordered[0], "best_quarter": statistics.median(ordered[:max(1, -(-count // 4))]),
            "median": statistics.median(ordered), "p95": percentile(95), "p99": percentile(99),
            "mean": statistics.fmean(ordered), "samples": count}


def merge_rounds(row):
    """A row's report: the first round's (which was verified), with the samples of all rounds."""
    report = dict(row.rounds[0])
    samples = [ms for round_ in row.rounds for ms in round_["iterations_ms"]]
    report["iterations_ms"] = samples
    report["latency_ms"] = summarize_samples(samples)
    predicted = report["predicted_ms"]
    best = report["latency_ms"]["best_quarter"]
    report["prediction_error"] = (best - predicted) / best
    row.report.write_text(json.dumps(report) + "\n")
    return report


def two_rank_limit(rows, one_core_ms):
    """What no schedule on two ranks x one core can beat, by the schedulers' own lower bound."""
    row = next(row for row in rows if row.ranks == 2)
    predicted = json.loads(row.schedule.read_text())["predicted"]
    return {"bound": predicted["bound"], "ms": predicted["lower_bound_ms"],
            "speedup_over_one_core": one_core_ms / predicted["lower_bound_ms"]}


def summarize(rows, model_name):
    reports = [(row, merge_rounds(row)) for row in rows]

    def best(select):
        return min(r["latency_ms"]["best_quarter"] for row, r in reports if select(row))

    one_core = best(lambda row: row.ranks * row.threads == 1)
    two_cores_one_rank = best(lambda row: row.ranks == 1 and row.threads == 2)
    best_two_cores = best(lambda row: row.ranks * row.threads == 2)
    result = []
    for row, report in reports:
        ms = report["latency_ms"]["best_quarter"]
        verified = report["verified"]
        result.append({
            "name": row.name, "ranks": row.ranks, "threads": row.threads, "algorithm": row.algorithm,
            "latency_ms": report["latency_ms"], "predicted_ms": report["predicted_ms"],
            "prediction_error": report["prediction_error"],
            "verified": verified["passed"], "bitwise_equal_to_one_rank": verified["bitwise"],
            "speedup_over_one_core": one_core / ms, "ratio_to_best_two_core_row": best_two_cores / ms,
            "overhead_ms": report["overhead_ms"],
        })
    moved = [summarize_samples(r["iterations_ms"])["best_quarter"] for r in rows[0].rounds]
    return {"format": "hios-summary", "version": 1, "model": model_name, "rows": result,
            "reference_moved": max(moved) / min(moved) - 1,
            "two_cores_one_rank_ms": two_cores_one_rank, "extra": {"two_rank_limit": two_rank_limit(rows, one_core)}}


def table(summary):
    head = ["row", "min", "best 1/4", "median", "p95", "vs 1 core", "vs best 2-core", "predicted", "error", "verified"]
    lines = [head]
    for row in summary["rows"]:
        ms = row["latency_ms"]
        checked = "yes, bitwise" if row["verified"] and row["bitwise_equal_to_one_rank"] else "NO"
        lines.append([row["name"], *(f"{ms[k]:.2f}" for k in ("min", "best_quarter", "median", "p95")),
                      f"{row['speedup_over_one_core']:.2f}x", f"{row['ratio_to_best_two_core_row']:.2f}x",
                      f"{row['predicted_ms']:.2f}", f"{100 * row['prediction_error']:+.1f} %", checked])
    widths = [max(len(line[c]) for line in lines) for c in range(len(head))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("  ".join(cell.ljust(widths[c]) if c == 0 else cell.rjust(widths[c])
                               for c, cell in enumerate(line)).rstrip() for line in lines)


def arguments():
    parser = argparse.ArgumentParser(description=" ".join(__doc__.split("\n\n")[0].split()))
    parser.add_argument("--model", default="inception_v3", help="a built-in network (%(default)s)")
    parser.add_argument("--batch", type=int, help="images at once (the network's own)")
    parser.add_argument("--height", type=int, help="of an image, in pixels (the network's own)")
    parser.add_argument("--width", type=int, help="of an image, in pixels (the network's own)")
    parser.add_argument("--programs", type=Path, required=True, help="folder of the three programs")
    parser.add_argument("--output", type=Path, required=True, help="folder for profile, schedules, reports")
    parser.add_argument("--rounds", type=int, help="turns of every row")
    parser.add_argument("--iterations", type=int, help="measured runs a row and round")
    parser.add_argument("--bare", type=Path, help="bench/raw_onednn, to run in turn with the rows")
    parser.add_argument("--seed", type=int, default=0, help="of weights and inputs (%(default)s)")
    return parser.parse_args()


def main():
    args = arguments()
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        sys.exit(f"the comparison needs 2 cores and may use {cores}")
    started = time.monotonic()
    iterations, sweeps, rounds = EFFORT.get(args.model, DEFAULT_EFFORT)
    iterations, rounds = args.iterations or iterations, args.rounds or rounds
    folder = args.output
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "rounds").mkdir(parents=True)
    model = ["--model", args.model]
    for flag in ("batch", "height", "width"):
        if getattr(args, flag):
            model += [f"--{flag}", getattr(args, flag)]
    rows = [Row(*row, folder) for row in ROWS]
    machine = Machine(args.programs)
    yardsticks = [Yardstick(args.bare, threads, folder) for threads in (1, 2)] if args.bare else []
    profile(machine, rows, model, folder, sweeps, args.seed)
    schedule(machine, rows, model, folder)
    for number in range(1, rounds + 1):
        run_round(machine, rows, model, folder, number, iterations, args.seed)
        for yardstick in yardsticks:
            yardstick.run(machine, args.model, iterations)
    summary = summarize(rows, args.model)
    if yardsticks:
        summary["extra"]["yardsticks"] = [yardstick.result() for yardstick in yardsticks]
    summary["seconds"] = time.monotonic() - started
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    samples = summary["rows"][0]["latency_ms"]["samples"]
    print(f"\n{args.model}, latency in ms (maximum over ranks), {samples} runs a row in {rounds} rounds; "
          f"the one-core row moved by {100 * summary['reference_moved']:.1f} % between rounds\n")
    print(table(summary))
    limit = summary["extra"]["two_rank_limit"]
    print(f"\nno schedule on 2 ranks x 1 core takes less than {limit['ms']:.2f} ms ({limit['bound']}), "
          f"{limit['speedup_over_one_core']:.2f}x over 1 core")
    for yardstick in summary["extra"].get("yardsticks", []):
        ms = yardstick["latency_ms"]
        print(f"{yardstick['name']}: min {ms['min']:.2f}, best 1/4 {ms['best_quarter']:.2f}, median {ms['median']:.2f}")
    print("a rank of one core has one stream: Alg. 2 finds nothing to group there, so hios-lp is inter-lp, "
          "and hios-mr inter-mr")
    print(f"\nreports, schedules and traces are in {folder}/ ({summary['seconds']:.0f} s)")
    if not all(row["verified"] and row["bitwise_equal_to_one_rank"] for row in summary["rows"]):
        sys.exit("a row did not verify")


if __name__ == "__main__":
    main()

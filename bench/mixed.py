#!/usr/bin/env python3
"""bench/mixed: runs a network on two different ranks of one machine, one with all of the processor's instructions and one
that is restricted to older ones: each alone, and both together by several schedules, with and without operators cut over them. All rows run in turn, each in a job of
its own; a row's samples are those of all its rounds. Prints predicted and measured times, and writes them as mixed.md and
mixed.json. With --inputs N, N inputs are available at once, inputs per second are compared with the sum of both ranks alone,
and the files are mixed-N.md and mixed-N.json.
"""

import argparse
import json
import os
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python")]
from hios.launch.programs import Programs  # noqa: E402
from machine import processor  # noqa: E402

KEPT = ROOT / "bench" / "results"
TOGETHER = ("sequential", "heft", "hios-lp", "best")
WITH_CUTS = ("hios-lp", "best")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/mixed", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("--model", default="inception_v3", help="a built-in network or a file (%(default)s)")
    parser.add_argument("--inputs", type=int, default=1, metavar="N", help="inputs that are available at once (%(default)s)")
    parser.add_argument("--parts", type=int, default=4, metavar="P", help="batches into which they are divided, at most (%(default)s)")
    parser.add_argument("--cap", default="avx2", help="the slower rank's newest instructions (%(default)s)")
    parser.add_argument("--shares", metavar="S:S", help="rows of the two shards of an operator that is cut, the fast rank's "
                                                        "first (in inverse proportion to the times of the ranks alone)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; each runs every row once (%(default)s)")
    parser.add_argument("--iterations", type=int, default=20, help="measured runs per row and round (%(default)s)")
    parser.add_argument("--sweeps", type=int, default=30, help="sweeps over all operators, for the profile (%(default)s)")
    parser.add_argument("--time-limit", type=float, default=5, metavar="SECONDS", help="time limit of best (%(default)s)")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin", help="folder of the three programs")
    parser.add_argument("--out", type=Path, default=ROOT / "build/mixed", metavar="FOLDER", help="(build/mixed)")
    parser.add_argument("--keep", action="store_true", help=f"also write the table to {KEPT.relative_to(ROOT)}")
    options = parser.parse_args()
    if min(options.rounds, options.iterations, options.sweeps, options.inputs) < 1:
        parser.error("--rounds, --iterations, --sweeps and --inputs must be at least 1")
    return options


def model_flags(options):
    many = ["--inputs", options.inputs, "--parts", options.parts] if options.inputs > 1 else []
    return ["--model", options.model, *many]


class Row:
    """A schedule, the ranks that run it, and their times. `cut`: it cuts operators over the ranks."""

    def __init__(self, name, backends, algorithm, cut=False):
        self.name, self.backends, self.algorithm, self.cut = name, backends, algorithm, cut
        self.stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        self.samples, self.disturbed, self.report, self.verified = [], 0, None, None

    def result(self):
        quickest = sorted(self.samples)[:max(1, len(self.samples) // 4)]
        best_quarter = statistics.median(quickest)
        predicted = self.report["predicted_ms"]
        return {"name": self.name, "backends": self.backends, "algorithm": self.algorithm, "cut": self.cut,
                "predicted_ms": predicted,
                "latency_ms": {"min": min(self.samples), "best_quarter": best_quarter,
                               "median": statistics.median(self.samples), "samples": len(self.samples),
                               "disturbed": self.disturbed},
                "prediction_error": (best_quarter - predicted) / best_quarter,
                "verified": self.verified["passed"], "bitwise": self.verified["bitwise"],
                "held_bytes": [rank["held_bytes"] for rank in self.report["ranks"]]}


def rows_of(cap, inputs):
    """A rank alone only divides the inputs; sequential uses the best even division. Several inputs are divided, and one is
    cut."""
    slow = f"cpu:{cap}"
    with_cuts = WITH_CUTS if inputs == 1 else ()
    return [Row("cpu alone", ["cpu"], "sequential"), Row(f"{slow} alone", [slow], "sequential"),
            *[Row(f"together, {algorithm}", ["cpu", slow], algorithm) for algorithm in TOGETHER],
            *[Row(f"together, {algorithm}, cut", ["cpu", slow], algorithm, cut=True) for algorithm in with_cuts]]


def kind(backend):
    return backend.replace(":", "-")


def prepare(options, programs, rows):
    """Makes a profile for each set of ranks, with and without cuts, a platform and a schedule for each row."""
    for row in rows:
        shares = options.shares or row.cut and shares_of(*rows[:2])
        model = model_flags(options) + (["--cut", f"auto:{shares}"] if row.cut else [])
        ranks = "+".join(map(kind, row.backends)) + ("-cut" if row.cut else "")
        profile = options.out / f"profile-{ranks}-{options.inputs}.json"
        if not profile.exists():
            print(f"profiling {ranks}", file=sys.stderr)
            programs.run("hios-profile", *model, "--backend", ",".join(row.backends), "--stages", "none", "--iterations",
                         options.sweeps, "--output", profile, ranks=len(row.backends))
        devices = [{"name": f"{kind(backend)}_{number}", "kind": kind(backend), "threads": 1, "streams": 1}
                   for number, backend in enumerate(row.backends)]
        machine = options.out / f"platform-{ranks}.json"
        machine.write_text(json.dumps({"format": "hios-platform", "version": 1, "devices": devices}))
        row.files = ["--schedule", options.out / f"schedule-{row.stem}-{options.inputs}.json", "--profile", profile]
        programs.run("hios-schedule", *model, "--profile", profile, "--platform", machine, "--algorithm", row.algorithm,
                     "--time-limit", options.time_limit, "--output", row.files[1], "--force")


def shares_of(fast, slow):
    """The shares of the rows with which both ranks take as long, by the predictions of each alone, in hundredths."""
    of_fast, of_slow = (json.loads(row.files[1].read_text())["predicted"]["latency_ms"] for row in (fast, slow))
    share = round(100 * of_slow / (of_fast + of_slow))
    return f"{share}:{100 - share}"


def measure(options, programs, rows):
    for turn in range(options.rounds):
        for row in rows:
            print(f"round {turn + 1} of {options.rounds}: {row.name}", file=sys.stderr)
            verify = ["--verify"] if turn == 0 else []
            row.report = programs.json("hios-run", "--model", options.model, *row.files, "--backend",
                                       ",".join(row.backends), "--iterations", options.iterations, *verify,
                                       ranks=len(row.backends))
            row.verified = row.report["verified"] or row.verified
            row.samples += row.report["iterations_ms"]
            row.disturbed += row.report["latency_ms"]["disturbed"]


def columns_of(rows, inputs):
    """Titles and texts of a row, in order; speed-ups are over the fast rank alone."""
    best = lambda row: row["latency_ms"]["best_quarter"]
    inputs_per_s = lambda row: 1000 * inputs / best(row)
    alone = inputs_per_s(rows[0]) + inputs_per_s(rows[1])
    throughput = {"inputs/s": lambda row: f"{inputs_per_s(row):.1f}",
                  "of both alone": lambda row: f"{100 * inputs_per_s(row) / alone:.0f} %"} if inputs > 1 else {}
    return {"ranks and schedule": lambda row: row["name"],
            "min ms": lambda row: f"{row['latency_ms']['min']:.2f}",
            "best quarter": lambda row: f"{best(row):.2f}",
            "median": lambda row: f"{row['latency_ms']['median']:.2f}",
            "over cpu alone": lambda row: f"{best(rows[0]) / best(row):.2f}x",
            **throughput,
            "predicted": lambda row: f"{row['predicted_ms']:.2f}",
            "error": lambda row: f"{100 * row['prediction_error']:+.1f} %",
            "MB held, by rank": lambda row: ", ".join(f"{size / 1e6:.1f}" for size in row["held_bytes"])}


def table(rows, inputs):
    """In Markdown."""
    columns = columns_of(rows, inputs)
    lines = [columns, ["---"] * len(columns)] + [[text(row) for text in columns.values()] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page(options, results):
    rows = results["rows"]
    many = f"{options.inputs} inputs at once in up to {options.parts} parts. " if options.inputs > 1 else ""
    checked = "verified against the reference backend" if all(row["verified"] for row in rows) else "NOT ALL VERIFIED"
    disturbed = sum(row["latency_ms"]["disturbed"] for row in rows)
    samples = sum(row["latency_ms"]["samples"] for row in rows)
    return (f"# {options.model} on two ranks of different kinds\n\n"
            f"Made by `bench/mixed` on {results['processor']}, {results['cores']} cores; one core per rank. {many}Latency in ms, the "
            f"maximum over ranks, {options.rounds} rounds of {options.iterations} runs in turn; {checked}. The load was "
            f"{results['load'][0]:.1f} to {results['load'][1]:.1f}; {disturbed} of {samples} runs were disturbed by other work "
            f"of the machine.\n\n{table(rows, options.inputs)}\n")


def main():
    options = arguments()
    programs = Programs(options.programs)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = rows_of(options.cap, options.inputs)
    before = os.getloadavg()[0]
    prepare(options, programs, rows)
    measure(options, programs, rows)
    results = {"model": options.model, "inputs": options.inputs, "parts": options.parts, "processor": processor(), "cores": os.cpu_count(), "rounds": options.rounds,
               "iterations": options.iterations, "sweeps": options.sweeps,
               "load": sorted([before, os.getloadavg()[0]]), "versions": rows[0].report["versions"],
               "rows": [row.result() for row in rows]}
    text = page(options, results)
    for folder in [options.out] + [KEPT] * options.keep:
        stem = f"mixed-{options.inputs}" if options.inputs > 1 else "mixed"
        folder.joinpath(f"{stem}.json").write_text(json.dumps(results, indent=1) + "\n")
        folder.joinpath(f"{stem}.md").write_text(text)
    print(text)
    sys.exit(0 if all(row["verified"] for row in results["rows"]) else 1)


if __name__ == "__main__":
    main()

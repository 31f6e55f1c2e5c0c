#!/usr/bin/env python3
"""bench/prediction.py: compares the latency that a plan predicts with the one that it takes: in each round, a network is
profiled, planned and run, each row by a profile of that round, so that a machine that is slower for minutes is slower in both.
A round's error is that of the best quarter of its runs; a row's, the median of its rounds' errors. Prints a table, and writes
prediction.md and prediction.json, where other networks of the same protocol, machine and build remain. Needs an idle machine.
"""

import argparse
import json
import os
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "bench")]
from built import built  # noqa: E402
from hios.launch.programs import Programs  # noqa: E402
from machine import processor  # noqa: E402

KEPT = ROOT / "bench" / "results"
NETWORKS = ("squeezenet", "inception_v3", "randwire_large", "nasnet_large")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/prediction.py", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("networks", nargs="*", default=NETWORKS, metavar="NETWORK",
                        help="built-in networks or files (" + ", ".join(NETWORKS) + ")")
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="ranks of one core each (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (%(default)s)")
    parser.add_argument("--iterations", type=int, default=30, help="measured runs per row and round (%(default)s)")
    parser.add_argument("--programs", type=Path, metavar="FOLDER", help="of the three programs (builds them)")
    parser.add_argument("--out", type=Path, default=ROOT / "build/prediction", metavar="FOLDER", help="(build/prediction)")
    parser.add_argument("--keep", action="store_true", help=f"also write the results to {KEPT.relative_to(ROOT)}")
    options = parser.parse_args()
    if min(options.ranks, options.rounds, options.iterations) < 1:
        parser.error("--ranks, --rounds and --iterations must be at least 1")
    return options


class Row:
    """A kind of plan. `cut`: its operators are cut over the ranks."""

    def __init__(self, name, ranks, threads, algorithm, cut=False):
        self.name, self.ranks, self.threads, self.algorithm, self.cut = name, ranks, threads, algorithm, cut
        self.predicted, self.measured = [], []  # ms, by round

    @property
    def setting(self):
        """Profiles depend on this: rows that have it in common share the profile of a round."""
        return self.ranks, self.threads, self.cut

    def result(self):
        errors = [(ran - predicted) / ran for predicted, ran in zip(self.predicted, self.measured)]
        return {"name": self.name, "predicted_ms": self.predicted, "best_quarter_ms": self.measured,
                "error": statistics.median(errors), "errors": [min(errors), max(errors)]}


def rows_of(ranks):
    rows = [Row("1 rank x 1 core", 1, 1, "sequential")]
    if ranks > 1:
        rows += [Row(f"1 rank x {ranks} cores", 1, ranks, "sequential"),
                 *(Row(f"{ranks} ranks x 1 core, {algorithm}", ranks, 1, algorithm) for algorithm in ("hios-lp", "best")),
                 Row(f"{ranks} ranks x 1 core, hios-lp, cut", ranks, 1, "hios-lp", cut=True)]
    return rows


def measure(programs, network, rows, options, folder):
    for turn in range(options.rounds):
        profiles = {}
        for row in rows:
            print(f"{network}: round {turn + 1} of {options.rounds}: {row.name}", file=sys.stderr, flush=True)
            cut = ["--cut", "auto"] if row.cut else []
            if row.setting not in profiles:
                profiles[row.setting] = folder / "profile-{}-{}-{}.json".format(*row.setting)
                programs.run("hios-profile", "--model", network, *cut, "--threads", row.threads, "--force", "--output",
                             profiles[row.setting], ranks=row.ranks)
            schedule = folder / "schedule.json"
            given = ["--model", network, "--profile", profiles[row.setting], "--force"]
            programs.run("hios-schedule", *given, *cut, "--devices", row.ranks, "--threads", row.threads, "--algorithm",
                         row.algorithm, "--output", schedule)
            report = programs.json("hios-run", *given, "--schedule", schedule, "--threads", row.threads, "--iterations",
                                   options.iterations, ranks=row.ranks)
            row.predicted.append(report["predicted_ms"])
            row.measured.append(report["latency_ms"]["best_quarter"])
    return [row.result() for row in rows], report["versions"]


def table(networks):
    """In Markdown."""
    lines = ["| network | ranks and schedule | predicted, ms | best quarter, ms | error | rounds |", "|---|---|---|---|---|---|"]
    for network, rows in networks.items():
        for row in rows:
            low, high = row["errors"]
            lines.append(f"| {network} | {row['name']} | {statistics.median(row['predicted_ms']):.2f} | "
                         f"{statistics.median(row['best_quarter_ms']):.2f} | {100 * row['error']:+.1f} % | "
                         f"{100 * low:+.1f} to {100 * high:+.1f} % |")
    return "\n".join(lines)


def page(results):
    errors = [abs(row["error"]) for rows in results["networks"].values() for row in rows]
    return (f"# Predicted and measured latencies\n\nMade by `bench/prediction.py` on {results['processor']}, {results['cores']} cores: "
            f"{results['rounds']} rounds, in each of which every row is profiled, planned and run {results['iterations']} times. "
            f"Medians of the rounds; an error above 0 is a run that took longer. Mean error {100 * statistics.mean(errors):.1f} %, "
            f"largest {100 * max(errors):.1f} %.\n\n{table(results['networks'])}\n")


def with_earlier(results, file):
    """Adds the networks that a file has and these results lack, if both are of one protocol, machine and build."""
    earlier = json.loads(file.read_text()) if file.exists() else {}
    if all(earlier.get(key) == value for key, value in results.items() if key != "networks"):
        results["networks"] = {**earlier["networks"], **results["networks"]}


def main():
    options = arguments()
    programs = Programs(options.programs or built())
    options.out.mkdir(parents=True, exist_ok=True)
    results = {"processor": processor(), "cores": os.cpu_count(), "ranks": options.ranks, "rounds": options.rounds,
               "iterations": options.iterations, "networks": {}}
    for network in options.networks:
        name = re.sub(r"[^A-Za-z0-9_]+", "-", Path(network).stem)
        (options.out / name).mkdir(exist_ok=True)
        results["networks"][name], results["versions"] = measure(programs, network, rows_of(options.ranks), options,
                                                                 options.out / name)
        with_earlier(results, options.out / "prediction.json")
        for folder in [options.out] + [KEPT] * options.keep:
            folder.joinpath("prediction.json").write_text(json.dumps(results, indent=1) + "\n")
            folder.joinpath("prediction.md").write_text(page(results))
    print(page(results))


if __name__ == "__main__":
    main()

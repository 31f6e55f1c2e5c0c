#!/usr/bin/env python3
"""bench/added_devices.py: adds slow devices to a few fast ones, and compares what `best` finds in the same time with and without
them. They should cost nothing: what helps nobody may stay idle. Twenty pairs, each run one after the other, so leave the machine
idle. A pair is computed once: a stopped run continues. Writes added-devices.json and added-devices.md next to the rows.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench" / "study"), str(ROOT / "python")]
from hios.launch.programs import Deadline, Programs  # noqa: E402
from store import Store  # noqa: E402

KEPT = ROOT / "bench" / "results"
MOST = 1.005  # the latency with the added devices, divided by that without them
# Keys of --random, operators, the speeds of the devices, and those of the added ones.
PAIRS = [("layered", 100, "1x2", "0.1x8"), ("layered", 300, "1x4", "0.02x16"), ("layered", 800, "1x2", "0.3x4"),
         ("layered", 1500, "1x4", "0.1x8"), ("layered", 2500, "1x4", "0.02x16"), ("layered", 4000, "1x4", "0.1x8"),
         ("forkjoin", 200, "1x4", "0.02x16"), ("forkjoin", 1000, "1x2", "0.1x8"), ("forkjoin", 2500, "1x4", "0.1x8"),
         ("tree", 150, "1x4", "0.05x8"), ("tree", 1200, "1x2", "0.02x16"), ("tree", 3000, "1x4", "0.1x4"),
         ("chain", 200, "1x2", "0.1x8"), ("chain", 900, "1x4", "0.02x16"), ("cholesky", 200, "1x4", "0.1x8"),
         ("cholesky", 1000, "1x4", "0.02x16"), ("cholesky", 2500, "1x4", "0.05x8"), ("dense", 80, "1x2", "0.1x8"),
         ("stencil,width=20", 600, "1x4", "0.02x16"), ("layered,p=30", 1200, "1x4", "0.1x8")]
KEYS = ("family", "operators", "devices", "added", "seconds")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/added_devices.py", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("--seconds", type=float, default=10, help="seconds of best for each problem (10)")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="start no further pair after that time")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin", help="folder of hios-schedule")
    parser.add_argument("--out", type=Path, default=ROOT / "build/added-devices", metavar="FOLDER", help="(build/added-devices)")
    parser.add_argument("--keep", action="store_true", help=f"also write the table to {KEPT.relative_to(ROOT)}")
    options = parser.parse_args()
    if options.seconds <= 0:
        parser.error("--seconds must be more than 0")
    return options


def best_ms(programs, family, operators, speeds, seconds):
    """The latency that best finds, and the bound."""
    words = f"family={family},n={operators},seed=1,speeds={speeds}"
    (row,) = programs.json("hios-schedule", "--random", words, "--algorithm", "best", "--time-limit", seconds)["comparison"]
    return row["latency_ms"], row["lower_bound_ms"]


def compute(programs, pair, seconds):
    family, operators, devices, added = pair
    row = dict(zip(KEYS, (*pair, seconds)))
    row["without_ms"], _ = best_ms(programs, family, operators, devices, seconds)
    row["with_ms"], row["bound_ms"] = best_ms(programs, family, operators, f"{devices}:{added}", seconds)
    return row


def ratio(row):
    return float(row["with_ms"]) / float(row["without_ms"])


def table(rows):
    lines = ["| network | operators | devices | added | without ms | with ms | ratio |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['family']} | {row['operators']} | {row['devices']} | {row['added']} | "
                     f"{float(row['without_ms']):.2f} | {float(row['with_ms']):.2f} | {ratio(row):.4f} |")
    ratios = [ratio(row) for row in rows]
    lines.append(f"| all {len(rows)} | | | | | | mean {statistics.fmean(ratios):.4f}, largest {max(ratios):.4f} |")
    return "\n".join(lines) + "\n"


def write(rows, seconds, folder):
    text = (f"# Slow devices added\n\nMade by `bench/added_devices.py`: best for {seconds:g} s with and without devices of a "
            "fraction of the speed of the others (0.1x8: eight of a tenth).\n\n")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "added-devices.md").write_text(text + table(rows))
    (folder / "added-devices.json").write_text(json.dumps({"seconds": seconds, "pairs": rows}, indent=1) + "\n")


def main():
    options = arguments()
    programs, deadline = Programs(options.programs), Deadline(options.time_limit)
    store = Store(options.out / "pairs.csv", KEYS, ("without_ms", "with_ms", "bound_ms"))
    rows = []
    for pair in PAIRS:
        key = dict(zip(KEYS, (*pair, options.seconds)))
        if not store.has(**key):
            if deadline.passed():
                continue
            print(f"{pair[1]} operators, {pair[0]}, {pair[2]} and {pair[3]}", file=sys.stderr, flush=True)
            store.add([compute(programs, pair, options.seconds)])
        rows.append(store.get(**key))
    if rows:
        print(table(rows))
        for folder in [options.out] + ([KEPT] if options.keep else []):
            write(rows, options.seconds, folder)
    raise SystemExit(1 if len(rows) < len(PAIRS) or any(ratio(row) > MOST for row in rows) else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""bench/unlike_devices.py: the gaps of `best` on devices that differ and have little memory. Twelve devices of three speeds, on
which each operator gains differently, and accelerators with cores of a twentieth to a fiftieth of their speed. With --before it
runs another build's hios-schedule on each problem, too. A problem is computed once: a stopped run continues. Writes
unlike-devices.json and unlike-devices.md next to the rows.
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
TWELVE = "speeds=1x4:0.6x4:0.3x4,spread=0.5"
UNLIKE = [f"layered,n=2000,edges=4000,layers=33,{TWELVE},memory=1.03", f"layered,n=500,{TWELVE},memory=1.1",
          f"forkjoin,n=1000,{TWELVE},memory=1.03", f"tree,n=500,{TWELVE},memory=1.1", f"chain,n=1000,{TWELVE},memory=1.03",
          f"cholesky,n=500,{TWELVE},memory=1.1", f"independent,n=500,{TWELVE},memory=1.03",
          f"dense,n=150,{TWELVE},memory=1.1"]
CORES = ["layered,n=400,layers=12,edges=800,speeds=1x3:0.05x6,memory=1.5", "layered,n=1000,speeds=1x2:0.02x8,memory=2",
         "forkjoin,n=400,speeds=1x3:0.05x6,memory=1.5", "tree,n=400,speeds=1x2:0.05x4,memory=1.1",
         "chain,n=400,speeds=1x3:0.05x6,memory=1.5", "cholesky,n=300,speeds=1x3:0.05x6,memory=1.5",
         "bert,speeds=1x3:0.05x6,memory=1.05", "bert,speeds=1x3:0.02x6,memory=2"]
GROUPS = {"12 unlike": UNLIKE, "accelerators with cores": CORES}
KEYS = ("group", "problem", "seconds", "moves")
LONG_S = 600  # seconds of best where moves end it
VALUES = ("best", "bound", "bound_name", "before", "bound_before")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/unlike_devices.py", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("--seconds", type=float, default=10, help="seconds of best for each problem (10)")
    parser.add_argument("--moves", type=int, metavar="N", help="moves of each island in place of seconds, for busy machines")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="start no further problem after that time")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin", help="folder of hios-schedule")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="folder of another hios-schedule, to compare with")
    parser.add_argument("--out", type=Path, default=ROOT / "build/unlike-devices", metavar="FOLDER", help="(build/unlike-devices)")
    parser.add_argument("--keep", action="store_true", help=f"also write the table to {KEPT.relative_to(ROOT)}")
    options = parser.parse_args()
    if options.seconds <= 0 or (options.moves or 1) < 1:
        parser.error("--seconds and --moves must be more than 0")
    if options.moves:
        options.seconds = LONG_S
    return options


def best_of(programs, key):
    moves = ["--option", f"iterations={key['moves']}"] if key["moves"] else []
    (row,) = programs.json("hios-schedule", "--random", f"family={key['problem']},seed=1", "--algorithm", "best", "--time-limit",
                           key["seconds"], *moves)["comparison"]
    return row


def compute(programs, before, key):
    now = best_of(programs, key)
    row = {**key, "best": now["latency_ms"], "bound": now["lower_bound_ms"], "bound_name": now["bound"]}
    if before:
        was = best_of(before, key)
        row["before"], row["bound_before"] = was["latency_ms"], was["lower_bound_ms"]
    return row


def gap(row, latency="best", bound="bound"):
    """In %; None without both."""
    return 100 * (float(row[latency]) / float(row[bound]) - 1) if row[latency] else None


def summary(rows):
    """Mean and largest gap by group, now and before."""
    groups = {}
    for name in GROUPS:
        some = [row for row in rows if row["group"] == name]
        for column, of in (("gap", gap), ("gap_before", lambda row: gap(row, "before", "bound_before"))):
            gaps = [of(row) for row in some]
            if some and None not in gaps:
                groups.setdefault(name, {"problems": len(some)})[column] = statistics.fmean(gaps), max(gaps)
    return groups


def cell(value, digits=1):
    return "-" if value in ("", None) else f"{float(value):.{digits}f}"


def table(rows, groups):
    lines = ["| problem | best ms | bound ms | | gap % | before: best ms | bound ms | gap % |", "|---" * 8 + "|"]
    for row in rows:
        lines.append(f"| {row['problem']} | {cell(row['best'])} | {cell(row['bound'])} | {row['bound_name']} | {cell(gap(row))} "
                     f"| {cell(row['before'])} | {cell(row['bound_before'])} | {cell(gap(row, 'before', 'bound_before'))} |")
    for name, group in groups.items():
        now, before = group["gap"], group.get("gap_before")
        was = f"{before[0]:.1f} ({before[1]:.1f})" if before else "-"
        lines.append(f"| {name}, {group['problems']} problems: mean (largest) | | | | {now[0]:.1f} ({now[1]:.1f}) | | | {was} |")
    return "\n".join(lines) + "\n"


def main():
    options = arguments()
    programs, deadline = Programs(options.programs), Deadline(options.time_limit)
    before = Programs(options.before) if options.before else None
    store = Store(options.out / "unlike.csv", KEYS, VALUES)
    rows = []
    asked = [{"group": group, "problem": problem, "seconds": options.seconds, "moves": options.moves or ""}
             for group in GROUPS for problem in GROUPS[group]]
    for key in asked:
        if not store.has(**key):
            if deadline.passed():
                continue
            print(key["problem"], file=sys.stderr, flush=True)
            store.add([compute(programs, before, key)])
        rows.append(store.get(**key))
    groups = summary(rows)
    if rows:
        print(table(rows, groups))
    effort = f"with {options.moves} moves an island" if options.moves else f"for {options.seconds:g} s"
    text = f"# Devices that differ\n\nMade by `bench/unlike_devices.py`: best {effort} per problem, seed 1.\n\n"
    for folder in [options.out] + ([KEPT] if options.keep else []):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "unlike-devices.md").write_text(text + table(rows, groups))
        (folder / "unlike-devices.json").write_text(
            json.dumps({"effort": effort, "groups": groups, "problems": rows}, indent=1) + "\n")
    raise SystemExit(1 if len(rows) < len(asked) else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""bench/quality: runs every scheduler on random networks of every family, for homogeneous devices, heterogeneous devices and
devices with little memory, on large ones and with expensive transfers, and `best` with a given time. A problem is computed
once: a stopped run continues. Prints a table of latencies divided by those of heft and by the lower bound, and the
differences from the recorded table; writes it as quality.md, quality.json and, with Matplotlib, quality.png next to the rows,
quality.csv.
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

KEPT = ROOT / "bench" / "results" / "quality.json"
FAMILIES = ("layered", "forkjoin", "tree", "chain", "cholesky", "independent", "dense")
DEVICES = {  # name: keys of --random, or a number of equal devices
    "4 alike": {"devices": 4}, "12 alike": {"devices": 12}, "2 + 1 slow": {"keys": "speeds=1x2:0.1"},
    "3 speeds": {"keys": "speeds=1x2:0.5x2:0.25x2"}, "tight, unlike": {"keys": "speeds=1x2:0.5,memory=1.02"},
    "tight, alike": {"keys": "speeds=1x4,memory=1.05"}}
LARGE = [("layered", 5000, "4 alike"), ("layered", 20000, "12 alike"), ("forkjoin", 5000, "12 alike"),
         ("tree", 10000, "4 alike"), ("cholesky", 5000, "3 speeds"), ("layered", 5000, "3 speeds")]
# Transfers of 30 times the work.
EXPENSIVE = [("stencil,width=40,p=30", 1200, "8 alike"), ("layered,p=30", 1200, "8 alike"), ("tree,p=30", 1200, "8 alike"),
             ("cholesky,p=30", 1200, "8 alike"), ("stencil,width=40,p=30", 1200, "3 speeds")]
OTHER_DEVICES = {"8 alike": {"devices": 8}}
SIZE, DENSE_SIZE = 200, 80
RULES = ("hios-lp", "hios-mr", "heft", "peft", "cluster", "hios")
KEYS = ("family", "operators", "devices", "seed", "seconds")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/quality", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("--seconds", type=float, default=5, help="seconds of best for each problem (5)")
    parser.add_argument("--seeds", type=int, default=2, help="networks per family and kind of devices (2)")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="start no further problem after that time")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin", help="folder of hios-schedule")
    parser.add_argument("--out", type=Path, default=ROOT / "build/quality", metavar="FOLDER", help="(build/quality)")
    parser.add_argument("--keep", action="store_true", help=f"also write the table to {KEPT.parent.relative_to(ROOT)}")
    options = parser.parse_args()
    if options.seeds < 1 or options.seconds <= 0:
        parser.error("--seeds and --seconds must be more than 0")
    return options


def problems(seeds):
    """(family, operators, devices, seed)"""
    for family in FAMILIES:
        for devices in DEVICES:
            for seed in range(seeds):
                yield family, DENSE_SIZE if family == "dense" else SIZE, devices, seed
    for family, operators, devices in LARGE + EXPENSIVE:
        yield family, operators, devices, 0


def flags_of(family, operators, devices, seed):
    words = f"family={family},n={operators},seed={seed}"
    kind = {**DEVICES, **OTHER_DEVICES}[devices]
    if "keys" in kind:
        return ["--random", f"{words},{kind['keys']}"]
    return ["--random", words, "--devices", str(kind["devices"])]


def compute(programs, problem, seconds):
    """A row: latency in ms by algorithm (empty if it refused), and the bound."""
    rows = programs.json("hios-schedule", *flags_of(*problem), "--algorithm", ",".join((*RULES, "best")), "--time-limit",
                         seconds)["comparison"]
    row = dict(zip(KEYS, (*problem, seconds)))
    for one in rows:
        row[one["algorithm"]] = one.get("latency_ms", "")
        if one["algorithm"] == "best":
            row["bound"], row["bound_name"] = one.get("lower_bound_ms", ""), one.get("bound", "")
    return row


def ratio(rows, name, over):
    """Mean and maximum of the latencies divided by those of another column; None without rows that have both."""
    ratios = [float(row[name]) / float(row[over]) for row in rows if row[name] and row[over]]
    return (statistics.fmean(ratios), max(ratios)) if ratios else None


def summary(rows):
    """The rows by group: small ones by kind of devices and by family, each large one alone."""
    groups = {}
    for row in rows:
        large = int(row["operators"]) > SIZE
        names = [f"{row['operators']} {row['family']}, {row['devices']}"] if large else [row["devices"], row["family"]]
        expensive = any(row["family"] == family for family, _, _ in EXPENSIVE)
        for name in names + ["all" if not large else "all expensive" if expensive else "all large"]:
            groups.setdefault(name, []).append(row)
    order = [*DEVICES, *FAMILIES, "all", *(name for name in groups if name[0].isdigit() and name not in DEVICES), "all large",
             "all expensive"]
    result = {}
    for name in dict.fromkeys(order):
        if name not in groups:
            continue
        some = groups[name]
        result[name] = {"problems": len(some),
                        **{f"{rule}/heft": ratio(some, rule, "heft") for rule in (*RULES, "best")},
                        "best/bound": ratio(some, "best", "bound"),
                        "worse_than_a_rule": sum(not row["best"] or float(row["best"]) > float(row[rule]) * (1 + 1e-9)
                                                 for row in some for rule in RULES if row[rule])}
    return result


def cell(value):
    return "-" if value is None else f"{value[0]:.3f} ({value[1]:.2f})"


def table(groups):
    columns = [f"{rule}/heft" for rule in ("hios-lp", "hios-mr", "peft", "cluster", "hios", "best")] + ["best/bound"]
    columns = [column for column in columns if all(column in group for group in groups.values())]  # kept ones have fewer
    lines = ["| problems | | " + " | ".join(columns) + " | best above a rule |", "|---" * (len(columns) + 3) + "|"]
    for name, group in groups.items():
        lines.append(f"| {name} | {group['problems']} | " + " | ".join(cell(group[column]) for column in columns)
                     + f" | {group['worse_than_a_rule']} |")
    return "\n".join(lines) + "\n"


def changes(groups, kept):
    """Groups in which best differs by 1 % or more from the recorded table."""
    for name, group in groups.items():
        was, now = kept.get("groups", {}).get(name, {}).get("best/bound"), group["best/bound"]
        if was and now and abs(now[0] / was[0] - 1) >= 0.01:
            yield f"{name}: best over the bound was {was[0]:.3f}, is {now[0]:.3f}"


def draw(groups, folder):
    """Draws the plot; returns False without Matplotlib."""
    try:
        import style
    except ImportError:
        return False
    names = [name for name in groups if groups[name]["best/bound"]]
    if not names:
        return False
    figure, axes = style.plt.subplots(figsize=(7.2, 0.3 * len(names) + 1.2))
    for rule, mark in (("hios-lp", "^"), ("peft", "s"), ("cluster", "D"), ("hios", "v"), ("best", "o")):
        points = [(groups[name][f"{rule}/heft"][0], at) for at, name in enumerate(names) if groups[name][f"{rule}/heft"]]
        if points:
            axes.plot(*zip(*points), mark, label=rule)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("latency / that of heft (mean)")
    axes.legend()
    style.save(figure, folder, "quality")
    return True


def main():
    options = arguments()
    programs, deadline = Programs(options.programs), Deadline(options.time_limit)
    store = Store(options.out / "quality.csv", KEYS, (*RULES, "best", "bound", "bound_name"))
    asked = list(problems(options.seeds))
    for count, problem in enumerate(asked, 1):
        key = dict(zip(KEYS, (*problem, options.seconds)))
        if store.has(**key):
            continue
        if deadline.passed():
            break
        print(f"{count} of {len(asked)}: {problem[1]} operators, {problem[0]}, {problem[2]}", file=sys.stderr, flush=True)
        store.add([compute(programs, problem, options.seconds)])
    rows = [store.get(**dict(zip(KEYS, (*problem, options.seconds)))) for problem in asked]
    done = [row for row in rows if row]
    groups = summary(done)
    options.out.mkdir(parents=True, exist_ok=True)
    text = (f"# Quality of schedules\n\nMade by `bench/quality`: best for {options.seconds:g} s per problem, {len(done)} of "
            f"{len(rows)} problems. Latencies divided by those of `heft`, and by the lower bound: mean (worst).\n\n")
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for line in changes(groups, kept):
        print(line)
    print(table(groups))
    for folder in [options.out] + ([KEPT.parent] if options.keep else []):
        (folder / "quality.md").write_text(text + table(groups))
        (folder / "quality.json").write_text(json.dumps({"seconds": options.seconds, "groups": groups}, indent=1) + "\n")
        draw(groups, folder)
    raise SystemExit(1 if any(group["worse_than_a_rule"] for group in groups.values()) or len(done) < len(rows) else 0)


if __name__ == "__main__":
    main()

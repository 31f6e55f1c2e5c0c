#!/usr/bin/env python3
"""bench/milp: runs `milp` on small random networks, for devices whose times differ by operator, that are fast and slow, or
short of memory; and `milp-split` on modules in a row. A problem is computed once: a stopped run continues. Prints the number
of proofs within the time limit, and latency divided by the lower bound without and with the solver; writes that as milp.md
and milp.json next to the rows, milp.csv.
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
FAMILIES = ("layered", "forkjoin", "tree", "chain", "cholesky", "dense")
SECONDS = {20: 10, 30: 60}  # seconds per problem, by number of operators
SPREAD_DEVICES = (2, 3, 4)
DEVICES = {"spread, 2 to 4": None, "2 + 2 half as fast": "speeds=1x2:0.5x2",
           "2 + 1 slow, tight": "speeds=1x2:0.2,memory=1.02", "2 speeds, tight": "speeds=1:0.6,memory=1.02"}
# Modules, operators of each, channels and seconds, on schedules/platforms/cpu-2gpu.json. One channel: by the number of
# modules; several: also by ends.
MODULES = {"modules, 1 channel": [(count, 10, 1, 2 * count) for count in (5, 10, 20)],
           "modules, 2 to 4 channels": [(10, 10, channels, 120) for channels in (2, 3, 4)],
           "modules of 32": [(10, 32, channels, 300) for channels in (1, 3)]}
ENDS = ("strong", "weak")
KEYS = ("group", "family", "operators", "devices", "seed", "seconds")
VALUES = ("latency_ms", "plain_bound_ms", "bound_ms", "proved", "took_s")
GAP = 1e-5  # tolerance of solvers


def arguments():
    parser = argparse.ArgumentParser(prog="bench/milp", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("--seeds", type=int, default=5, help="networks of each number of devices with spread times (5)")
    parser.add_argument("--share", type=float, default=1, help="factor on the time per problem: 10 s for 20 operators, "
                        "60 s for 30 (1)")
    parser.add_argument("--only", metavar="GROUP", choices=[*DEVICES, *MODULES],
                        help="one kind of devices, or modules: " + "; ".join([*DEVICES, *MODULES]))
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="start no further problem after that time")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin", help="folder of hios-schedule")
    parser.add_argument("--out", type=Path, default=ROOT / "build/milp", metavar="FOLDER", help="(build/milp)")
    parser.add_argument("--keep", action="store_true", help=f"also write the table to {KEPT.relative_to(ROOT)}")
    options = parser.parse_args()
    if options.seeds < 1 or options.share <= 0:
        parser.error("--seeds and --share must be more than 0")
    return options


def problems(options):
    """The problems, as values of KEYS."""
    for group, keys in DEVICES.items():
        if options.only not in (None, group):
            continue
        for operators, seconds in SECONDS.items():
            if keys is None:
                rows = [("layered", devices, seed) for devices in SPREAD_DEVICES for seed in range(options.seeds)]
            else:
                rows = [(family, "", 0) for family in FAMILIES]
            for family, devices, seed in rows:
                yield group, family, operators, devices, seed, seconds * options.share
    for group, sizes in MODULES.items():
        if options.only not in (None, group):
            continue
        for count, nodes, channels, seconds in sizes:
            for ends in ENDS[:1] if channels == 1 else ENDS:
                for seed in range(options.seeds if channels == 1 and nodes == 10 else 1):
                    words = f"modules={count};nodes={nodes};channels={channels};ends={ends}"
                    yield group, words, count * nodes, "", seed, seconds * options.share


def flags_of(group, family, operators, devices, seed, _):
    if group in MODULES:
        words = family.replace(";", ",")
        return ["--random", f"{words},seed={seed}", "--platform", ROOT / "schedules/platforms/cpu-2gpu.json"]
    words = f"family={family},n={operators},seed={seed}"
    if DEVICES[group] is None:  # two edges per operator, five operators per layer
        return ["--random", f"{words},layers={operators // 5},spread=0.5", "--devices", str(devices), "--streams", 1]
    return ["--random", f"{words},{DEVICES[group]}", "--streams", 1]


def compute(programs, problem):
    flags = flags_of(*problem)
    solver = "milp-split" if problem[0] in MODULES else "milp"
    plain = programs.json("hios-schedule", *flags, "--algorithm", "heft")["comparison"][0]
    row = programs.json("hios-schedule", *flags, "--algorithm", solver, "--time-limit", problem[-1])["comparison"][0]
    if "latency_ms" not in row:
        raise SystemExit(f"{solver} refused: {row}")
    return {**dict(zip(KEYS, problem)), "latency_ms": row["latency_ms"], "plain_bound_ms": plain["lower_bound_ms"],
            "bound_ms": row["lower_bound_ms"], "proved": int(row["latency_ms"] <= row["lower_bound_ms"] * (1 + GAP)),
            "took_s": row["seconds"]}


def summary(rows):
    """The rows, by kind of devices and number of operators."""
    groups = {}
    for row in rows:
        groups.setdefault(f"{row['group']}, {row['operators']} operators", []).append(row)
    return {name: {"problems": len(some), "seconds": float(some[0]["seconds"]), "proved": sum(int(row["proved"]) for row in some),
                   "median_s": statistics.median(float(row["took_s"]) for row in some),
                   "plain": statistics.fmean(float(row["latency_ms"]) / float(row["plain_bound_ms"]) for row in some),
                   "milp": statistics.fmean(float(row["latency_ms"]) / float(row["bound_ms"]) for row in some)}
            for name, some in groups.items()}


def table(groups):
    lines = ["| devices | problems | s each | proved | median s | latency / bound without | with milp |", "|---" * 7 + "|"]
    for name, group in groups.items():
        lines.append(f"| {name} | {group['problems']} | {group['seconds']:g} | {group['proved']} | {group['median_s']:.1f} | "
                     f"{group['plain']:.3f} | {group['milp']:.3f} |")
    return "\n".join(lines) + "\n"


def write(folder, groups):
    text = (f"# Optima of small problems\n\nMade by `bench/milp`: {sum(group['problems'] for group in groups.values())} problems, "
            "devices of one stream, modules by `milp-split`. Latency divided by the lower bound of every scheduler, and by that "
            "of the solver: means.\n\n")
    (folder / "milp.md").write_text(text + table(groups))
    (folder / "milp.json").write_text(json.dumps({"groups": groups}, indent=1) + "\n")


def main():
    options = arguments()
    programs, deadline = Programs(options.programs), Deadline(options.time_limit)
    store = Store(options.out / "milp.csv", KEYS, VALUES)
    asked = list(problems(options))
    for count, problem in enumerate(asked, 1):
        if store.has(**dict(zip(KEYS, problem))):
            continue
        if deadline.passed():
            break
        print(f"{count} of {len(asked)}: {problem[2]} operators, {problem[1]}, {problem[0]}", file=sys.stderr, flush=True)
        store.add([compute(programs, problem)])
    rows = [row for row in (store.get(**dict(zip(KEYS, problem))) for problem in asked) if row]
    groups = summary(rows)
    print(table(groups))
    write(options.out, groups)
    if options.keep:
        kept = json.loads((KEPT / "milp.json").read_text())["groups"] if options.only else {}
        write(KEPT, {**kept, **groups})
    raise SystemExit(0 if len(rows) == len(asked) else 1)


if __name__ == "__main__":
    main()

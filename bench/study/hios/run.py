"""Reproduces the simulated and the measured figures of the HIOS paper.

Results are CSV files under bench/results/study; existing rows are not computed again, so a stopped run
continues, and a new algorithm only adds its own cells. Remove a file to measure again from scratch. The
rows of simulated.csv are not in the repository: without them each network is computed again, and figures.csv
keeps its means until there are as many.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench" / "study"), str(ROOT / "python")]
import contention  # noqa: E402  (the path to what both studies share comes first)
import gaps  # noqa: E402
import levels  # noqa: E402
import networks  # noqa: E402
import page_tables  # noqa: E402
import plots  # noqa: E402
import simulated  # noqa: E402
from hios.launch.programs import Deadline, Programs  # noqa: E402
from settings import SEEDS  # noqa: E402

PARTS = ("simulated", "levels", "gaps", "contention", "networks", "plots", "tables")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/study/run", description=" ".join(__doc__.split("\n\n")[0].split()),
                                     epilog=" ".join(__doc__.split("\n\n")[1].split()))
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin",
                        help="folder of the three programs (%(default)s)")
    parser.add_argument("--results", type=Path, default=ROOT / "bench/results/study",
                        help="folder of the CSV files and plots (%(default)s)")
    parser.add_argument("--seeds", type=int, default=SEEDS,
                        help="random networks per simulated point (%(default)s)")
    parser.add_argument("--max-seconds", type=float,
                        help="start no step after that; call again to continue (exit status 1)")
    parser.add_argument("--largest", type=int, default=1024,
                        help="pixels of the largest image of the networks part (%(default)s)")
    parser.add_argument("--runs", type=int, default=36,
                        help="measured runs per row of the networks part (%(default)s)")
    args = parser.parse_args()
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part is called {unknown[0]}; there are: {', '.join(PARTS)}")
    return args


def main():
    args = arguments()
    parts = args.parts or PARTS
    programs, deadline = Programs(args.programs), Deadline(args.max_seconds)
    complete = True
    if "simulated" in parts:
        complete &= simulated.run(programs, args.results, args.seeds, deadline)
    if "levels" in parts:
        complete &= levels.run(programs, args.results, args.seeds, deadline)
    if "gaps" in parts:
        complete &= gaps.run(programs, args.results, deadline)
    if "contention" in parts:
        complete &= contention.run(programs, args.results, deadline)
    if "networks" in parts:
        complete &= networks.run(programs, args.results, args.largest, args.runs, deadline)
    if "plots" in parts:
        plots.draw_all(args.results)
    if "tables" in parts:
        page_tables.write(args.results)
    if not complete:
        sys.exit("not complete yet: call it again")


if __name__ == "__main__":
    main()

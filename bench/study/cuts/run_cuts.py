"""Plans networks, whole and with operators cut, for 2 to 8 equal devices with links of several speeds, by simulation.

A device computes as one core of this machine does. Profiles stay in build/study/cuts, rows in bench/results/study/cuts.csv;
neither is made again, so a stopped run continues. Remove both to start from scratch. The whole takes a quarter of an hour
on two cores, of which the profiles, two minutes, need an idle one.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench" / "study"), str(ROOT / "python")]
import cut_calls  # noqa: E402  (after the path of the modules that the studies share)
import cut_tables  # noqa: E402
import endings  # noqa: E402
from hios.launch.programs import Deadline, Programs  # noqa: E402

PARTS = ("profiles", "schedules", "table", "plots")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/study/run-cuts", description=" ".join(__doc__.split("\n\n")[0].split()),
                                     epilog=" ".join(__doc__.split("\n\n")[1].split()))
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin",
                        help="folder of the three programs (%(default)s)")
    parser.add_argument("--results", type=Path, default=ROOT / "bench/results/study",
                        help="folder of the CSV file and the figure (%(default)s)")
    parser.add_argument("--max-seconds", type=float,
                        help="start no step after that; call again to continue (exit status 1)")
    args = parser.parse_args()
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part is called {unknown[0]}; there are: {', '.join(PARTS)}")
    return args


def main():
    args = arguments()
    parts = args.parts or PARTS
    deadline, complete = Deadline(args.max_seconds), True
    if "profiles" in parts:
        complete = cut_calls.measure_all(Programs(args.programs), deadline)
    if "schedules" in parts and complete:
        complete = cut_calls.run(Programs(args.programs), args.results, deadline)
    if "table" in parts:
        print("\n".join(cut_tables.table(args.results)))
    if "plots" in parts:
        endings.draw("plots_cuts", args.results)
    if not complete:
        sys.exit("not complete yet: call it again")


if __name__ == "__main__":
    main()

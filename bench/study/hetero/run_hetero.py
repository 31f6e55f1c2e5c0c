"""Reproduces tables and figures of DiviML and MOIRAI: schedules for heterogeneous devices.

Results are CSV files under bench/results/hetero, one per part; existing rows are not computed again, so a stopped
run continues. Remove a file to compute it again from scratch. The whole takes half an hour on two cores.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench" / "study"), str(ROOT / "python")]
import calls  # noqa: E402  (after the path of the modules that both studies share)
import endings  # noqa: E402
import summaries  # noqa: E402
from hetero_parts import PARTS  # noqa: E402
from hios.launch.programs import Deadline, Programs  # noqa: E402

ENDINGS = ("summary", "plots")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/study/run-hetero", description=" ".join(__doc__.split("\n\n")[0].split()),
                                     epilog=" ".join(__doc__.split("\n\n")[1].split()))
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join((*PARTS, *ENDINGS))}; default: all")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin",
                        help="folder of the three programs (%(default)s)")
    parser.add_argument("--results", type=Path, default=ROOT / "bench/results/hetero",
                        help="folder of the CSV files and plots (%(default)s)")
    parser.add_argument("--max-seconds", type=float,
                        help="start no step after that; call again to continue (exit status 1)")
    args = parser.parse_args()
    unknown = [part for part in args.parts if part not in PARTS and part not in ENDINGS]
    if unknown:
        parser.error(f"no part is called {unknown[0]}; there are: {', '.join((*PARTS, *ENDINGS))}")
    return args


def main():
    args = arguments()
    parts = args.parts or (*PARTS, *ENDINGS)
    deadline, complete = Deadline(args.max_seconds), True
    asked = [part for part in parts if part in PARTS]
    if asked:
        study = calls.Study(Programs(args.programs), args.results)
        for part in asked:
            complete &= calls.run(study, part, list(PARTS[part]()), deadline)
    if "summary" in parts:
        summaries.write_all(args.results)
    if "plots" in parts:
        endings.draw("plots_hetero", args.results)
    if not complete:
        sys.exit("not complete yet: call it again")


if __name__ == "__main__":
    main()

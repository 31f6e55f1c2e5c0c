"""Plans cold starts of decoders on the servers of Namkoong et al., SortingHat, by simulation: its Figs. 4, 9 and 11 to 14.

Results are CSV files, one per part; existing rows are not computed again, so a stopped run continues. Remove a file to
compute it again from scratch. The full size takes about forty minutes on an idle core, the small one seven.
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench" / "study"), str(ROOT / "python")]
import cold_calls  # noqa: E402  (after the path of the modules that the studies share)
import cold_tables  # noqa: E402
import endings  # noqa: E402
from cold_parts import PARTS, SECONDS, SIZES  # noqa: E402
from hios.launch.programs import Deadline, Programs, programs_folder  # noqa: E402

ENDINGS = ("tables", "plots")
FOLDERS = {"small": ROOT / "build/study/cold", "full": ROOT / "bench/results/study"}


def arguments():
    parser = argparse.ArgumentParser(prog="bench/study/run-cold", description=" ".join(__doc__.split("\n\n")[0].split()),
                                     epilog=" ".join(__doc__.split("\n\n")[1].split()))
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join((*PARTS, *ENDINGS))}; default: all")
    parser.add_argument("--size", choices=SIZES, default="small",
                        help="small: two models, two shapes, two servers; full: all that the page shows (%(default)s)")
    parser.add_argument("--server", action="append", choices=SIZES["full"]["servers"], help="repeatable (those of the size)")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S",
                        help="of each call of sortinghat and efficient-mip, which need a solver (%(default)s)")
    parser.add_argument("--programs", type=Path, help="folder of the programs (HIOS_PROGRAMS, or build/release/bin)")
    parser.add_argument("--results", type=Path, help="folder of the CSV files, tables and plots "
                        "(small: build/study/cold, full: bench/results/study)")
    parser.add_argument("--max-seconds", type=float,
                        help="start no step after that; call again to continue (exit status 1)")
    args = parser.parse_args()
    unknown = [part for part in args.parts if part not in PARTS and part not in ENDINGS]
    if unknown:
        parser.error(f"no part is called {unknown[0]}; there are: {', '.join((*PARTS, *ENDINGS))}")
    args.results = args.results or FOLDERS[args.size]
    return args


def main():
    args = arguments()
    parts = args.parts or (*PARTS, *ENDINGS)
    deadline, complete = Deadline(args.max_seconds), True
    asked = [part for part in PARTS if part in parts]
    size = {**SIZES[args.size], **({"servers": args.server} if args.server else {})}
    if asked:
        programs = Programs(args.programs or (programs_folder() if "HIOS_PROGRAMS" in os.environ else ROOT / "build/release/bin"))
        for part in asked:
            complete &= cold_calls.run(programs, args.results, part, PARTS[part](size, args.seconds), deadline)
    if "tables" in parts:
        page = cold_tables.page(args.results)
        (args.results / cold_tables.FILE).write_text(page)
        print(page)
    if "plots" in parts:
        endings.draw("plots_cold", args.results)
    if not complete:
        sys.exit("not complete yet: call it again")


if __name__ == "__main__":
    main()

"""Reproduces tables and figures of Archer, Fahrbach, Liu and Prabhu: periods of blocks, and gaps of bounds.

Results are CSV files under bench/results/pipelines, one per part; existing rows are not computed again, so a stopped run
continues. Remove a file to compute it again from scratch. The whole takes more than an hour.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench" / "study"), str(ROOT / "python")]
import endings  # noqa: E402  (the path to what the studies share comes first)
import pipeline_calls  # noqa: E402
import pipeline_tables  # noqa: E402
from pipeline_problems import DEVICES, PARTS  # noqa: E402
from hios.launch.programs import Deadline, Programs  # noqa: E402

ENDINGS = ("summary", "plots")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/pipelines", description=" ".join(__doc__.split("\n\n")[0].split()),
                                     epilog=" ".join(__doc__.split("\n\n")[1].split()))
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join((*PARTS, *ENDINGS))}; default: all")
    parser.add_argument("--devices", default=",".join(map(str, DEVICES)), metavar="K[,K...]", help="(%(default)s)")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin",
                        help="folder of the three programs (%(default)s)")
    parser.add_argument("--results", type=Path, default=ROOT / "bench/results/pipelines",
                        help="folder of the CSV files, tables and plots (%(default)s)")
    parser.add_argument("--max-seconds", type=float, help="start no step after that; call again to continue (exit status 1)")
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
        programs = Programs(args.programs)
        for part in asked:
            complete &= pipeline_calls.run(programs, args.results, part, deadline, tuple(map(int, args.devices.split(","))))
    if "summary" in parts:
        page = pipeline_tables.page(args.results)
        (args.results / "tables.md").write_text(page)
        print(page)
    if "plots" in parts:
        endings.draw("plots_pipelines", args.results)
    if not complete:
        sys.exit("not complete yet: call it again")


if __name__ == "__main__":
    main()

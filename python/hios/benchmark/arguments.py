"""The command line of hios bench, with and without --throughput."""

import argparse
from pathlib import Path

from hios.errors import InputError
from hios.words import meant_flag

BUDGET_S = 75
USAGE = "hios bench MODEL|FILE.onnx [--cores C] [--ranks N] [--budget SECONDS]"
EXAMPLES = """
  hios bench inception_v3                     every way that this machine has
  hios bench net.onnx --cores 4 --budget 120  four cores, two minutes

Measures MODEL on one core, profiles and plans it for each number of ranks, runs
all plans in turns, and says what is fastest here and why. hios schedule
--list-models names the built-in networks."""

THROUGHPUT_USAGE = "hios bench --throughput MODEL|FILE.onnx [--budget SECONDS] …"
THROUGHPUT_EXAMPLES = """
  hios bench --throughput squeezenet               inputs per second
  hios bench --throughput net.onnx --budget 180    three minutes

Measures the inputs per second of MODEL with many inferences in flight: on one
rank, as copies of the network, and as a pipeline over ranks; then with larger
batches. Says which has most."""


class Parser(argparse.ArgumentParser):
    """Reports bad usage as the other commands do: one line, exit status 2."""

    def error(self, message):
        raise InputError(f"{message}{meant_flag(message, self._option_string_actions)}: see hios bench --help")


def seconds(text):
    return number(text, float, 1e6, "seconds are wanted, from 1 to 1e6")


def count(text):
    return number(text, int, 4096, "a number from 1 to 4096 is wanted")


def seed(text):
    return number(text, int, (1 << 63) - 1, "a whole number from 0 to 9223372036854775807 is wanted", least=0)


def number(text, kind, most, wanted, least=1):
    try:
        value = kind(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"{text}: {wanted}")
    return value


def add_network(parser):
    group = parser.add_argument_group("network")
    group.add_argument("model", nargs="?", metavar="MODEL", help="a built-in network, an ONNX file or a hios-model file")
    group.add_argument("--model", dest="model_flag", metavar="MODEL", help="the same")
    group.add_argument("--default-model", metavar="MODEL", help=argparse.SUPPRESS)  # of demo.sh
    group.add_argument("--batch", type=count, metavar="N", help="inputs at once (the file's, otherwise 1)")
    group.add_argument("--height", type=count, metavar="PIXELS", help="of the input (the network's)")
    group.add_argument("--width", type=count, metavar="PIXELS", help="of the input (the network's)")
    group.add_argument("--dim", action="append", metavar="NAME=N", help="an extent that an ONNX file leaves open, repeatable")
    group.add_argument("--seed", type=seed, default=0, metavar="N", help="of weights and inputs (%(default)s)")
    return group


def add_machine(parser):
    group = parser.add_argument_group("machine")
    group.add_argument("--cores", type=count, metavar="C", help="cores to use (all that are allowed, at most 16)")
    group.add_argument("--ranks", type=count, metavar="N",
                       help="the most ranks; 2, 4, 8 and so on, and N itself (up to 4, each with a core of its own)")
    group.add_argument("--programs", type=Path, metavar="FOLDER", help="the three programs (next to hios, or in PATH)")


def add_measuring(parser):
    group = parser.add_argument_group("measuring")
    group.add_argument("--budget", type=seconds, default=BUDGET_S, metavar="SECONDS",
                       help="seconds for all measuring (%(default)s)")
    group.add_argument("--rounds", type=count, metavar="N",
                       help="rounds at most; each runs every row once (as many as the budget allows)")
    return group


def add_results(parser):
    group = parser.add_argument_group("results")
    group.add_argument("--output", type=Path, metavar="FOLDER",
                       help="folder for profile, schedules, reports and the page (./hios-bench-MODEL)")
    group.add_argument("--force", action="store_true",
                       help="also write into a folder that holds other files; they stay")


def parser_of(usage, description):
    parser = Parser(usage=usage, description=description, add_help=False, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    return parser


def latency_parser():
    parser = parser_of(USAGE, EXAMPLES)
    group = add_network(parser)
    group.add_argument("--fusion", metavar="RULES", help="layers that form one operator: default, none or a hios-fusion file")
    group.add_argument("--merge", metavar="WHICH", help="1x1 convolutions that read one tensor: none or siblings")
    group.add_argument("--cut", metavar="WHICH", default="auto",
                       help="operators that are cut over the ranks: chosen, in rows of their own (auto), none, or those of a "
                            "hios-cuts file in all rows (%(default)s)")
    group.add_argument("--input", action="append", metavar="FILE",
                       help="a picture, one for each of the batch, or an .npy file, NAME:FILE for each of several inputs "
                            "(random numbers from --seed)")
    group.add_argument("--preprocess", default="imagenet", metavar="HOW",
                       help="of pictures: imagenet, none or a file (%(default)s)")
    add_machine(parser)
    group = add_measuring(parser)
    group.add_argument("--iterations", type=count, metavar="N", help="runs per row and round (by the budget, 24 at most)")
    group.add_argument("--all-rows", action="store_true",
                       help="inter-lp and inter-mr too, where they equal hios-lp and hios-mr")
    group.add_argument("--bare", type=Path, metavar="PROGRAM", help="bench/raw_onednn, to run in turns with the rows")
    group.add_argument("--throughput", action="store_true",
                       help="many inferences in flight: inputs per second (hios bench --throughput --help)")
    add_results(parser)
    return parser


def throughput_parser():
    parser = parser_of(THROUGHPUT_USAGE, THROUGHPUT_EXAMPLES)
    add_network(parser)
    add_machine(parser)
    group = add_measuring(parser)
    group.add_argument("--sweeps", type=count, metavar="N", help="sweeps of the profiler (by the budget, 16 at most)")
    group.add_argument("--all-rows", action="store_true",
                       help="also networks that consist of weights, and devices too small for the network "
                            "(docs/throughput.md); these take minutes more than the budget")
    add_results(parser)
    return parser


def settled(args):
    """The arguments with one model and a folder. Throws InputError."""
    if args.model and args.model_flag:
        raise InputError(f"two models, {args.model} and {args.model_flag}: name one (hios bench {args.model})")
    args.model = args.model or args.model_flag or args.default_model
    if not args.model:
        raise InputError("hios bench needs a model: hios bench squeezenet")
    args.output = args.output or Path(f"hios-bench-{Path(args.model).stem}")
    return args

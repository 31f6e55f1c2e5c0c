"""hios import: a schedule of another system as a hios-schedule of a model here.

IOS's published schedules (its JSON) are known: nodes are mapped to the model's operators by what they compute and how they
are connected, names take no part. A node that has no operator here is refused by its name, with the reason."""

import json
import shlex
import sys
import tempfile
from pathlib import Path

from hios.errors import InputError
from hios.exchange import files, ios_file, translate
from hios.exchange.model import Schedules
from hios.exchange.parser import Parser, number

EXAMPLES = ("hios import ios.json --model inception_v3 -o schedule.json",
            "hios import ios.json --model inception_v3 --streams 2 -o schedule.json")


def arguments(words):
    parser = Parser("hios import", __doc__, EXAMPLES)
    parser.add_argument("file", metavar="FILE", help="the schedule, as IOS exports it (JSON)")
    parser.add_argument("--from", choices=("ios",), default="ios", dest="source", help="the system that made it (ios)")
    parser.add_argument("--model", required=True, metavar="NAME|FILE", help="the network: built in, or a file")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the hios-schedule to write")
    parser.add_argument("--batch", type=number, default=1, metavar="N", help="inputs at once (1)")
    parser.add_argument("--height", type=number, metavar="PIXELS", help="of the input (the schedule's)")
    parser.add_argument("--width", type=number, metavar="PIXELS", help="of the input (the schedule's)")
    parser.add_argument("--fusion", metavar="default|none|FILE", help="layers that form one operator (default)")
    parser.add_argument("--merge", choices=("as-published", "none"), default="as-published",
                        help="merged convolutions: merge the same ones here, or run them one after the other (as-published)")
    parser.add_argument("--kind", default="cpu", help="kind of the device (cpu)")
    parser.add_argument("--threads", type=number, metavar="N", help="cores of the device (1; of kind gpu: 0)")
    parser.add_argument("--streams", type=number, metavar="S",
                        help="groups at once; groups beyond follow others on their stream (as many as the schedule has)")
    parser.add_argument("--profile", metavar="FILE", help="measured costs: the schedule is checked and simulated with them")
    parser.add_argument("--force", action="store_true", help="replace the output file if it exists")
    return parser.parse_args(words)


def model_flags(args, file_graph):
    height, width = args.height or file_graph.input_shape[1], args.width or file_graph.input_shape[2]
    fusion = ["--fusion", args.fusion] if args.fusion else []
    return ["--model", args.model, "--batch", args.batch, "--height", height, "--width", width, *fusion]


def with_sets(programs, sets):
    """The model's graph with these sets merged, and the merge as its schedules record it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sets.json"
        file.write_text(json.dumps({"format": "hios-schedule", "version": 1, "graph": {"merge": list(sets.values())}}))
        graph = programs.graph(str(file))
    return graph, "siblings" if programs.graph("siblings").digest == graph.digest else list(sets.values())


def translated(args, file_graph, programs):
    """The model's graph, the merge that it has, and the stages."""
    apart = programs.graph()
    pairs = translate.pair(args.file, file_graph, apart)
    if args.merge == "none" or not file_graph.merged:
        return apart, "none", translate.stages_apart(file_graph, pairs)
    sets = translate.merged_sets(args.file, file_graph, pairs, apart)
    merged, merge = with_sets(programs, sets)
    return merged, merge, translate.stages_merged(file_graph, pairs, apart, merged, sets)


def schedule(args, file_graph, graph, merge, stages):
    device = {"name": f"{args.kind}0", "kind": args.kind,
              "threads": args.threads if args.threads is not None else int(args.kind != "gpu"),
              "streams": args.streams or max(map(len, stages)), "stages": stages}
    head = {"name": graph.name, "digest": graph.digest, "batch": graph.batch, "height": graph.size[0], "width": graph.size[1]}
    if merge != "none":
        head["merge"] = merge
    return {"format": "hios-schedule", "version": 1, "graph": head, "algorithm": "ios-import", "devices": [device],
            "extra": {"imported_from": args.file, "name": file_graph.name}}


def summary(file_graph, merge, stages, unfolded):
    merged = f"{len(file_graph.merged)} merged convolution" + ("" if len(file_graph.merged) == 1 else "s")
    if file_graph.merged and merge == "none":
        merged += ", taken apart"
    folded = sum(a != b for a, b in zip(stages, unfolded))
    most = max(map(len, unfolded))
    more = f"; {folded} stages have more groups than streams" if folded else ""
    return f"{len(file_graph.nodes)} operators in {len(stages)} stages, at most {most} groups at once, {merged}{more}"


def merge_flag(args, merge):
    return {"none": "", "siblings": "--merge siblings"}.get(str(merge), f"--merge {shlex.quote(args.output)}")


def next_steps(args, programs, merge, device):
    """The commands that measure and check the schedule."""
    words, file = f"{shlex.join(programs.flags)} {merge_flag(args, merge)}".strip(), shlex.quote(args.output)
    threads = f"--threads {device['threads']}" if device["threads"] else "--backend cuda"
    return (f"measure and check it:\n  hios profile {words} {threads} --streams {device['streams']} --stages {file} "
            f"--output profile.json\n  hios check {file} {words} --profile profile.json")


def main(words):
    args = arguments(words)
    files.check_writable(args.output, args.force)
    file_graph = ios_file.read(args.file)
    if not file_graph.nodes:
        raise InputError(f"{args.file}: no operators")
    programs = Schedules(model_flags(args, file_graph))
    graph, merge, unfolded = translated(args, file_graph, programs)
    stages = translate.fold(unfolded, args.streams) if args.streams else unfolded
    translate.check_complete(args.file, stages, graph)
    written = schedule(args, file_graph, graph, merge, stages)
    files.write_bytes(args.output, (json.dumps(written, indent=1) + "\n").encode(), args.force)
    print(summary(file_graph, merge, stages, unfolded))
    if args.profile:
        print(programs.run(*shlex.split(merge_flag(args, merge)), "--profile", args.profile, "--check", args.output), end="")
    else:
        print(next_steps(args, programs, merge, written["devices"][0]), file=sys.stderr)
    return 0

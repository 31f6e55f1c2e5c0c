"""hios export: a schedule for another system, as a file for the ONNX file that it plans.

--to onnxruntime writes ONNX Runtime's partition file: the nodes of each stream by name, a stream for each stream of each
device. --to onnx writes a copy of the ONNX file with a device configuration (IR 11): the device of each node.

The ONNX file is the model of the schedule (--model FILE.onnx), or what hios-run --export-onnx wrote of it: then give --model.
An operator's ONNX nodes all go where the schedule has the operator; docs/exchange.md says which nodes those are."""

from pathlib import Path

from hios.errors import InputError
from hios.exchange import devices, files, onnx_wire, partition
from hios.exchange.model import Schedules
from hios.exchange.parser import Parser
from hios.exchange.plan import plan

EXAMPLES = ("hios export net.onnx --schedule schedule.json --to onnxruntime -o partition.cfg",
            "hios export net.onnx --schedule schedule.json --to onnx -o with-devices.onnx")


def arguments(words):
    parser = Parser("hios export", __doc__, EXAMPLES)
    parser.add_argument("file", metavar="FILE.onnx", help="the network")
    parser.add_argument("--to", choices=("onnxruntime", "onnx"), required=True, help="the system")
    parser.add_argument("--schedule", required=True, metavar="FILE", help="a hios-schedule")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")
    parser.add_argument("--model", metavar="NAME|FILE", help="the schedule's model (FILE.onnx)")
    parser.add_argument("--fusion", metavar="default|none|FILE", help="the schedule's (default)")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="an extent that the file leaves open, "
                        "repeatable")
    parser.add_argument("--configuration", default="hios", metavar="NAME", help="name of the device configuration (hios)")
    parser.add_argument("--force", action="store_true", help="replace the output file if it exists")
    return parser.parse_args(words)


def read_schedule(file):
    schedule = files.read_json(file)
    if not isinstance(schedule, dict) or schedule.get("format") != "hios-schedule":
        raise InputError(f"{file}: no hios-schedule; hios schedule … --output FILE writes one")
    return schedule


def model_graph(args, schedule):
    """The graph of the schedule's model. Throws InputError where the schedule is for another one."""
    try:
        head = schedule["graph"]
        # 1x1 is the size of inputs that are no images, too, which refuse the flags.
        image = (head.get("height"), head.get("width")) != (1, 1)
        keys = ("batch", "height", "width") if image else ("batch",)
        size = [word for key in keys if head.get(key) for word in (f"--{key}", head[key])]
        digest, merged = head["digest"], head.get("merge", "none") != "none"
        for device in schedule["devices"]:
            device["name"], device["kind"], device["stages"]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{args.schedule}: {error} is missing or wrong; docs/formats.md has a schedule's "
                         "keys") from error
    dims = [word for dim in args.dim for word in ("--dim", dim)]
    fusion = ["--fusion", args.fusion] if args.fusion else []
    programs = Schedules(["--model", args.model or args.file, *size, *dims, *fusion])
    graph = programs.graph(args.schedule if merged else "none")
    if graph.digest != digest:
        raise InputError(f"{args.schedule}: made for another graph than that of {args.model or args.file}: give the --model "
                         "and --fusion that it was made for")
    return graph


def check_arguments(args):
    files.check_writable(args.output, args.force)
    if Path(args.output).exists() and Path(args.output).samefile(args.file):
        raise InputError(f"{args.output}: is the network itself; choose another name")


def main(words):
    args = arguments(words)
    onnx = onnx_wire.parse(files.read_bytes(args.file), args.file)
    check_arguments(args)
    schedule = read_schedule(args.schedule)
    planned = plan(schedule, args.schedule, model_graph(args, schedule), onnx)
    if args.to == "onnxruntime":
        written = partition.partition(planned, onnx.nodes, args.file).encode()
        files.write_bytes(args.output, written, args.force)
        print(partition.hint(args.output, planned))
        return 0
    if onnx.external and Path(args.output).resolve().parent != Path(args.file).resolve().parent:
        raise InputError(f"{args.output}: weights of {args.file} lie in files of its folder: write the copy into the same "
                         "folder")
    stages = None
    if schedule.get("objective") == "throughput":
        stages = devices.pipeline_stages(planned, onnx.nodes, args.schedule)
    try:
        written = devices.with_devices(planned, onnx, args.configuration, stages)
    except onnx_wire.BadMessage as error:
        raise InputError(f"{args.file}: no ONNX file: its device configurations are damaged") from error
    files.write_bytes(args.output, written, args.force)
    used = len({each.device for each in planned.placements})
    devices_text = "1 device" if used == 1 else f"{used} devices"
    print(f"{len(onnx.nodes)} nodes on {devices_text}, as the device configuration {args.configuration!r}")
    return 0

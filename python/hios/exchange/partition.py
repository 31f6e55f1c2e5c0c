"""ONNX Runtime's partition file (`session.node_partition_config_file`): JSON with the nodes of each stream by their names, and
the type of each stream's device ("0" is a CPU, "1" a GPU).

The runtime reads it when a session is made, after its own optimisations: nodes that they replaced are missing then, so they
must be switched off. It refuses a node that is in no stream, and without a word ignores a file that it does not understand.
Within a stream it keeps an order of its own."""

import json

from hios.errors import InputError

CPU, GPU = "0", "1"


def device_type(device):
    return GPU if device["kind"] == "gpu" else CPU


def partition(plan, nodes, file):
    """The file's text. Throws InputError for nodes without names, or with one name."""
    for i, node in enumerate(nodes):
        if not node.name or any(node.name == other.name for other in nodes[:i]):
            what = f"two nodes have the name {node.name!r}" if node.name else f"the node of {node.label()!r} has no name"
            raise InputError(f"{file}: {what}, and ONNX Runtime's file names nodes: hios-run --model {file} --export-onnx "
                             "named.onnx writes the model with names")
    gpus = [device["name"] for device in plan.devices if device_type(device) == GPU and device["stages"]]
    if len(gpus) > 1:
        raise InputError(f"the schedule uses {' and '.join(gpus)}, and a session of ONNX Runtime has one GPU: schedule for one")
    streams = plan.streams()
    written = {"type": "DeviceBasedPartitioner",
               "streams": [[nodes[i].name for i in members] for _, members in streams],
               "devices": [device_type(plan.devices[device]) for (device, _), _ in streams]}
    return json.dumps(written, indent=1) + "\n"


def hint(file, plan):
    """Lines that say how a session takes the file."""
    streams = len(plan.streams())
    return (f"{streams} stream{'s' if streams != 1 else ''}. In Python:\n"
            f"  options.add_session_config_entry('session.node_partition_config_file', {str(file)!r})\n"
            "with options.graph_optimization_level = ORT_DISABLE_ALL, execution_mode = ORT_PARALLEL and "
            f"inter_op_num_threads = {streams}")

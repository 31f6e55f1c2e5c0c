"""ONNX's device configurations (IR 11): a copy of the file that says which device each node runs on.

The model names a configuration and its devices. A node names the tensors that it reads and writes, each whole on its
device; where producer and consumer differ, the runtime transfers it. Of a schedule for throughput, a node also has its
block's position in the pipeline (`pipeline_stage`)."""

from hios.errors import InputError
from hios.exchange import onnx_wire as wire

CONFIGURATION_NAME, CONFIGURATION_DEVICES, CONFIGURATION_DEVICE_NAMES = 1, 2, 3
NODE_CONFIGURATION_ID, NODE_SHARDING, NODE_PIPELINE_STAGE = 1, 2, 3
SHARDING_TENSOR, SHARDING_DEVICE = 1, 2


def configuration(name, devices):
    return b"".join([wire.text_field(CONFIGURATION_NAME, name),
                     wire.number_field(CONFIGURATION_DEVICES, len(devices)),
                     *[wire.text_field(CONFIGURATION_DEVICE_NAMES, device["name"]) for device in devices]])


def node_configuration(name, node, device, stage):
    tensors = dict.fromkeys(each for each in [*node.inputs, *node.outputs] if each)
    # Devices are a repeated number, which protobuf packs.
    shardings = [wire.bytes_field(NODE_SHARDING, wire.text_field(SHARDING_TENSOR, tensor)
                                  + wire.bytes_field(SHARDING_DEVICE, wire.varint(device))) for tensor in tensors]
    pipeline = [] if stage is None else [wire.number_field(NODE_PIPELINE_STAGE, stage)]
    return b"".join([wire.text_field(NODE_CONFIGURATION_ID, name), *shardings, *pipeline])


def pipeline_stages(plan, nodes, file):
    """The position of each device's block: a device comes after those that it reads from. Throws InputError for a cycle."""
    made_by = {tensor: i for i, node in enumerate(nodes) for tensor in node.outputs if tensor}
    before = {each.device: set() for each in plan.placements}
    for i, node in enumerate(nodes):
        mine = plan.placements[i].device
        before[mine] |= {plan.placements[made_by[each]].device for each in node.inputs if each in made_by} - {mine}
    stages = {}
    while len(stages) < len(before):
        ready = [device for device in before if device not in stages and before[device] <= stages.keys()]
        if not ready:
            raise InputError(f"{file}: the blocks of its devices form a cycle; hios schedule --objective throughput makes "
                             "others")
        stages[min(ready)] = len(stages)
    return stages


def with_devices(plan, onnx, name, stages=None):
    """The bytes of the ONNX file with the plan as a device configuration. `stages`: by device, or nothing."""
    def of_node(i):
        device = plan.placements[i].device
        return node_configuration(name, onnx.nodes[i], device, stages and stages[device])

    return wire.annotated(onnx, configuration(name, plan.devices), of_node)

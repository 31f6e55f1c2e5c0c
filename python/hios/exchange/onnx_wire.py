"""Nodes of an ONNX file, and their device configurations, by protobuf's wire format: no package is needed.

A message is a sequence of fields, each a key (number * 8 + wire type) and a value; wire type 2 is a length and bytes, which
may be a message again. Fields that are not known here are copied as they are. Test: tests/python/exchange_onnx_test.py, and
bench/exchange.sh with the onnx package."""

from dataclasses import dataclass, field

from hios.errors import InputError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

# Numbers of fields, by message.
MODEL_IR_VERSION, MODEL_GRAPH, MODEL_CONFIGURATION = 1, 7, 26
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_SPARSE_INITIALIZER = 1, 5, 11, 15
TENSOR_NAME, TENSOR_DATA_LOCATION = 8, 14
NODE_INPUT, NODE_OUTPUT, NODE_NAME, NODE_OP_TYPE, NODE_DEVICE_CONFIGURATIONS = 1, 2, 3, 4, 10
EXTERNAL = 1
IR_WITH_DEVICES = 11


class BadMessage(Exception):
    pass


def read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise BadMessage
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value, bytes of the whole field): a value is a number, or a view of bytes."""
    if isinstance(data, int):
        raise BadMessage
    at = 0
    while at < len(data):
        begin = at
        key, at = read_varint(data, at)
        if key & 7 == VARINT:
            value, at = read_varint(data, at)
        elif key & 7 == BYTES:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        elif key & 7 in (FIXED64, FIXED32):
            size = 8 if key & 7 == FIXED64 else 4
            value, at = data[at:at + size], at + size
        else:
            raise BadMessage
        if at > len(data):
            raise BadMessage
        yield key >> 3, value, data[begin:at]


def varint(value):
    result = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        result.append(low | (0x80 if value else 0))
        if not value:
            return bytes(result)


def number_field(number, value):
    return varint(number << 3 | VARINT) + varint(value)


def bytes_field(number, value):
    return varint(number << 3 | BYTES) + varint(len(value)) + bytes(value)


def text_field(number, value):
    return bytes_field(number, value.encode())


def text(value):
    if not isinstance(value, (bytes, memoryview)):
        raise BadMessage
    try:
        return bytes(value).decode()
    except UnicodeDecodeError as error:
        raise BadMessage from error


@dataclass
class OnnxNode:
    name: str = ""
    op_type: str = ""
    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)

    def label(self):
        """The name by which hios knows the node (docs/onnx.md)."""
        return self.name or next((each for each in self.outputs if each), self.op_type)


@dataclass
class OnnxFile:
    data: memoryview
    nodes: list = field(default_factory=list)
    sources: set = field(default_factory=set)  # inputs of the graph that are no weights
    external: bool = False                     # weights lie in other files


def read_node(data):
    node = OnnxNode()
    for number, value, _ in fields(data):
        if number == NODE_INPUT:
            node.inputs.append(text(value))
        elif number == NODE_OUTPUT:
            node.outputs.append(text(value))
        elif number == NODE_NAME:
            node.name = text(value)
        elif number == NODE_OP_TYPE:
            node.op_type = text(value)
    return node


def parse(data, file):
    """The nodes of an ONNX file, in order. Throws InputError: it is none."""
    try:
        return read_model(memoryview(data))
    except BadMessage as error:
        raise InputError(f"{file}: no ONNX file") from error


def read_model(data):
    model, weights, inputs = OnnxFile(data), set(), []
    graphs = [value for number, value, _ in fields(data) if number == MODEL_GRAPH]
    if len(graphs) != 1 or not isinstance(graphs[0], memoryview):
        raise BadMessage
    for number, value, _ in fields(graphs[0]):
        if number == GRAPH_NODE:
            model.nodes.append(read_node(value))
        elif number == GRAPH_INPUT:
            inputs.append(text(next((name for n, name, _ in fields(value) if n == 1), None)))
        elif number == GRAPH_INITIALIZER:
            for tensor_number, tensor_value, _ in fields(value):
                if tensor_number == TENSOR_NAME:
                    weights.add(text(tensor_value))
                elif tensor_number == TENSOR_DATA_LOCATION and tensor_value == EXTERNAL:
                    model.external = True
    model.sources = set(inputs) - weights
    return model


def annotated(model, configuration, of_node):
    """The file with a device configuration, and for each node what `of_node(index)` adds. What another configuration of
    the same name added before is replaced. Throws BadMessage for older configurations that are none."""
    name = text(next(value for number, value, _ in fields(memoryview(configuration)) if number == 1))

    def is_old(value):
        return any(number == 1 and text(each) == name for number, each, _ in fields(value))

    result, version = [], IR_WITH_DEVICES
    for number, value, whole in fields(model.data):
        if number == MODEL_IR_VERSION:
            if not isinstance(value, int):
                raise BadMessage
            version = max(version, value)
        elif number == MODEL_GRAPH:
            result.append(bytes_field(MODEL_GRAPH, b"".join(graph_fields(value, of_node, is_old))))
        elif not (number == MODEL_CONFIGURATION and is_old(value)):
            result.append(bytes(whole))
    return b"".join([number_field(MODEL_IR_VERSION, version), *result, bytes_field(MODEL_CONFIGURATION, configuration)])


def graph_fields(data, of_node, is_old):
    index = 0
    for number, value, whole in fields(data):
        if number != GRAPH_NODE:
            yield bytes(whole)
            continue
        kept = [bytes(each) for n, inner, each in fields(value) if not (n == NODE_DEVICE_CONFIGURATIONS and is_old(inner))]
        yield bytes_field(GRAPH_NODE, b"".join([*kept, bytes_field(NODE_DEVICE_CONFIGURATIONS, of_node(index))]))
        index += 1

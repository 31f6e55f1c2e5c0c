"""IOS's published schedules (Ding et al., "IOS: Inter-Operator Scheduler for CNN Acceleration"): its own JSON.

A file is a graph with a schedule. It has blocks, one after the other; a block has `inner_nodes`, an `exit_node` and
`stages` of groups of node names. A node's `inputs` are terms, which are concatenated; the values of a term are summed;
a value is [node, first channel, last channel + 1]. A convolution that IOS merged stands for several: its `hint_name`
lists theirs, and its consumers read their channels. Here they are apart again (`Graph.merged` says which are one)."""

from dataclasses import dataclass, field, replace

from hios.errors import InputError
from hios.exchange.files import read_json

ACTIVATIONS = {"identity": [], "relu": ["Relu"], "sigmoid": ["Sigmoid"], "tanh": ["Tanh"]}
POOLS = {"max": "MaxPool", "avg": "AveragePool"}


@dataclass(frozen=True)
class Window:
    """A convolution or pool; `padding` and `kernel` are (height, width)."""
    kind: str
    channels: int
    kernel: tuple
    stride: tuple
    padding: tuple
    groups: int = 1

    def __str__(self):
        sizes = " ".join(f"{letter}{pair[0]}x{pair[1]}"
                         for letter, pair in zip("ksp", (self.kernel, self.stride, self.padding)))
        return f"{self.kind} {self.channels} {sizes}" + (f" g{self.groups}" if self.groups > 1 else "")


@dataclass
class Node:
    """An operator of a graph: its layers without sums and concats, and its output's channels, height and width."""
    name: str
    layers: list
    shape: tuple
    inputs: list = field(default_factory=list)  # producers' names, with repetition; without the network's input

    def description(self):
        return f"{' + '.join(map(str, self.layers)) or 'sum or concat'}, output {'x'.join(map(str, self.shape))}"


def consumers_of(nodes):
    """The names of the nodes that read each node, by its name."""
    result = {name: [] for name in nodes}
    for node in nodes.values():
        for producer in node.inputs:
            result[producer].append(node.name)
    return result


@dataclass
class Graph:
    name: str
    input_shape: tuple
    nodes: dict    # by name, in order
    stages: list   # of groups of names, as in the file: a merged convolution has one name
    merged: dict   # the names of the nodes of which a merged convolution consists, by its name

    def consumers(self):
        return consumers_of(self.nodes)


class Reader:
    """Reads values with their path; every error names the file, the path and what is wanted there."""

    def __init__(self, file, value, path="$"):
        self.file, self.value, self.path = file, value, path

    def fail(self, message):
        raise InputError(f"{self.file}: {self.path}: {message}")

    def __getitem__(self, key):
        if not isinstance(self.value, dict):
            self.fail("an object is wanted")
        if key not in self.value:
            self.fail(f'"{key}" is missing; a schedule that IOS exported has it')
        return Reader(self.file, self.value[key], f"{self.path}.{key}")

    def items(self):
        if not isinstance(self.value, list):
            self.fail("a list is wanted")
        return [Reader(self.file, value, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def text(self):
        if not isinstance(self.value, str) or not self.value.isprintable():
            self.fail("a text of one line is wanted")
        return self.value

    def number(self):
        if type(self.value) is not int or not 0 <= self.value < 1 << 31:
            self.fail("a whole number is wanted, at least 0")
        return self.value

    def numbers(self, count):
        values = tuple(item.number() for item in self.items())
        if len(values) != count:
            self.fail(f"{count} numbers are wanted")
        return values

    def word(self, known):
        if self.text() not in known:
            self.fail(f"{self.value!r} is unknown here; known: {', '.join(known)}")
        return self.value


@dataclass
class FileNode:
    """A node as the file has it: `values` are (producer, first channel, last channel + 1)."""
    name: str
    hint: str
    layers: list
    shape: tuple
    values: list
    at: Reader

    def fail(self, message):
        self.at.fail(f"node {self.name!r} {message}")


def window(kind, reader, channels, groups=1):
    return Window(kind, channels, reader["kernel"].numbers(2), reader["stride"].numbers(2), reader["padding"].numbers(2),
                  groups)


def layers_of(reader):
    kind = reader["type"].word(("conv", "pool", "identity", "relu", "activation", "element", "sequential"))
    if kind == "conv":
        conv = window("Conv", reader, reader["out_channels"].number(), reader["groups"].number())
        return [conv, *ACTIVATIONS[reader["act"].word(ACTIVATIONS)]]
    if kind == "pool":
        if reader["pool_type"].value == "global_avg":
            return ["GlobalAveragePool"]
        name = POOLS[reader["pool_type"].word((*POOLS, "global_avg"))]
        return [window(name, reader, reader["output_shape"].numbers(3)[0])]
    if kind == "activation":
        return ACTIVATIONS[reader["act_type"].word(ACTIVATIONS)]
    if kind == "sequential":
        return [layer for inner in reader["nodes"].items() for layer in layers_of(inner)]
    if kind == "element":
        reader["op_type"].word(("add",))
    return ["Relu"] if kind == "relu" else []


def values_of(reader):
    """The channels that a node reads; a sequence reads those of its first node."""
    if reader["type"].value == "sequential":
        nodes = reader["nodes"].items()
        return values_of(nodes[0]) if nodes else []
    values = []
    for term in reader["inputs"].items():
        for value in term.items():
            parts = value.items()
            if len(parts) != 3:
                value.fail("a producer, its first channel and the one after the last are wanted")
            values.append((parts[0].text(), parts[1].number(), parts[2].number()))
    return values


def read_node(reader):
    return FileNode(reader["name"].text(), reader["hint_name"].text(), layers_of(reader), reader["output_shape"].numbers(3),
                    values_of(reader), reader)


def members(node, ranges):
    """The nodes that a merged convolution replaces, by the channels that are read of it."""
    hints = node.hint.split()
    ranges = sorted(ranges)
    if ranges in ([], [(0, node.shape[0])]):
        return {}
    if [0, *[end for _, end in ranges]] != [*[begin for begin, _ in ranges], node.shape[0]]:
        node.fail(f"has {node.shape[0]} channels, and its consumers read "
                  + ", ".join(f"{begin} to {end}" for begin, end in ranges) + ": no convolutions that were merged")
    if len(hints) != len(ranges):
        node.fail(f"was merged of {len(hints)} ({node.hint}), and its consumers read {len(ranges)} ranges of channels")
    conv, *activation = node.layers
    if not isinstance(conv, Window) or conv.kind != "Conv" or conv.groups != 1:
        node.fail(f"({' + '.join(map(str, node.layers))}) is read in parts, and only convolutions are merged")
    return {(begin, end): Node(hint, [replace(conv, channels=end - begin), *activation], (end - begin, *node.shape[1:]))
            for hint, (begin, end) in zip(hints, ranges)}


def read_blocks(root):
    """The file's nodes by name, in order, and its stages."""
    nodes, stages = {}, []
    source = root["input"]["name"].text()
    for block in root["blocks"].items():
        here = [read_node(inner) for inner in block["inner_nodes"].items()] + [read_node(block["exit_node"])]
        for node in here:
            if node.name in nodes or node.name == source:
                node.fail("is there twice")
            nodes[node.name] = node
        stages += read_stages(block["stages"], {node.name for node in here})
    for node in nodes.values():
        for producer, begin, end in node.values:
            if producer not in nodes and producer != source:
                node.fail(f"reads {producer!r}, and there is no such node")
            if producer in nodes and not begin < end <= nodes[producer].shape[0]:
                node.fail(f"reads channels {begin} to {end} of {producer!r}, which has {nodes[producer].shape[0]}")
    return source, nodes, stages


def read_stages(reader, names):
    """A block's stages: each of its nodes once."""
    stages, missing = [], set(names)
    for stage in reader.items():
        groups = []
        for group in stage.items():
            words = []
            for word in group.items():
                if word.text() not in missing:
                    word.fail(f"{word.value!r} is " + ("there twice" if word.value in names else "no node of this block"))
                missing.remove(word.value)
                words.append(word.value)
            groups.append(words)
        stages.append([group for group in groups if group])
    if missing:
        reader.fail(f"lacks {', '.join(sorted(missing))}")
    return [stage for stage in stages if stage]


def read(file):
    """Reads a file. Throws InputError: no such file, no schedule of IOS, or a node that is unknown here."""
    root = Reader(file, read_json(file))
    try:
        source, file_nodes, stages = read_blocks(root)
    except RecursionError:
        raise InputError(f"{file}: nested too deeply to be a schedule that IOS exported") from None
    ranges = {name: set() for name in file_nodes}
    for node in file_nodes.values():
        for producer, begin, end in node.values:
            if producer in ranges:
                ranges[producer].add((begin, end))
    parts = {name: members(node, ranges[name]) for name, node in file_nodes.items()}
    graph = Graph(root["name"].text(), root["input"]["output_shape"].numbers(3), {}, stages, {})
    for name, node in file_nodes.items():
        inputs = [parts[producer][begin, end].name if parts.get(producer) else producer
                  for producer, begin, end in node.values if producer != source]
        if parts[name]:
            graph.merged[name] = [member.name for member in parts[name].values()]
        for member in parts[name].values() or [Node(name, node.layers, node.shape)]:
            member.inputs = list(inputs)
            if member.name in graph.nodes or (member.name in file_nodes and member.name != name):
                node.fail(f"was merged of {member.name!r}, which is another node, too")
            graph.nodes[member.name] = member
    return graph

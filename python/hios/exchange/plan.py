"""A schedule as ONNX nodes on devices and streams.

An operator is one or more layers, and a layer has the name of an ONNX node (docs/onnx.md), but not every node is a layer:
constants, views, BatchNormalization after a convolution, and nodes that became one layer with others are none. Such a node
belongs to an operator that it could have been computed with:

- a node that computes no more than constants: to the first of its consumers;
- a scale or shift that is the only consumer of a convolution or matrix product: to that;
- any other: to its consumers if they are one operator, else to its producer.

A convolution that was merged of siblings (`a+b`) holds the nodes of all of them."""

from dataclasses import dataclass

from hios.errors import InputError

PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
SCALES = ("BatchNormalization", "Mul", "Div", "Add", "Sub")


@dataclass
class Placement:
    """The device of an operator, by its index, and the stream there: its group's position in the stage."""
    device: int
    stream: int


@dataclass
class Plan:
    devices: list     # of the schedule
    placements: list  # by node of the file
    operators: list   # by node of the file: names

    def streams(self):
        """The nodes of each stream that has some, ordered by device and stream: ((device, stream), indices of nodes)."""
        result = {}
        for node, each in enumerate(self.placements):
            result.setdefault((each.device, each.stream), []).append(node)
        return sorted(result.items())


def placements(schedule, file, known):
    """The placement of each operator. Throws InputError unless the schedule has every operator once, as a whole."""
    result = {}
    for d, device in enumerate(schedule["devices"]):
        for s, stage in enumerate(device["stages"]):
            for g, group in enumerate(stage):
                for operator in group:
                    where = f"{file}: $.devices[{d}].stages[{s}][{g}]"
                    if not isinstance(operator, str):
                        name = operator.get("operator") if isinstance(operator, dict) else operator
                        raise InputError(f"{where}: {name!r} is divided, and a node of ONNX computes all of its output on one "
                                         "device: schedule without --inputs and --cut")
                    if operator not in known:
                        raise InputError(f"{where}: the model has no operator {operator!r}: give the --model and --fusion that "
                                         "the schedule was made for")
                    if operator in result:
                        raise InputError(f"{where}: {operator!r} is there twice; a schedule has every operator once")
                    result[operator] = Placement(d, g)
    if missing := [name for name in known if name not in result]:
        raise InputError(f"{file}: {missing[0]!r} is on no device (and {len(missing) - 1} more); a schedule has every "
                         "operator once")
    return result


def split_merged(name, labels):
    """The names of which "a+b+c" was merged, all of them labels of nodes; nothing where it was not."""
    parts = name.removesuffix("/activation").rstrip("+").split("+")
    for count in range(1, len(parts)):
        head, tail = "+".join(parts[:count]), "+".join(parts[count:])
        if head in labels:
            rest = [tail] if tail in labels else split_merged(tail, labels)
            if rest:
                return [head, *rest]
    return []


def operators_of_nodes(nodes, graph, sources):
    """By node of the file, the name of its operator; nothing where no rule finds one."""
    labels = {node.label(): i for i, node in enumerate(nodes)}
    operators = [None] * len(nodes)
    for layer, operator in graph.of_layer().items():
        for name in [layer] if layer in labels else split_merged(layer, labels):
            operators[labels[name]] = operator.name
    network = Network(nodes, sources)

    def neighbours(edges, i):
        return [operators[each] for each in edges[i] if operators[each]]

    def give(i, found):
        if operators[i] is None and found:
            operators[i] = found[0]

    forward, backward = range(len(nodes)), range(len(nodes) - 1, -1, -1)
    for i in forward:
        producer = network.scaled[i]
        give(i, [] if producer is None else [operators[producer]])
    for i in backward:
        consumers = neighbours(network.consumers, i)
        give(i, consumers if len(set(consumers)) == 1 and network.computed[i] else [])
    for i in forward:
        give(i, neighbours(network.producers, i) if network.computed[i] else [])
    for i in backward:
        give(i, neighbours(network.consumers, i))
    for i in forward:
        give(i, neighbours(network.producers, i))
    return operators


class Network:
    """Edges between the nodes of a file."""

    def __init__(self, nodes, sources):
        self.nodes = nodes
        made_by = {tensor: i for i, node in enumerate(nodes) for tensor in node.outputs if tensor}
        self.producers = [[made_by[each] for each in node.inputs if each in made_by] for node in nodes]
        self.consumers = [[] for _ in nodes]
        self.computed = []  # false for constants
        for i, node in enumerate(nodes):
            for producer in self.producers[i]:
                self.consumers[producer].append(i)
            self.computed.append(any(each in sources for each in node.inputs)
                                 or any(self.computed[each] for each in self.producers[i] if each < i))

        self.scaled = []  # by node, the producer whose product it scales or shifts
        for i in range(len(nodes)):
            self.scaled.append(self.scaled_by(i))

    def scaled_by(self, i):
        """The producer whose product a node scales or shifts, if it is the only consumer and reads nothing else."""
        computed = [each for each in self.producers[i] if self.computed[each]]
        if self.nodes[i].op_type not in SCALES or len(computed) != 1 or self.consumers[computed[0]] != [i]:
            return None
        producer = computed[0]
        if producer >= i:  # an ONNX file has its nodes in order
            return None
        is_product = self.nodes[producer].op_type in PRODUCTS or self.scaled[producer] is not None
        return producer if is_product else None


def plan(schedule, file, graph, onnx):
    """Throws InputError where a node or an operator has no counterpart."""
    by_operator = placements(schedule, file, graph.nodes)
    operators = operators_of_nodes(onnx.nodes, graph, onnx.sources)
    for node, operator in zip(onnx.nodes, operators):
        if operator is None:
            raise InputError(f"node {node.label()!r} ({node.op_type}) belongs to no operator of {graph.name}: give the --model "
                             "that the schedule was made for")
    return Plan(schedule["devices"], [by_operator[each] for each in operators], operators)

"""A published schedule as a schedule of the model's operators.

Merged convolutions: the sets that the file merges are merged in the model too (`--merge`, docs/fusion.md). IOS's consumers
read their channels in place; here a slice that no concat takes in is an operator, which runs directly before its consumer
in the consumer's group, or after the convolution where several operators read it. With `apart`, the convolutions of a set
run one after the other, where the merged one ran."""

from dataclasses import dataclass

from hios.errors import InputError
from hios.exchange.ios_file import Window
from hios.exchange.matching import NoMatch, match


@dataclass
class Imported:
    """Stages of the model's operators, and the sets that are merged, by names of convolutions."""
    stages: list
    sets: list


def has_other_kernels(file_graph):
    """The merged convolutions whose members may have smaller kernels than it has."""
    return [name for name, nodes in file_graph.merged.items()
            if next(each for each in file_graph.nodes[nodes[0]].layers if isinstance(each, Window)).kernel != (1, 1)]


def pair(file, file_graph, apart):
    """The operators of the unmerged model by the names of the file's nodes. Throws InputError with the node's name."""
    padded = has_other_kernels(file_graph)
    try:
        return match(file_graph, apart, any_kernel=bool(padded))
    except NoMatch as error:
        node = f"node {error.node!r}: " if error.node else ""
        raise InputError(f"{file}: {node}cannot be mapped to the model {apart.name}: {error}; give the --model, its size and "
                         "the --fusion that the schedule was made for") from error


def convolution(operator):
    """The name of an operator's convolution."""
    return operator.names[operator.types.index("Conv")]


def merged_sets(file, file_graph, pairs, apart):
    """The merged sets by names of convolutions, in the model's order."""
    order = {name: i for i, name in enumerate(apart.nodes)}
    if padded := has_other_kernels(file_graph):
        raise InputError(f"{file}: node {padded[0]!r}: merges convolutions of {file_graph.merged[padded[0]]} with a kernel "
                         "larger than 1x1, and only 1x1 are merged here: --merge none runs them one after the other")
    return {name: [convolution(apart.nodes[each]) for each in sorted((pairs[node] for node in nodes), key=order.get)]
            for name, nodes in file_graph.merged.items()}


def stages_apart(file_graph, pairs):
    return [[[pairs[node] for name in group for node in file_graph.merged.get(name, [name])] for group in stage]
            for stage in file_graph.stages]


def stages_merged(file_graph, pairs, apart, merged, sets):
    """The stages in the graph whose siblings are merged."""
    of_layer = merged.of_layer()

    def here(name):
        if name in sets:
            wide = "+".join(sets[name])
            return next(node.name for layer, node in of_layer.items() if layer.rstrip("+") == wide)
        return of_layer[apart.nodes[pairs[name]].names[-1]].name

    stages = [[[here(name) for name in group] for group in stage] for stage in file_graph.stages]
    for name, nodes in file_graph.merged.items():
        for node in nodes:
            slice_of = of_layer[apart.nodes[pairs[node]].names[-1]]
            if slice_of.types == ["Move"]:
                place(slice_of.name, here(name), merged, stages)
    return stages


def place(name, producer, merged, stages):
    """Adds a slice to the stages."""
    consumers = set(merged.consumers()[name])
    only = consumers.pop() if len(consumers) == 1 else None
    for stage in stages:
        for group in stage:
            if only in group:
                return group.insert(group.index(only), name)
            if only is None and producer in group:
                return group.insert(group.index(producer) + 1, name)
    raise AssertionError(f"{name} has neither producer nor consumer in the stages")


def fold(stages, streams):
    """Stages of at most so many groups: groups beyond are appended to the shortest ones, in order."""
    result = []
    for stage in stages:
        groups = [[] for _ in range(min(streams, len(stage)))]
        for group in stage:
            min(groups, key=len).extend(group)
        result.append(groups)
    return result


def check_complete(file, stages, graph):
    """Every operator once: otherwise the model's operators are others than the file's."""
    placed = [name for stage in stages for group in stage for name in group]
    if sorted(placed) != sorted(graph.nodes):
        lost = sorted(set(graph.nodes) - set(placed)) or sorted({each for each in placed if placed.count(each) > 1})
        raise InputError(f"{file}: once siblings are merged, {', '.join(lost)} of {graph.name} has no place of its own in the "
                         "schedule: --merge none keeps them apart")

"""Operators of two graphs that correspond to each other: same layers, same output, and corresponding inputs and consumers.

Each operator has a class: first its layers and its output's shape, then repeatedly its class with those of its inputs and
consumers, until no class splits (colour refinement). Where classes still hold several operators of a graph, those with
the very same inputs and consumers are paired in order, else the first of each graph, and classes are refined again.
Operators that stay in one class are alike, so that any pairing is right; it is the one in the order of the graphs. The
result is checked edge by edge.

Names take no part. O(pairs that are alike * edges * rounds). Test: tests/python/exchange_import_test.py."""

from collections import Counter

from hios.exchange.ios_file import Window


class NoMatch(Exception):
    """An operator of the first graph has none in the second; `node` is its name."""

    def __init__(self, node, reason):
        super().__init__(reason)
        self.node = node


def feature(node, any_kernel):
    """The computation of an operator; `any_kernel` ignores kernels and padding, which a merge may have changed."""
    layers = tuple((each.kind, each.channels, each.stride, each.groups) if any_kernel and isinstance(each, Window) else each
                   for each in node.layers)
    return layers, node.shape


class Classes:
    """The classes of the operators of two graphs, as numbers; a key is (0 or 1, name)."""

    def __init__(self, graphs, any_kernel):
        self.keys = [(side, name) for side, graph in enumerate(graphs) for name in graph.nodes]
        self.inputs = {(side, name): [(side, each) for each in node.inputs]
                       for side, graph in enumerate(graphs) for name, node in graph.nodes.items()}
        self.consumers = {(side, name): [(side, each) for each in consumers]
                          for side, graph in enumerate(graphs) for name, consumers in graph.consumers().items()}
        self.of = self.numbered({(side, name): feature(node, any_kernel)
                                 for side, graph in enumerate(graphs) for name, node in graph.nodes.items()})

    def numbered(self, values):
        numbers = {}
        return {key: numbers.setdefault(values[key], len(numbers)) for key in self.keys}

    def refine(self):
        count = len(set(self.of.values()))
        while True:
            self.of = self.numbered({key: (self.of[key], tuple(sorted(self.of[each] for each in self.inputs[key])),
                                           tuple(sorted(self.of[each] for each in self.consumers[key])))
                                     for key in self.keys})
            refined = len(set(self.of.values()))
            if refined == count:
                return
            count = refined

    def members(self):
        """By class, the names of each graph's operators, in order."""
        result = {}
        for side, name in self.keys:
            result.setdefault(self.of[side, name], ([], []))[side].append(name)
        return result

    def unequal(self):
        """The first operator of the first graph in a class with more or fewer operators of the second one."""
        members = self.members()
        for side, name in self.keys:
            mine, theirs = members[self.of[side, name]]
            if side == 0 and len(mine) != len(theirs):
                return name, len(mine), len(theirs)
        return None

    def separate(self, pairs):
        """Gives each pair of operators a class of its own."""
        for i, pair in enumerate(pairs):
            for side, name in enumerate(pair):
                self.of[side, name] = -1 - i

    def are_twins(self, side, names):
        """True if these operators have the very same inputs and consumers."""
        return len({(tuple(sorted(self.inputs[side, name])), tuple(sorted(self.consumers[side, name]))) for name in names}) == 1


def match(first, second, any_kernel=False):
    """The second graph's operators by the names of the first one's. Throws NoMatch."""
    classes = Classes((first, second), any_kernel)
    if unequal := classes.unequal():
        name, mine, theirs = unequal
        raise NoMatch(name, f"the model has no operator like it ({first.nodes[name].description()})" if theirs == 0 else
                      f"there are {mine} like it ({first.nodes[name].description()}), and {theirs} in the model")
    if len(first.nodes) != len(second.nodes):
        raise NoMatch(None, f"it has {len(first.nodes)} operators, and the model {len(second.nodes)}")
    while True:
        classes.refine()
        if unequal := classes.unequal():
            raise NoMatch(unequal[0], "operators like it have other inputs or consumers in the model")
        alike = [pair for pair in classes.members().values() if len(pair[0]) > 1]
        if not alike:
            break
        twins = [pair for pair in alike if all(classes.are_twins(side, names) for side, names in enumerate(pair))]
        classes.separate([each for pair in twins for each in zip(*pair)] or [(alike[0][0][0], alike[0][1][0])])
    pairs = {mine[0]: theirs[0] for mine, theirs in classes.members().values()}
    for name, node in first.nodes.items():
        if Counter(pairs[each] for each in node.inputs) != Counter(second.nodes[pairs[name]].inputs):
            raise NoMatch(name, "operators like it have other inputs in the model")
    return pairs

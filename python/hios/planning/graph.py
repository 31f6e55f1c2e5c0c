"""Graphs: operators with their times, and the dependencies between them."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from os import PathLike
from typing import Any

from hios.errors import InputError
from hios.planning.caution import warn
from hios.planning.core import core
from hios.planning.numbers import LONGEST_BYTES, MOST_BYTES, MOST_MS, file_name, is_writable, named, number, quoted, short, text, whole
from hios.planning.pickled import content_of, read_again


class Graph:
    """A directed acyclic graph of operators: the object that is scheduled. It does not change.

    An operator has a name and a time in ms; an edge leads from the operator that makes a tensor to one that reads it, and has
    the time that the tensor travels between two devices, or its bytes, from which a platform's link makes a time. Parallel
    edges are kept; their tensor travels once to each device."""

    def __init__(self, compiled: core.Graph) -> None:
        """Use from_networkx(), from_lists(), random() or hios.read()."""
        if not isinstance(compiled, core.Graph):
            raise InputError("a graph comes from hios.Graph.from_networkx(G), hios.Graph.from_lists(…) or hios.read(file)")
        self._compiled = compiled
        self._operators: tuple[str, ...] | None = None
        self._edges: tuple[tuple[str, str], ...] | None = None
        self._index: dict[str, int] | None = None

    @classmethod
    def from_networkx(cls, G: Any, time: str = "weight", transfer: str | None = "weight", *, bytes: str | None = None,
                      memory: str | None = None, utilization: str | None = None, overlap: float | None = None,
                      name: str | None = None) -> "Graph":
        """Takes a networkx graph with directed edges.

        time: the attribute of a node with its time in ms. transfer: the attribute of an edge with its tensor's time between
        two devices, in ms; None where `bytes` names an attribute with its bytes. memory: the attribute of a node with the
        bytes of its output. utilization: the attribute of a node with the share of a device that it fills, for `overlap`: the
        weight w by which operators of one device that run at the same time take w·sum + (1−w)·longest (docs/formats.md).
        Names that are no strings become strings, with a HiosWarning. Throws InputError that names the node or edge."""
        if isinstance(G, type) or not hasattr(G, "is_directed") or not hasattr(G, "nodes"):
            raise InputError(f"from_networkx takes a networkx graph, not {short(G)}")
        if not G.is_directed():
            raise InputError("the graph is undirected, and dependencies have a direction: take a networkx.DiGraph")
        if time is None:
            raise InputError("operators need a time: name an attribute by time=")
        if transfer is None and bytes is None:
            raise InputError("edges need a time or their bytes: name an attribute by transfer= or bytes=")
        nodes, names = list(G.nodes(data=True)), _names(G)
        edges = list(G.edges(data=True))
        columns = {
            "times_ms": _column(nodes, time, "time", "its time in ms", _of_node),
            "memory_bytes": _column(nodes, memory, "memory", "the bytes of its output", _of_node, most=MOST_BYTES,
                                    whole_numbers=True),
            "utilization": _column(nodes, utilization, "utilization", "the share of a device that it fills", _of_node, most=1),
            "transfers_ms": _column(edges, transfer, "transfer", "its tensor's time in ms", _of_edge),
            "edge_bytes": _column(edges, bytes, "bytes", "its tensor's bytes", _of_edge, most=MOST_BYTES, whole_numbers=True),
        }
        index = {node: i for i, (node, _) in enumerate(nodes)}
        title = name or str(getattr(G, "name", "") or "graph")
        return _made(title, names, [(index[a], index[b]) for a, b, _ in edges], overlap, columns)

    @classmethod
    def from_lists(cls, operators: Iterable[tuple[str, float]], edges: Iterable[tuple[str, str, float]], *,
                   overlap: float | None = None, name: str = "graph") -> "Graph":
        """Takes operators as (name, time in ms), and edges as (from, to, its tensor's time in ms)."""
        if not isinstance(operators, Iterable) or not isinstance(edges, Iterable):
            raise InputError("lists of operators and of edges are wanted")
        operators, edges = list(operators), list(edges)
        for operator in operators:
            if not isinstance(operator, tuple) or len(operator) != 2 or not isinstance(operator[0], str):
                raise InputError(f"operator {short(operator)}: (name, time in ms) is wanted")
        for edge in edges:
            if not isinstance(edge, tuple) or len(edge) != 3 or not all(isinstance(end, str) for end in edge[:2]):
                raise InputError(f"edge {short(edge)}: (from, to, time in ms) is wanted")
        index = {each: i for i, (each, _) in enumerate(operators)}
        for a, b, _ in edges:
            for end in (a, b):
                if end not in index:
                    raise InputError(f"edge {_edge(a, b)}: no operator is named {quoted(end)}")
        columns = {"times_ms": [number(ms, f"operator {quoted(each)}", "time") for each, ms in operators],
                   "transfers_ms": [number(ms, f"edge {_edge(a, b)}", "time") for a, b, ms in edges]}
        return _made(name, [each for each, _ in operators], [(index[a], index[b]) for a, b, _ in edges], overlap, columns)

    @classmethod
    def random(cls, parameters: str = "") -> "Graph":
        """A random network by the text that hios-schedule --random takes: "n=200,edges=400,layers=14,p=0.8,seed=3"."""
        return cls(core.random_graph(text(parameters, "parameters")))

    @property
    def name(self) -> str:
        """The name, for tables and files."""
        return self._compiled.name

    @property
    def digest(self) -> str:
        """A digest of names and edges, without costs: a schedule file names the digest of its graph."""
        return self._compiled.digest

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators' names, in the given order."""
        if self._operators is None:
            self._operators = tuple(self._compiled.operators())
        return self._operators

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The edges as (from, to), in the given order."""
        if self._edges is None:
            names = self.operators
            self._edges = tuple((names[a], names[b]) for a, b in self._compiled.edges())
        return self._edges

    def topological(self) -> list[str]:
        """The operators in an order in which each comes after those that it reads from."""
        names = self.operators
        return [names[i] for i in self._compiled.topological()]

    def index(self, operator: str) -> int:
        """The position of an operator in `operators`. Throws InputError for one that is not there."""
        if self._index is None:
            self._index = {each: i for i, each in enumerate(self.operators)}
        if not isinstance(operator, str) or operator not in self._index:
            raise InputError(f"the graph has no operator {quoted(operator)}")
        return self._index[operator]

    def save(self, file: "str | PathLike[str]", *, force: bool = False) -> None:
        """Writes a hios-graph file, which `hios-schedule --graph` reads. `force` replaces a file that is there."""
        self._compiled.write(file_name(file), force)

    def __len__(self) -> int:
        return self._compiled.operator_count

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph._read_again, (content_of(self._compiled),)

    @classmethod
    def _read_again(cls, content: bytes) -> "Graph":
        return cls(read_again(content, core.read_graph))

    def __repr__(self) -> str:
        return f"<hios.Graph {quoted(self.name)}: {len(self)} operators>"


def graph_of(value: Any) -> Graph:
    """The value, if it is a graph. Throws InputError with the way to one."""
    if isinstance(value, Graph):
        return value
    if hasattr(value, "is_directed"):
        raise InputError("a hios.Graph is wanted: hios.Graph.from_networkx(G)")
    raise InputError(f"a hios.Graph is wanted, not {short(value)}")


def _edge(a: Any, b: Any) -> str:
    return f"{quoted(a)} -> {quoted(b)}"


def _names(G: Any) -> list[str]:
    """The nodes' names. Throws InputError where str() makes two of them equal."""
    others = [node for node in G.nodes if not isinstance(node, str)]
    names = [str(node) for node in G.nodes]
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InputError(f"two operators are named {quoted(twice)} once their names are strings: rename one")
    if others:
        warn(f"{len(others)} of {len(names)} operators have names that are no strings, such as {short(others[0])}: they are named "
             "by str()")
    return names


def _column(owners: list[Any], attribute: str | None, keyword: str, meaning: str, where: Callable[[Any], str], *,
            most: float = MOST_MS, whole_numbers: bool = False) -> list[Any]:
    """The attribute of all nodes or edges, whose last entry is their data. Throws InputError with where(one) for a bad one."""
    if attribute is None:
        return []
    if not isinstance(attribute, Hashable):
        raise InputError(f"{keyword} is {short(attribute)}: the name of an attribute is wanted")
    try:
        column: list[Any] = [each[-1][attribute] for each in owners]
    except KeyError:
        lacking = where(next(each for each in owners if attribute not in each[-1]))
        raise InputError(f"{lacking} has no attribute {quoted(attribute)}, {meaning}: give it one, or name another attribute "
                         f"({keyword}=…)") from None
    usual: Any = int if whole_numbers else float
    checked: Callable[..., float] = whole if whole_numbers else number
    for i, value in enumerate(column):
        if type(value) is not usual or not 0 <= value <= most:  # else, as nearly always, it is fine
            column[i] = checked(value, where(owners[i]), attribute, most)
    return column


def _of_node(node: Any) -> str:
    return f"operator {quoted(node[0])}"


def _of_edge(edge: Any) -> str:
    return f"edge {_edge(edge[0], edge[1])}"


def _made(name: str, names: list[str], ends: list[tuple[int, int]], overlap: float | None, columns: dict[str, list[Any]]) -> Graph:
    if not names:
        raise InputError("the graph has no operators")
    if overlap is not None:
        overlap = number(overlap, "stages", "overlap", 1)
    for i, each in enumerate(columns.get("utilization", [])):
        if each == 0:
            raise InputError(f"operator {quoted(names[i])}: its utilization is 0: an operator fills part of a device")
    if not all(names) or max(map(len, names)) > LONGEST_BYTES // 4 or not is_writable("".join(names)):
        for each in names:
            named(each, "an operator's name")
    return Graph(core.graph(named(name, "the graph's name"), names, columns["times_ms"], [a for a, _ in ends], [b for _, b in ends],
                            columns.get("transfers_ms", []), columns.get("edge_bytes", []), columns.get("memory_bytes", []),
                            columns.get("utilization", []), overlap))

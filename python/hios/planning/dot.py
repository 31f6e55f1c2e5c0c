"""DOT: pydot's statements, in their order, as a graph of networkx. A default holds for what is declared after it, in its graph and
the graphs in that."""

import re
from collections.abc import Iterator
from typing import Any, Union

Attributes = dict[str, Any]
_END = re.compile(r'("(?:[^"\\]|\\.)*"|[^:]*)')  # of an edge: a node's name, then perhaps its port


def joined(networkx: Any, top: Any) -> Any:
    """The nodes and edges of a graph of pydot, those of the graphs in it among them."""
    whole = networkx.nx_pydot.from_pydot(top)
    graph = whole.__class__(name=whole.name)
    _add(graph, top, {}, {})
    return graph


def _add(graph: Any, part: Any, of_nodes: Attributes, of_edges: Attributes) -> None:
    """Adds the statements of one graph; these defaults hold at its beginning."""
    for each in sorted(_statements(part), key=lambda statement: statement.get_sequence() or 0):
        own = each.get_attributes()
        if hasattr(each, "get_source"):
            for producer in _ends(each.get_source()):
                for consumer in _ends(each.get_destination()):
                    for name in (producer, consumer):
                        if name not in graph:
                            graph.add_node(name, **of_nodes)
                    graph.add_edge(producer, consumer, **{**of_edges, **own})
        elif hasattr(each, "get_subgraphs"):
            _add(graph, each, of_nodes, of_edges)
        elif each.get_name() == "node":
            of_nodes = {**of_nodes, **own}
        elif each.get_name() == "edge":
            of_edges = {**of_edges, **own}
        elif each.get_name() != "graph":
            name = _unquoted(each.get_name())
            graph.add_node(name, **{**({} if name in graph else of_nodes), **own})


def _statements(part: Any) -> Iterator[Any]:
    yield from part.get_node_list()
    yield from part.get_edge_list()
    yield from part.get_subgraphs()


def _ends(end: Union[str, Any]) -> list[str]:
    """The operators at one end of an edge: a node, without its port, or all nodes of a graph in braces."""
    if isinstance(end, str):
        found = _END.match(end)
        return [_unquoted(found.group(1) if found else end)]
    names = [_unquoted(name) for name in end["nodes"] if name not in ("node", "edge", "graph")]
    for inner in end["subgraphs"].values():
        names += [name for each in inner for name in _ends(each)]
    return names


def _unquoted(name: str) -> str:
    return name.strip('"')

"""Files of graphs, platforms and schedules. networkx and pydot read what is not of HIOS."""

import contextlib
import io
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Union
from xml.etree import ElementTree

from hios.errors import InputError
from hios.files import LARGEST_JSON, read_at_most, strict_json
from hios.planning.core import core
from hios.planning.dot import joined
from hios.planning.graph import Graph
from hios.planning.numbers import file_name
from hios.planning.platform import Devices, Platform
from hios.planning.problem import Problem
from hios.planning.schedule import Schedule, judged
from hios.words import printable

ENDINGS = (".graphml", ".dot", ".gv", ".json")


def read(file: "str | PathLike[str]", time: str = "weight", transfer: str | None = "weight", *, bytes: str | None = None,
         memory: str | None = None, utilization: str | None = None, overlap: float | None = None,
         graph: Graph | None = None, devices: Devices | None = None) -> Union[Graph, Platform, Schedule]:
    """Reads a graph, a platform or a schedule, by the file's ending and content.

    GraphML (.graphml), DOT (.dot, .gv) and networkx's node-link JSON become graphs by the names of their attributes, as in
    Graph.from_networkx(). Files of HIOS (.json with a "format") are a hios-graph (a Graph), a hios-platform (a Platform), or
    a hios-schedule of `graph` (a Schedule; `devices` are its own if they are not given)."""
    path = file_name(file)
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: the name must end in one of {', '.join(ENDINGS)}, which says the format")
    if ending == ".json":
        format = core.format_of(path)
        if format:
            return _of_hios(path, format, graph, devices)
    content = _content(path)
    networkx = _needed("networkx", path)
    readers = {".graphml": _graphml, ".json": _node_link}
    try:
        G = readers.get(ending, _dot)(networkx, content, path)
    except InputError:
        raise
    except Exception as error:  # any of the libraries' own
        raise InputError(f"{path}: cannot be read: {printable(str(error) or type(error).__name__)[:200]}") from None
    try:
        return Graph.from_networkx(G, time, transfer, bytes=bytes, memory=memory, utilization=utilization, overlap=overlap,
                                   name=str(G.graph.get("name") or Path(path).stem))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _of_hios(path: str, format: str, graph: Graph | None, devices: Devices | None) -> Union[Graph, Platform, Schedule]:
    if format == "hios-graph":
        return Graph(core.read_graph(path))
    if format == "hios-platform":
        return Platform(core.read_platform(path))
    if format == "hios-schedule":
        if graph is None:
            raise InputError(f"{path}: a schedule names the operators of its graph: hios.read({path!r}, graph=g)")
        problem = Problem(graph, Platform(core.platform_of_schedule(path)) if devices is None else devices)
        plan, algorithm = problem._compiled.read_plan(path)
        try:
            return judged(problem, plan, algorithm or "unknown")
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
    if format in ("hios-model", "hios-profile"):
        raise InputError(f"{path}: a {format} file has no costs on its own: hios-schedule --model FILE --profile FILE "
                         "--export-graph FILE writes both as a hios-graph")
    raise InputError(f"{path}: the format {printable(format)} is none of hios-graph, hios-platform and hios-schedule")


def _needed(module: str, path: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"{path}: reading it needs {module}: pip install {module}") from None


def _content(path: str) -> bytes:
    try:
        content: bytes = read_at_most(path, LARGEST_JSON)
        return content
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _graphml(networkx: Any, content: bytes, path: str) -> Any:
    graphs = _graphs_in(content)
    if graphs > 1:
        raise InputError(f"{path}: holds {graphs} graphs; one is read: write each to a file of its own")
    graph = networkx.read_graphml(io.BytesIO(content))
    for kind, all_of in (("node_default", graph.nodes(data=True)), ("edge_default", graph.edges(data=True))):
        for entry in all_of:
            entry[-1].update({**graph.graph.get(kind, {}), **entry[-1]})
    return graph


def _graphs_in(content: bytes) -> int:
    """The number of graphs in a GraphML file; those in groups of yEd are part of the one around them, as networkx reads them."""
    elements = list(ElementTree.fromstring(content).iter())
    graphs = sum(each.tag.rpartition("}")[-1] == "graph" for each in elements)
    return graphs - sum(each.get("yfiles.foldertype") == "group" for each in elements)


def _dot(networkx: Any, content: bytes, path: str) -> Any:
    pydot = _needed("pydot", path)
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
        graphs = pydot.graph_from_dot_data(content.decode("utf-8-sig"))
    if not graphs:
        said = printed.getvalue().strip().splitlines()
        raise InputError(f"{path}: holds no graph that pydot reads" + (f": {printable(said[-1])[:200]}" if said else ""))
    if len(graphs) > 1:
        raise InputError(f"{path}: holds {len(graphs)} graphs; one is read: write each to a file of its own")
    return joined(networkx, graphs[0])


def _node_link(networkx: Any, content: bytes, path: str) -> Any:
    data = strict_json(content)
    if not isinstance(data, dict) or "nodes" not in data:
        raise InputError(f'{path}: has neither a "format" of HIOS nor the "nodes" of networkx')
    if "links" not in data and "edges" not in data:
        raise InputError(f'{path}: has "nodes", and neither "edges" nor "links", as networkx.node_link_data() writes them')
    try:
        return networkx.node_link_graph(data, edges="links" if "links" in data else "edges")
    except KeyError as error:
        raise InputError(f"{path}: cannot be read: a node or an edge lacks {printable(str(error))[:200]}") from None

"""Stages as people write them: for each device a list of stages. A stage is an operator's name, or a list of groups that run
at the same time; a group is a name, or a list of names that run one after the other."""

from collections.abc import Sequence
from typing import Any, Union

from hios.errors import InputError
from hios.planning.graph import Graph
from hios.planning.numbers import quoted, short

Group = Union[str, Sequence[str]]
Stage = Union[str, Sequence[Group]]
Stages = Sequence[Sequence[Stage]]
Indices = list[list[list[list[int]]]]
Names = list[list[list[list[str]]]]


def indices_of(stages: Any, graph: Graph) -> Indices:
    """The stages with the operators' positions. Throws InputError that says what else was there; the rules of a schedule are
    validate()'s."""
    return [[_stage(stage, f"device {d}, stage {s}", graph) for s, stage in enumerate(_list(device, f"device {d}"))]
            for d, device in enumerate(_list(stages, "the schedule"))]


def names_of(stages: Indices, graph: Graph) -> Names:
    """The same with names."""
    names = graph.operators
    return [[[[names[i] for i in group] for group in stage] for stage in device] for device in stages]


def _list(value: Any, where: str) -> Sequence[Any]:
    if isinstance(value, (list, tuple)):
        return value
    raise InputError(f"{where} is {short(value)}: a list is wanted")


def _index(name: Any, where: str, graph: Graph) -> int:
    if not isinstance(name, str):
        raise InputError(f"{where}: {short(name)} is no operator's name")
    try:
        return graph.index(name)
    except InputError:
        raise InputError(f"{where}: the graph has no operator {quoted(name)}") from None


def _stage(stage: Any, where: str, graph: Graph) -> list[list[int]]:
    if isinstance(stage, str):
        return [[_index(stage, where, graph)]]
    groups = []
    for group in _list(stage, where):
        names = [group] if isinstance(group, str) else _list(group, where)
        groups.append([_index(name, where, graph) for name in names])
    return groups

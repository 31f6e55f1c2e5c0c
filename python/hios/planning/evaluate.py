"""Simulation, rules and bounds, for schedules of any author."""

from dataclasses import dataclass
from typing import Any, Union

from hios.planning.core import core
from hios.planning.graph import Graph
from hios.planning.platform import Devices
from hios.planning.problem import Problem
from hios.planning.schedule import Schedule
from hios.planning.search import interruptible
from hios.planning.stages import Stages, indices_of
from hios.planning.timeline import Timeline, timeline_of


@dataclass(frozen=True)
class Finding:
    """A rule that a schedule breaks, and where."""
    text: str
    operator: str | None = None
    device: str | None = None
    stage: int | None = None

    def __str__(self) -> str:
        return self.text


def validate(graph: Graph, stages: Union[Stages, Schedule], devices: Devices = 2) -> list[Finding]:
    """All rules that a schedule breaks; none means that it runs without deadlock.

    stages: for each device a list of stages; a stage is an operator's name, or a list of groups that run at the same time; a
    group is a name or a list of names. Throws InputError where that is something else, or names an unknown operator."""
    problem = Problem(graph, devices)
    names, platform = problem.graph.operators, problem.platform.devices
    return [Finding(text, None if op is None else names[op], None if device is None or device >= len(platform) else platform[device],
                    stage)
            for text, op, device, stage in problem._compiled.validate(_plan(problem, stages))]


def simulate(graph: Graph, stages: Union[Stages, Schedule], devices: Devices = 2) -> Timeline:
    """The times of a schedule. Throws InputError with the first rule that it breaks."""
    problem = Problem(graph, devices)
    return timeline_of(problem, _plan(problem, stages))


def bounds(graph: Graph, devices: Devices = 2) -> dict[str, float]:
    """Latencies in ms that no schedule is below, by the names of their proofs. After Ctrl-C, those that were not computed
    are 0."""
    problem = Problem(graph, devices)
    found, _ = interruptible(lambda stop: problem._compiled.bounds(stop))
    return dict(found)


def _plan(problem: Problem, stages: Any) -> core.Plan:
    if isinstance(stages, Schedule):
        if stages.graph.digest == problem.graph.digest:
            return stages._row.plan  # with the order of transfers, where it has one
        stages = stages.stages
    return problem._compiled.plan(indices_of(stages, problem.graph))

"""The times of a schedule's simulation."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from hios.errors import InputError
from hios.planning.core import core
from hios.planning.numbers import quoted
from hios.planning.problem import Problem
from hios.planning.stages import names_of


@dataclass(frozen=True)
class StageTimes:
    """A stage: groups of operators that run at the same time on one device."""
    device: str
    groups: tuple[tuple[str, ...], ...]
    start_ms: float
    end_ms: float
    awaited_ms: float
    """The device was free, and began to wait for the stage's inputs."""


@dataclass(frozen=True)
class TransferTimes:
    """A tensor that travels to another device."""
    producer: str
    source: str
    destination: str
    start_ms: float
    end_ms: float
    size_bytes: int


@dataclass(frozen=True)
class Timeline:
    """The times of one inference, in ms from its start: by device, then in order."""
    latency_ms: float
    stages: tuple[StageTimes, ...]
    transfers: tuple[TransferTimes, ...]

    def __iter__(self) -> Iterator[StageTimes]:
        return iter(self.stages)

    def times_of(self, operator: str) -> StageTimes:
        """The stage that runs the operator. Throws InputError where there is none."""
        for stage in self.stages:
            if any(operator in group for group in stage.groups):
                return stage
        raise InputError(f"no stage runs {quoted(operator)}")

    def to_csv(self) -> str:
        """A line per stage: device, operators, start and end."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["device", "operators", "start_ms", "end_ms"])
        for stage in self.stages:
            names = " | ".join(" ".join(group) for group in stage.groups)
            writer.writerow([stage.device, names, repr(stage.start_ms), repr(stage.end_ms)])
        return text.getvalue()


def timeline_of(problem: Problem, plan: core.Plan) -> Timeline:
    """Simulates a plan. Throws InputError for one that breaks a rule."""
    times = problem._compiled.simulate(plan)
    devices, operators = problem.platform.devices, problem.graph.operators
    stages = []
    for device, groups_of_stages, rows in zip(devices, names_of(plan.stages(), problem.graph), times.stages(), strict=True):
        for groups, (awaited, _, start, end) in zip(groups_of_stages, rows, strict=True):
            stages.append(StageTimes(device, tuple(map(tuple, groups)), start, end, awaited))
    transfers = tuple(TransferTimes(operators[op], devices[a], devices[b], start, end, size)
                      for op, a, b, start, end, size in times.transfers())
    return Timeline(times.latency_ms, tuple(stages), transfers)

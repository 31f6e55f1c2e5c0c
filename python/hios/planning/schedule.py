"""One algorithm's schedule of a graph."""

import json
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from hios.errors import InputError
from hios.planning.child import answer_of
from hios.planning.core import core
from hios.planning.graph import Graph
from hios.planning.numbers import count, file_name, number, short
from hios.planning.own import function_of
from hios.planning.platform import Devices, Platform
from hios.planning.problem import Problem
from hios.planning.search import interruptible
from hios.planning.stages import Names, names_of
from hios.planning.timeline import Timeline, timeline_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SECONDS = 1e6
MOST_SEED = (1 << 64) - 1

Request = tuple[str, list[str], Any]


class Schedule:
    """A schedule: which device runs which operators, in which order, and the times that this takes by simulation."""

    def __init__(self, problem: Problem, row: core.Row, interrupted: bool = False) -> None:
        """Use hios.schedule() or hios.read()."""
        if not isinstance(row, core.Row):
            raise InputError("a schedule comes from hios.schedule(g, devices) or hios.read(file, graph=g)")
        self.graph: Graph = problem.graph
        self.platform: Platform = problem.platform
        self.interrupted = interrupted
        """True if Ctrl-C ended the search, which kept its best schedule so far."""
        self._problem, self._row = problem, row

    @property
    def algorithm(self) -> str:
        """The name of the scheduler that made it."""
        return self._row.algorithm

    @property
    def latency_ms(self) -> float:
        """The time of one inference by simulation."""
        return self._row.latency_ms

    @property
    def lower_bound_ms(self) -> float:
        """A time that no schedule of this graph on this platform is below."""
        return self._row.lower_bound_ms

    @property
    def bound(self) -> str:
        """The name of that bound."""
        return self._row.bound

    @property
    def gap(self) -> float:
        """(latency − lower bound) / lower bound: 0 is optimal."""
        return self._row.gap

    @property
    def outcome(self) -> str:
        """"optimal" (proven in the algorithm's own space), "feasible" or "time_limit"."""
        return self._row.outcome

    @property
    def seconds(self) -> float:
        """The time that the algorithm took."""
        return self._row.seconds

    @property
    def options(self) -> dict[str, Any]:
        """The algorithm's options that differ from their defaults."""
        return dict(json.loads(self._row.options))

    @property
    def stages(self) -> Names:
        """For each device a list of stages; a stage is a list of groups that run at the same time, a group a list of operators
        that run in order."""
        return names_of(self._row.plan.stages(), self.graph)

    def device_of(self, operator: str) -> str:
        """The name of the device that runs an operator."""
        wanted = self.graph.index(operator)
        for device, stages in zip(self.platform.devices, self._row.plan.stages(), strict=True):
            if any(wanted in group for stage in stages for group in stage):
                return device
        raise InputError(f"no device runs {short(operator)}")

    def timeline(self) -> Timeline:
        """The times of each stage and each transfer."""
        return timeline_of(self._problem, self._row.plan)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draws the timeline by Matplotlib: a lane for each stream of each device, the lower bound dashed. Returns the axes."""
        from hios.plots.timeline import draw_timeline
        drawn: "Axes" = draw_timeline(self, axes)
        return drawn

    def save(self, file: "str | PathLike[str]", *, force: bool = False) -> None:
        """Writes a hios-schedule file, which the three programs read. `force` replaces a file that is there."""
        self._row.write(file_name(file), force)

    def save_trace(self, file: "str | PathLike[str]", *, force: bool = False) -> None:
        """Writes the timeline as a Chrome trace, for Perfetto."""
        self._problem._compiled.write_trace(self._row.plan, file_name(file), force)

    def __repr__(self) -> str:
        return (f"<hios.Schedule by {self.algorithm} on {len(self.platform)} devices: {self.latency_ms:.3f} ms, "
                f"{100 * self.gap:.1f} % above the bound>")


def schedule(graph: Graph, devices: Devices = 2, algorithm: str = "best", time_limit: float | None = 10, *,
             options: Mapping[str, Any] | None = None, seed: int = 0) -> Schedule:
    """Schedules a graph on a number of equal devices, or on a Platform, for the least latency.

    algorithm: one of hios.algorithms(). time_limit: seconds for algorithms that search; None for no limit, so that Ctrl-C
    ends them. options: the algorithm's, by name. Ctrl-C keeps the best schedule so far, with a HiosWarning. Throws
    InputError where the algorithm refuses the problem."""
    problem = Problem(graph, devices)
    function_of(algorithm)  # refuses what is no name
    rows, interrupted = rows_of(problem, [algorithm], time_limit, {algorithm: {} if options is None else options}, seed)
    if rows[0].refusal is not None:
        if interrupted:
            raise KeyboardInterrupt
        raise InputError(rows[0].refusal)
    return Schedule(problem, rows[0], interrupted)


def judged(problem: Problem, plan: core.Plan, author: str) -> Schedule:
    """The schedule that a plan of the problem is, with its times and the problem's bound. Throws InputError with the first rule
    that it breaks."""
    requests: list[Request] = [(author, [], lambda _: plan)]
    rows, interrupted = interruptible(lambda stop: core.compare(problem._compiled, requests, MOST_SECONDS, 0, stop))
    if rows[0].refusal is not None:
        raise InputError(rows[0].refusal.removeprefix(f"{author}: "))
    return Schedule(problem, rows[0], interrupted)


def rows_of(problem: Problem, algorithms: list[str], time_limit: float | None, options: Mapping[str, Mapping[str, Any]],
            seed: int) -> tuple[list[core.Row], bool]:
    """A row for each algorithm, and True if Ctrl-C ended the search: then for those that it let begin."""
    seconds = MOST_SECONDS if time_limit is None else number(time_limit, "time_limit", "seconds", MOST_SECONDS)
    seed = count(seed, "seed", 0, MOST_SEED)
    functions = [function_of(name) for name in algorithms]
    texts = [_option_texts(name, options.get(name, {})) for name in algorithms]

    def work(stop: core.StopRequest) -> list[core.Row]:
        def asker(function: Any) -> Any:
            return function and (lambda seconds_left: answer_of(function, problem, seconds_left, stop))
        requests: list[Request] = [(name, text, asker(function))
                                   for name, text, function in zip(algorithms, texts, functions, strict=True)]
        return core.compare(problem._compiled, requests, seconds, seed, stop)

    return interruptible(work)


def _option_texts(algorithm: str, options: Any) -> list[str]:
    if not isinstance(options, Mapping):
        raise InputError(f"{algorithm}: its options are {short(options)}: names with values are wanted")
    return [_option_text(algorithm, key, value) for key, value in options.items()]


def _option_text(algorithm: str, key: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"{key}={'true' if value else 'false'}"
    if isinstance(value, (int, float, str)):
        return f"{key}={value}"
    raise InputError(f"{algorithm}: option {key} is {short(value)}: a number, a text, True or False is wanted")

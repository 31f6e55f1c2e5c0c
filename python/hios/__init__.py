"""Plans which device runs which operator, and when, for one inference over many devices.

    import hios
    g = hios.Graph.from_networkx(G, time="weight", transfer="weight")
    s = hios.schedule(g, devices=4, algorithm="best", time_limit=10)
    s.latency_ms, s.gap

The library is the folder planning and its compiled part _core, which `pip install ./python` builds (docs/python.md). The
other folders are the command `hios`, for people: it starts the three programs and reads their files, needs no compiled part,
and nothing in C++ knows it. Standard library, and Jinja2 for the page.

    planning    the library: graphs, platforms, schedulers, simulation, rules, bounds
    command     the command line, and which module answers it
    files       strict JSON, and files that are written whole
    launch      the programs: where they are, and how ranks are started
    benchmark   hios bench: every way that this machine has, measured in turns
    throughput  hios bench --throughput: many inferences in flight
    exchange    hios import and hios export: schedules from other systems and for them
    page        hios report: one file that shows reports, schedules and comparisons
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hios.errors import CheckFailed as CheckFailed, HiosError as HiosError, InputError as InputError
    from hios.planning.algorithms import algorithms as algorithms
    from hios.planning.bench import Bench as Bench, bench as bench
    from hios.planning.caution import HiosWarning as HiosWarning
    from hios.planning.comparison import Comparison as Comparison, Row as Row, compare as compare
    from hios.planning.evaluate import Finding as Finding, bounds as bounds, simulate as simulate, validate as validate
    from hios.planning.graph import Graph as Graph
    from hios.planning.own import scheduler as scheduler
    from hios.planning.platform import Platform as Platform
    from hios.planning.problem import Problem as Problem
    from hios.planning.reading import read as read
    from hios.planning.schedule import Schedule as Schedule, schedule as schedule
    from hios.planning.timeline import Timeline as Timeline
    __version__: str

# The module of each name. They load the compiled part, which the command does without.
_HOME = {
    "CheckFailed": "errors", "HiosError": "errors", "InputError": "errors",
    "algorithms": "planning.algorithms",
    "Bench": "planning.bench", "bench": "planning.bench",
    "Comparison": "planning.comparison", "Row": "planning.comparison", "compare": "planning.comparison",
    "Finding": "planning.evaluate", "bounds": "planning.evaluate", "simulate": "planning.evaluate",
    "validate": "planning.evaluate",
    "Graph": "planning.graph", "HiosWarning": "planning.caution",
    "scheduler": "planning.own",
    "Platform": "planning.platform",
    "Problem": "planning.problem",
    "read": "planning.reading",
    "Schedule": "planning.schedule", "schedule": "planning.schedule",
    "Timeline": "planning.timeline",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version
        return version("hios")
    if name not in _HOME:
        raise AttributeError(f"module 'hios' has no attribute '{name}'")
    from importlib import import_module
    value = globals()[name] = getattr(import_module(f"hios.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})

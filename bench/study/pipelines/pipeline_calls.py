"""The calls for each problem and number of devices: a schedule by each order, one by a search, and each bound alone. One
CSV file per part; existing rows are not computed again."""

import sys
from dataclasses import dataclass

from pipeline_problems import DEVICES, PARTS
from store import Store

KEY = ("problem", "seed", "devices", "row")
VALUES = ("operators", "period_ms", "lower_bound_ms", "seconds", "outcome")
SEARCH_S = 10
BOUND_S = 10
ORDER_S = 60  # never reached


@dataclass(frozen=True)
class Order:
    """SliceGraph with the best of population x generations orders."""
    row: str
    order: str
    population: int
    generations: int

    def flags(self):
        return ["--algorithm", "slice-graph", "--option", f"order={self.order}", "--option", f"population={self.population}",
                "--option", f"generations={self.generations}", "--time-limit", ORDER_S, "--bounds", "simple"]


@dataclass(frozen=True)
class Search:
    row: str = "best"

    def flags(self):
        return ["--algorithm", "best", "--time-limit", SEARCH_S, "--bounds", "simple"]


@dataclass(frozen=True)
class Bound:
    """A bound alone, with a period from a short search."""
    row: str

    def flags(self):
        quick = Order("", "brkga", 10, 10).flags()[:-1]
        return [*quick, self.row, "--bound-time-limit", BOUND_S]


ORDERS = (Order("mla", "mla", 100, 100), Order("mla-weighted", "mla-weighted", 100, 100), Order("random-1", "random", 1, 1),
          Order("random-100", "random", 10, 10), Order("random-10000", "random", 100, 100),
          Order("brkga-100", "brkga", 10, 10), Order("brkga-10000", "brkga", 100, 100))
BOUNDS = tuple(map(Bound, ("bottleneck", "bottleneck-guess", "exact", "downsets")))
CALLS = (*ORDERS, Search(), *BOUNDS)


def answer(programs, problem, devices, call):
    said = programs.json("hios-schedule", *problem.flags(programs), "--devices", devices, "--objective", "throughput",
                         *call.flags())
    row = next(each for each in said["comparison"] if each["algorithm"] in ("slice-graph", "best"))
    found = {"problem": problem.name, "seed": problem.seed, "devices": devices, "row": call.row, "operators": operators(said)}
    if call not in BOUNDS:
        return {**found, "period_ms": row["period_ms"], "lower_bound_ms": row["lower_bound_ms"], "seconds": row["seconds"],
                "outcome": row["outcome"]}
    bound = next((each for each in said.get("bounds", []) if each["bound"] == call.row), None)
    if bound is None:
        return {**found, "outcome": "not computed"}
    return {**found, "lower_bound_ms": bound.get("lower_bound_ms", row["lower_bound_ms"]), "seconds": bound["seconds"],
            "outcome": bound.get("remark", "")}


def operators(said):
    """The values of the schedule."""
    schedule = next(iter(said["schedules"].values())) if isinstance(said["schedules"], dict) else said["schedules"][0]
    return sum(len(group) for device in schedule["devices"] for stage in device["stages"] for group in stage)


def store_of(folder, part):
    return Store(folder / f"{part}.csv", KEY, VALUES)


def run(programs, folder, part, deadline, devices=DEVICES):
    """Makes the missing calls; returns True when none is missing."""
    store = store_of(folder, part)
    todo = [(problem, k, call) for problem in PARTS[part]() for k in devices for call in CALLS]
    for count, (problem, k, call) in enumerate(todo, 1):
        if store.has(problem=problem.name, seed=problem.seed, devices=k, row=call.row):
            continue
        if deadline.passed():
            return False
        print(f"{part} {count}/{len(todo)}: {problem.name} {problem.seed}, {k} devices, {call.row}", file=sys.stderr, flush=True)
        store.add([answer(programs, problem, k, call)])
    return True

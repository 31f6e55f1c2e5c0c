"""A call of hios-schedule, and the rows of its results, in one CSV file for each part of the study."""

import csv
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from store import Store

KEY = ("case", "seed", "algorithm", "options", "limit_s")
VALUES = ("latency_ms", "inputs_per_s", "lower_bound_ms", "bound", "seconds", "devices_used", "outcome")


@dataclass(frozen=True)
class Study:
    """The programs, and the folder of the results."""
    programs: object
    folder: Path

    def store(self, part):
        return Store(self.folder / f"{part}.csv", KEY, VALUES)


@dataclass(frozen=True)
class Call:
    """A problem (problems.py) and algorithms that share a call: rules of a few milliseconds, or one search."""
    problem: object
    algorithms: tuple
    limit_s: float
    options: tuple = ()

    def keys(self):
        return [{"case": self.problem.case, "seed": self.problem.seed, "algorithm": algorithm,
                 "options": " ".join(self.options), "limit_s": self.limit_s} for algorithm in self.algorithms]


def answers(study, call):
    """A row for each algorithm; one that refuses has the outcome "refused" and no latency."""
    options = [word for option in call.options for word in ("--option", option)]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        study.programs.run("hios-schedule", *call.problem.flags(study), "--algorithm", ",".join(call.algorithms), *options,
                           "--time-limit", call.limit_s, "--csv", table, "-q")
        with table.open(newline="") as file:
            rows = {row["algorithm"]: row for row in csv.DictReader(file)}
    return [{**rows[key["algorithm"]], **key, "outcome": rows[key["algorithm"]]["outcome"] or "refused"} for key in call.keys()]


def run(study, part, calls, deadline):
    """Makes the missing calls; returns True when none is missing."""
    store = study.store(part)
    for count, call in enumerate(calls, 1):
        if all(store.has(**key) for key in call.keys()):
            continue
        if deadline.passed():
            return False
        print(f"{part} {count}/{len(calls)}: {call.problem.case}, seed {call.problem.seed}, {', '.join(call.algorithms)}",
              file=sys.stderr, flush=True)
        store.add(answers(study, call))
    return True

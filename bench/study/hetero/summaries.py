"""Means over the seeds of each case, summary.csv: ratios are means of the problems' own ratios, bounds the largest
of the problem's rows."""

import statistics
from collections import defaultdict

import calls
from hetero_parts import PARTS
from looks import ordered
from store import Store
from tables import write_table

COLUMNS = ("part", "case", "algorithm", "options", "limit_s", "seeds", "latency_ms", "inputs_per_s", "speedup_over_one_device",
           "gap_to_bound", "proved", "seconds", "devices_used", "lower_bound_ms")
PROVED = 1e-5  # tolerance of solvers


class Rows:
    """The answers of a part, by problem."""

    def __init__(self, folder, part):
        self.rows = list(Store(folder / f"{part}.csv", calls.KEY, calls.VALUES).rows.values())
        self.bounds, self.one_device = defaultdict(float), {}
        for row in self.rows:
            at = row["case"], row["seed"]
            if row["latency_ms"]:
                self.bounds[at] = max(self.bounds[at], float(row["lower_bound_ms"]))
                if row["algorithm"] == "sequential":
                    self.one_device[at] = float(row["latency_ms"])

    def cases(self):
        """The cases, in the order of the calls."""
        return list(dict.fromkeys(row["case"] for row in self.rows))

    def of_case(self, case):
        """Rows by (algorithm, options, limit), algorithms in their usual order."""
        groups = defaultdict(list)
        for row in self.rows:
            if row["case"] == case:
                groups[row["algorithm"], row["options"], float(row["limit_s"])].append(row)
        names = ordered({name for name, _, _ in groups})
        return dict(sorted(groups.items(), key=lambda item: (names.index(item[0][0]), item[0][1:])))

    def speedup(self, row):
        one = self.one_device.get((row["case"], row["seed"]))
        return one / float(row["latency_ms"]) if one else None

    def gap(self, row):
        return float(row["latency_ms"]) / self.bounds[row["case"], row["seed"]] - 1


def mean(values):
    known = [value for value in values if value not in (None, "")]
    return statistics.fmean(map(float, known)) if known else ""


def summary(rows, part, case, key, some):
    """A row of means over the problems with a schedule; without any, only the number of problems."""
    algorithm, options, limit_s = key
    made = [row for row in some if row["latency_ms"]]
    return {"part": part, "case": case, "algorithm": algorithm, "options": options, "limit_s": limit_s, "seeds": len(some),
            "latency_ms": mean(row["latency_ms"] for row in made), "inputs_per_s": mean(row["inputs_per_s"] for row in made),
            "speedup_over_one_device": mean(rows.speedup(row) for row in made),
            "gap_to_bound": mean(rows.gap(row) for row in made),
            "proved": sum(float(row["latency_ms"]) <= float(row["lower_bound_ms"]) * (1 + PROVED) for row in made),
            "seconds": mean(row["seconds"] for row in made), "devices_used": mean(row["devices_used"] for row in made),
            "lower_bound_ms": mean(rows.bounds[row["case"], row["seed"]] for row in made)}


def part_summary(folder, part):
    rows = Rows(folder, part)
    return [summary(rows, part, case, key, some) for case in rows.cases() for key, some in rows.of_case(case).items()]


def write_all(folder):
    table = [row for part in PARTS for row in part_summary(folder, part)]
    if table:
        write_table(folder / "summary.csv", COLUMNS, table)

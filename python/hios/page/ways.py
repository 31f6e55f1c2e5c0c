"""The tables: all ways of a summary or of the runs, and the schedules of comparisons and plans."""

import shlex

from hios.page import numbers


class Column:
    """A column: its heading, and the text and the number that sorts, by row."""

    def __init__(self, title, value, text, hint="", best=None):
        self.title, self.value, self.text, self.hint, self.best = title, value, text, hint, best

    def cells(self, rows):
        """(value, text, true for a number) of each row; times of a column have equal digits."""
        values = [self.value(row) for row in rows]
        text = self.text
        if text is numbers.ms:
            digits = max((numbers.digits_for(value) for value in values if value), default=2)
            text = lambda value: numbers.ms(value, digits)  # noqa: E731
        return [(value, "" if value is None else text(value), isinstance(value, (int, float)) and not isinstance(value, bool))
                for value in values]


def key(*path):
    def value(row):
        for name in path:
            row = row.get(name) if isinstance(row, dict) else None
        return row
    return value


def error(value):
    return numbers.percent(value, sign=True)


def times(value):
    return numbers.ratio(value)


def verified(row):
    if row.get("verified") is None:
        return None
    if not row["verified"]:
        return "no"
    return "yes, bitwise" if row.get("bitwise_equal_to_one_rank") else "yes"


def same(value):
    return str(value)


MEASURED = (
    Column("best\N{NO-BREAK SPACE}¼, ms", key("latency_ms", "best_quarter"), numbers.ms,
           "the median of the fastest quarter of iterations", min),
    Column("median", key("latency_ms", "median"), numbers.ms, "in ms"),
    Column("p95", key("latency_ms", "p95"), numbers.ms, "in ms: 95 % of iterations were faster"),
    Column("vs 1 core", key("speedup_over_one_core"), times, "the best row of one core, over this one"),
    Column("vs best 2 cores", key("ratio_to_best_two_core_row"), times, "the best row of two cores, over this one"),
    Column("predicted, ms", key("predicted_ms"), numbers.ms, "the latency of the simulated schedule"),
    Column("error", key("prediction_error"), error, "(measured − predicted) / measured"),
    Column("lower bound", key("lower_bound_ms"), numbers.ms,
           "in ms; by the times of the profile, no schedule on these devices has a shorter latency"),
    Column("inputs/s", key("per_second"), numbers.ms, "many inferences in flight"),
    Column("period, ms", key("period_ms"), numbers.ms, "from one inference to the next"),
    Column("verified", verified, same, "compared with plain loops, and bit by bit with one rank"),
)

PLANNED = (
    Column("latency, ms", key("latency_ms"), numbers.ms, "the latency of the simulated schedule", min),
    Column("period, ms", key("period_ms"), numbers.ms, "from one inference to the next", min),
    Column("inputs/s", key("per_second"), numbers.ms, "many inferences in flight"),
    Column("inputs/s", key("inputs_per_s"), numbers.ms, "inputs divided by latency"),
    Column("vs sequential", key("speedup_over_sequential"), times, "the latency of sequential, over this one"),
    Column("vs ios", key("speedup_over_ios"), times, "the latency of ios, over this one"),
    Column("lower bound", key("lower_bound_ms"), numbers.ms, "no schedule of this graph on these devices takes less"),
    Column("bound", key("bound"), same, "the name of the lower bound's proof"),
    Column("gap", key("gap"), numbers.percent, "(latency − lower bound) / lower bound"),
    Column("takes", key("seconds"), numbers.seconds, "the scheduler's own time"),
    Column("devices", key("devices"), same, "devices that there are"),
    Column("used", key("devices_used"), same, "devices with at least one operator"),
    Column("sent", key("sent_bytes"), numbers.size, "bytes between devices"),
    Column("waiting", key("waiting_share"), numbers.percent, "share of the used devices' time in which they run no stage"),
    Column("estimated", key("estimated_stages"), same, "stages whose cost was not measured"),
    Column("outcome", key("outcome"), same, "optimal: proven"),
    Column("refused", key("refused"), same, "the reason"),
)


def table(rows, columns, title, caption=""):
    """A table for the template: only columns in which some row has a value."""
    columns = [column for column in columns if any(column.value(row) is not None for row in rows)]
    by_column = [column.cells(rows) for column in columns]
    lines = [{"name": row["name"], "run": row.get("run"), "cells": [cells[at] for cells in by_column], "bar": row.get("bar"),
              "best": False}
             for at, row in enumerate(rows)]
    for at, column in enumerate(columns):
        known = [line["cells"][at][0] for line in lines if line["cells"][at][0] is not None]
        if column.best and known and len(lines) > 1:
            for line in lines:
                line["best"] = line.get("best") or line["cells"][at][0] == column.best(known)
    return {"title": title, "caption": caption, "columns": columns, "rows": lines, "why": [],
            "bars": any(line["bar"] for line in lines),
            "best": "fastest" if columns and columns[0] in MEASURED else "shortest"}


def with_bars(rows):
    """Adds to each measured row the ends of its bar, as shares of the longest."""
    known = [row["latency_ms"] for row in rows if isinstance(row.get("latency_ms"), dict)]
    if len(known) < 2:
        return rows
    longest = max(max(one["median"], one["best_quarter"]) for one in known)
    for row in rows:
        if isinstance(row.get("latency_ms"), dict) and longest > 0:
            one = row["latency_ms"]
            row["bar"] = {"best": 100 * one["best_quarter"] / longest, "median": 100 * one["median"] / longest,
                          "bound": 100 * row["lower_bound_ms"] / longest if row.get("lower_bound_ms") is not None else None}
    return rows


def bound_ms(run):
    predicted = (run.schedule or {}).get("predicted", {})
    return None if (run.schedule or {}).get("objective") == "throughput" else predicted.get("lower_bound_ms")


def report_row(run):
    """A report as a row of a summary."""
    report = run.report
    checked = report["verified"] or {"passed": None, "bitwise": None}
    many = report.get("throughput") or {}
    return {"name": run.name, "latency_ms": report["latency_ms"], "predicted_ms": report["predicted_ms"],
            "prediction_error": report["prediction_error"], "verified": checked["passed"],
            "bitwise_equal_to_one_rank": checked["bitwise"], "lower_bound_ms": bound_ms(run),
            "per_second": many.get("per_second"), "period_ms": many.get("period_ms", {}).get("best_quarter")}


def summary_table(summary, runs):
    by_row = {id(run.row): index for index, run in enumerate(runs) if run.row}
    rows = []
    for row in summary.data["rows"]:
        index = by_row.get(id(row))
        bound = bound_ms(runs[index]) if index is not None else None
        rows.append({**row, "run": index, "lower_bound_ms": bound})
    return table(with_bars(rows), MEASURED, f"All ways to run {summary.data['model']}")


def runs_table(runs):
    """Reports that no summary has."""
    rows = [{**report_row(run), "run": index} for index, run in enumerate(runs) if run.report and not run.row]
    return table(with_bars(rows), MEASURED, "Runs") if len(rows) > 1 else None


def plans_table(runs):
    """Schedules that were not run."""
    rows = []
    for index, run in enumerate(runs):
        if run.report or not run.schedule:
            continue
        used = sum(any(device["stages"]) for device in run.schedule["devices"])
        rows.append({**run.schedule.get("predicted", {}), "seconds": run.schedule.get("seconds"), "devices_used": used,
                     "outcome": run.schedule.get("outcome"), "name": run.name, "run": index if run.trace else None})
    return table(rows, PLANNED, "Plans") if len(rows) > 1 else None


def comparison_table(file):
    rows = [{**row, "name": f"{row['algorithm']} ({row['given']})" if row.get("given") else row["algorithm"]}
            for row in file.data["comparison"]]
    data = file.data
    words = [shlex.join(data["arguments"]), f"commit {data['commit']}" if data["commit"] else "", f"seed {data['seed']}",
             f"time limit {data['time_limit_s']:g} s"]
    shown = table(rows, PLANNED, f"Schedulers compared on {data['graph']['name']}", " · ".join(filter(None, words)))
    return {**shown, "why": sentences_of(data)}


def sentences_of(data):
    """The sentences of a report or a comparison that say what limits it."""
    why = data.get("why")
    sentences = why.get("sentences") if isinstance(why, dict) else None
    return [line for line in sentences if isinstance(line, str)] if isinstance(sentences, list) else []


def tables_of(files, runs):
    tables = [summary_table(file, runs) for file in files if file.kind == "summary"]
    tables += [comparison_table(file) for file in files if file.kind == "comparison"]
    return [*tables, *[one for one in (runs_table(runs), plans_table(runs)) if one]]

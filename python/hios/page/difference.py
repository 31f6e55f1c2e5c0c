"""Two runs or two plans side by side (--compare): their figures, and the difference of each operator."""

from hios.errors import InputError
from hios.page import numbers
from hios.page.kinds import kind_of
from hios.page.layers import layers_of
from hios.page.runs import join, stages_of
from hios.page.timeline import parts_of
from hios.page.view import legend_of, shown_names, timeline_data
from hios.page.ways import bound_ms

OPERATOR_DIGITS = 3  # of times and differences, which stand in one column


def predicted_ms(run):
    return run.report["predicted_ms"] if run.report else run.schedule.get("predicted", {}).get("latency_ms")


FIGURES = (
    ("best ¼, ms", lambda run: run.report and run.report["latency_ms"]["best_quarter"]),
    ("median, ms", lambda run: run.report and run.report["latency_ms"]["median"]),
    ("p95, ms", lambda run: run.report and run.report["latency_ms"]["p95"]),
    ("period, ms", lambda run: run.report and run.report.get("throughput", {}).get("period_ms", {}).get("best_quarter")),
    ("predicted, ms", predicted_ms),
    ("lower bound, ms", bound_ms),
    ("held, MB", lambda run: run.report and sum(rank["held_bytes"] for rank in run.report["ranks"]) / 1e6),
    ("sent per iteration, MB", lambda run: run.report and sum(rank["sent_bytes"] for rank in run.report["ranks"]) / 1e6),
)


def change(first, second, digits):
    """(difference, its text, its share as a text)."""
    share = numbers.percent((second - first) / first, sign=True) if first else ""
    sign = "+" if second > first else ""
    return second - first, sign + numbers.ms(second - first, digits), share


def figures(first, second):
    rows = []
    for name, value in FIGURES:
        values = value(first), value(second)
        if None not in values and values != (0, 0):
            digits = numbers.digits_for(max(values))
            rows.append((name, *(numbers.ms(value, digits) for value in values), change(*values, digits)))
    return rows


def devices_of_schedule(schedule):
    return {name: rank for rank, device in enumerate(stages_of(schedule))
            for stage in device for group in stage for name in group}


def operators_of(run):
    """Operators by name: (device, ms); ms is None in a plan without times."""
    layers = {layer.name: (layer.rank, layer.ms) for layer in layers_of(run)}
    return layers or {name: (rank, None) for name, rank in devices_of_schedule(run.schedule).items()}


def operator_row(name, first, second):
    row = {"name": name, "kind": kind_of(name), "first": first, "second": second, "delta": None,
           "moved": bool(first and second and first[0] != second[0]), "only": "A" if not second else "B" if not first else ""}
    if first and second and None not in (first[1], second[1]):
        row["delta"] = change(first[1], second[1], OPERATOR_DIGITS)
    return row


def operators(first, second):
    """A row for each operator of either run, the largest difference first; those without a time in both last."""
    one, two = operators_of(first), operators_of(second)
    rows = [operator_row(name, one.get(name), two.get(name)) for name in dict.fromkeys([*one, *two])]
    return sorted(rows, key=lambda row: (row["delta"] is None, -abs(row["delta"][0]) if row["delta"] else 0, not row["moved"]))


def single(files):
    """The run in the file of --compare."""
    runs = join(files)
    if len(runs) != 1 or not (runs[0].report or runs[0].schedule):
        raise InputError(f"--compare {files[0].name}: a report or a schedule is compared, and this is a {files[0].kind}: "
                         "name the report of one of its runs")
    return runs[0]


def difference_of(first, second):
    """The comparison of two runs, each from its file."""
    names = (first.name, second.name) if first.name != second.name else (first.files[0], second.files[0])
    rows = operators(first, second)
    differs = first.model != second.model
    total = sum(row["delta"][0] for row in rows if row["delta"])
    return {"names": names, "files": shown_names((first.files[0], second.files[0])), "figures": figures(first, second),
            "operators": rows, "moved": sum(row["moved"] for row in rows),
            "models": (first.model, second.model) if differs else None,
            "digits": OPERATOR_DIGITS, "timed": any(row["delta"] for row in rows), "total": total}


def timeline_of(first, second):
    """Both on one axis with their legend: the runs, or the plans of files without a run. Without two, no timeline."""
    chosen = []
    for run, letter in ((first, "A"), (second, "B")):
        parts = {part.title: part for part in parts_of(run)}
        part = parts.get("run") or parts.get("plan")
        if part:
            part.title = f"{letter}, {part.title}"
            chosen.append(part)
    return {"timeline": timeline_data(chosen, None), "drawn": legend_of(chosen)} if len(chosen) == 2 else {"timeline": None}

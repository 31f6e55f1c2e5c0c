"""The printed table: 80 columns."""

from hios.benchmark.table import fitted, folded
from hios.benchmark.verdict import ms_text

COLUMNS = ["", "inputs/s", "period", "predicted", "error", "latency", "over copies"]
DROPPED = ["error", "predicted", "latency"]


def text(columns, lines, dropped=()):
    return "\n".join(fitted([columns, *lines], dropped))


def cells(row, copies):
    result = row.result()
    if result is None:
        return [row.name, "-", "-", "-", "-", "-", "-"]
    predicted = result["predicted_period_ms"]
    return [row.name, f"{result['per_second']:.1f}", ms_text(result["period_ms"]),
            ms_text(predicted) if predicted is not None else "-",
            f"{100 * result['prediction_error']:+.0f} %" if predicted is not None else "-",
            ms_text(result["latency_ms"]), f"{result['per_second'] / copies:.2f}x" if copies else "-"]


def copies_of(rows):
    """The inputs per second of copies; 0 if they do not run."""
    for row in rows:
        if row.copies > 1 and row.result():
            return row.result()["per_second"]
    return 0


def remarks(rows):
    """Rows that cannot run, and those that did not verify."""
    for row in rows:
        if row.refused:
            yield f"{row.name}: {row.refused}"
        elif row.reports and not row.result()["verified"]:
            yield f"NOT VERIFIED: {row.name}"


def page(heading, rows):
    copies = copies_of(rows)
    lines = [folded(heading), "", text(COLUMNS, [cells(row, copies) for row in rows], DROPPED), *map(folded, remarks(rows))]
    return "\n" + "\n".join(lines)

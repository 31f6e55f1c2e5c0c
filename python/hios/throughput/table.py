"""The printed table."""

COLUMNS = ["", "inputs/s", "period ms", "predicted", "error", "latency ms", "over copies", "verified"]


def text(columns, lines):
    rows = [columns, *lines]
    widths = [max(len(row[c]) for row in rows) for c in range(len(columns))]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("  ".join(cell.ljust(widths[c]) if c == 0 else cell.rjust(widths[c])
                               for c, cell in enumerate(row)).rstrip() for row in rows)


def cells(row, copies):
    result = row.result()
    if result is None:
        return [row.name, "-", "-", "-", "-", "-", "-", row.refused or "-"]
    predicted = result["predicted_period_ms"]
    return [row.name, f"{result['per_second']:.1f}", f"{result['period_ms']:.3f}",
            f"{predicted:.3f}" if predicted is not None else "-",
            f"{100 * result['prediction_error']:+.1f} %" if predicted is not None else "-",
            f"{result['latency_ms']:.2f}", f"{result['per_second'] / copies:.2f}x" if copies else "-",
            "yes, bitwise" if result["verified"] else "NO"]


def copies_of(rows):
    """The inputs per second of copies; 0 if they do not run."""
    for row in rows:
        if row.copies > 1 and row.result():
            return row.result()["per_second"]
    return 0


def page(heading, rows):
    copies = copies_of(rows)
    return f"\n{heading}\n\n" + text(COLUMNS, [cells(row, copies) for row in rows])

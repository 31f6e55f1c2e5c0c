"""The printed summary."""

COLUMNS = ["row", "min", "best 1/4", "median", "p95", "vs 1 core", "vs best 2-core", "predicted", "error", "verified"]

DISTURBED = 0.1  # share of all runs from which a line is printed


def cells(row):
    ms = row["latency_ms"]
    checked = "yes, bitwise" if row["verified"] and row["bitwise_equal_to_one_rank"] else "NO"
    return [row["name"], *(f"{ms[k]:.2f}" for k in ("min", "best_quarter", "median", "p95")),
            f"{row['speedup_over_one_core']:.2f}x", f"{row['ratio_to_best_two_core_row']:.2f}x",
            f"{row['predicted_ms']:.2f}", f"{100 * row['prediction_error']:+.1f} %", checked]


def table(summary):
    lines = [COLUMNS, *map(cells, summary["rows"])]
    widths = [max(len(line[c]) for line in lines) for c in range(len(COLUMNS))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("  ".join(cell.ljust(widths[c]) if c == 0 else cell.rjust(widths[c])
                               for c, cell in enumerate(line)).rstrip() for line in lines)


def notes(summary):
    """Notes below the table, a line each."""
    extra = summary["extra"]
    limit = extra["two_rank_limit"]
    yield (f"no schedule on 2 ranks x 1 core takes less than {limit['ms']:.2f} ms ({limit['bound']}), "
           f"{limit['speedup_over_one_core']:.2f}x over 1 core")
    for yardstick in extra.get("yardsticks", []):
        ms = yardstick["latency_ms"]
        yield f"{yardstick['name']}: min {ms['min']:.2f}, best 1/4 {ms['best_quarter']:.2f}, median {ms['median']:.2f}"
    yield ("a rank of one core has one stream: Alg. 2 finds nothing to group there, so hios-lp is inter-lp, "
           "and hios-mr inter-mr")
    runs = sum(row["latency_ms"]["samples"] for row in summary["rows"])
    disturbed = sum(row["latency_ms"]["disturbed"] for row in summary["rows"])
    if disturbed > DISTURBED * runs:
        yield f"the machine did something else during {disturbed} of the {runs} runs"
    yield from extra["repeated"]
    for way in extra["unsettled"]:
        yield (f"the profile of {way} did not settle, because the machine did something else meanwhile: "
               "its predictions may be off")


def heading(summary):
    samples = summary["rows"][0]["latency_ms"]["samples"]
    return (f"{summary['model']}, latency in ms (maximum over ranks), {samples} runs per row in "
            f"{summary['extra']['rounds']} rounds; the one-core row varied by "
            f"{100 * summary['reference_moved']:.1f} % between rounds")


def page(summary):
    return "\n".join(["", heading(summary), "", table(summary), "", *notes(summary)])

"""The rows and the table of bench/cold."""

import statistics

from hios.benchmark.samples import best_quarter


def median(reports, read):
    return statistics.median(read(report) for report in reports)


def quiet_ms(reports):
    """The best quarter of the cold starts of all rounds together, which predictions are of (docs/numbers.md)."""
    samples, disturbed = [], []
    for report in reports:
        disturbed += [len(samples) + index for index in report["disturbed_iterations"]]
        samples += report["iterations_ms"]
    return best_quarter(samples, disturbed)


def row(names, reports):
    """One plan's runs, the first of which verified: medians over the rounds, and the best quarter, of which the error is."""
    quiet = quiet_ms(reports)
    latency = median(reports, lambda report: report["latency_ms"]["median"])
    predicted = reports[0]["predicted_ms"]
    verified = reports[0]["verified"]
    disk = reports[0]["cold_start"].get("disk", {})
    return {**names, "latency_ms": latency, "rounds_ms": [report["latency_ms"]["median"] for report in reports],
            "best_quarter_ms": quiet, "predicted_ms": predicted, "prediction_error": (quiet - predicted) / quiet,
            "resident_ms": median(reports, lambda report: report["cold_start"]["resident_ms"]["median"]),
            "load_ms": median(reports, lambda report: report["cold_start"]["load_ms"]["median"]),
            "overlap": median(reports, lambda report: report["latency_ms"]["median"] / report["cold_start"]["perfect_overlap_ms"]),
            "direct": disk.get("direct"), "executor": reports[0]["protocol"]["executor"],
            "verified": verified["passed"], "bitwise_equal_to_one_rank": verified["bitwise"]}


def added(summary, kept):
    """The summary, and those kept rows that it has no others for: of other networks, stores or cores of the same processor by
    the same protocol. Rows are compared with those of their own network, store and cores only."""
    protocol = ("processor", "cores", "onnxruntime", "rounds", "iterations")
    if kept is None or any(kept.get(key) != summary[key] for key in protocol):
        return summary
    place = lambda row: (row["model"], row["store"], row["place"])
    mine = {place(row) for row in summary["rows"]}
    return {**summary, "rows": [row for row in kept["rows"] if place(row) not in mine] + summary["rows"]}


def shown(value, pattern):
    return "" if value is None else pattern.format(value)


def bits(row):
    """The word for outputs: of an other program only whether they are nearly ours."""
    same = row["bitwise_equal_to_one_rank"]
    if same is None:
        return "1e-4" if row["verified"] else "NO"
    return "yes" if same else "NO"


def page(summary):
    """A table: each plan next to load-then-run of the same network, store and cores."""
    errors = (" Errors are those of the best quarter of a plan's cold starts."
              if any("best_quarter_ms" in each for each in summary["rows"]) else "")
    lines = [f"{summary.get('processor', '')}, {summary.get('cores', '')} cores. {summary['rounds']} rounds of {summary['iterations']} cold starts each; medians of the rounds' medians. "
             f"Of overlap: the time divided by the larger of the walls, in the same run.{errors}",
             *([f"ONNX Runtime {summary['onnxruntime']}: a session made from its optimised network with packed weights, and one "
                "run; its graph is read in that time. Its values differ from ours by at most 1e-4 of the largest."]
               if summary.get("onnxruntime") else []), "",
             "| network | store | ranks x cores | plan | cold ms | of rounds | predicted | error | resident ms | loads ms | "
             "of overlap | over load-then-run | bits of one rank |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    base = {}
    for each in summary["rows"]:
        key = each["model"], each["store"], each["place"]
        base.setdefault(key, each["latency_ms"])  # load-then-run comes first
        lines.append(
            f"| {each['model']} | {each['store']} | {each['ranks']}x{each['threads']} | `{each['algorithm']}` "
            f"| {each['latency_ms']:.2f} | {min(each['rounds_ms']):.2f} to {max(each['rounds_ms']):.2f} "
            f"| {shown(each['predicted_ms'], '{:.2f}')} | {shown(each['prediction_error'], '{:+.1%}').replace('%', ' %')} "
            f"| {each['resident_ms']:.2f} | {shown(each['load_ms'], '{:.2f}')} | {shown(each['overlap'], '{:.2f}x')} "
            f"| {base[key] / each['latency_ms']:.2f}x | {bits(each)} |")
    return "\n".join(lines)

"""The results of all rounds: summary.json, and the report of each row."""

import json

from hios.benchmark.samples import FEWEST, best_quarter, nearest_rank, summarize_samples
from hios.benchmark.verdict import verdict
from hios.benchmark.ways import Way
from hios.benchmark.why import limit_of


def merge_rounds(row):
    """Writes a row's report: that of its verified run, with the samples of all rounds."""
    report = dict(row.report)
    report["iterations_ms"] = row.samples()
    report["disturbed_iterations"] = row.disturbed()
    report["latency_ms"] = summarize_samples(report["iterations_ms"], report["disturbed_iterations"])
    predicted, best = report["predicted_ms"], report["latency_ms"]["best_quarter"]
    report["prediction_error"] = (best - predicted) / best
    row.report_file.write_text(json.dumps(report) + "\n")
    return report


def rounds_varied(row):
    """The slowest over the fastest round of a row, less 1."""
    rounds = [best_quarter(report["iterations_ms"], report["disturbed_iterations"]) for report in row.rounds.values()]
    return max(rounds) / min(rounds) - 1


def details(row, report):
    """Returns a row's files and the spread of its runs, for the verdict and the page."""
    indices = set(report["disturbed_iterations"])
    samples = report["iterations_ms"]
    quiet = [ms for index, ms in enumerate(samples) if index not in indices]
    ordered = sorted(quiet if len(quiet) >= min(FEWEST, len(samples) / 2) else samples)
    return {"batch": report["model"]["batch"], "p25_ms": nearest_rank(ordered, 25), "p75_ms": nearest_rank(ordered, 75),
            "rounds_varied": rounds_varied(row), "rounds": len(row.rounds), "schedule": row.schedule.name,
            "report": row.report_file.name, "trace": row.trace.name}


def cut_operators(schedule):
    """The number of operators that a schedule cuts."""
    return len(json.loads(schedule.read_text())["graph"].get("cuts", []))


def result_of(row, report, one_core, best_cores):
    """A row of the summary."""
    ms, verified = report["latency_ms"]["best_quarter"], report["verified"]
    cuts = {"cut_operators": cut_operators(row.schedule)} if row.cut else {}
    return {"name": row.name, "ranks": row.way.ranks, "threads": row.way.threads, "algorithm": row.algorithm,
            "latency_ms": report["latency_ms"], "predicted_ms": report["predicted_ms"],
            "prediction_error": report["prediction_error"], "verified": verified["passed"],
            "bitwise_equal_to_one_rank": verified["bitwise"], "speedup_over_one_core": one_core / ms,
            "ratio_to_best_two_core_row": best_cores / ms, "overhead_ms": report["overhead_ms"],
            **cuts, "extra": details(row, report)}


def summarize(rows, model_name, repeated=(), unsettled=(), remarks=()):
    """The summary. `ratio_to_best_two_core_row` compares with the best row on all cores, of which two are the fewest."""
    reports = [(row, merge_rounds(row)) for row in rows]

    def best(select):
        return min((r["latency_ms"]["best_quarter"] for row, r in reports if select(row.way)), default=None)

    cores = max(row.way.cores for row in rows)
    one_core, best_cores = best(lambda way: way.cores == 1), best(lambda way: way.cores == cores)
    results = [result_of(row, report, one_core, best_cores) for row, report in reports]
    whole = [row for row in rows if not row.cut]  # cuts move the limits
    limits = [limit_of(way, whole) for way in sorted({row.way for row in rows})]
    summary = {"format": "hios-summary", "version": 1, "model": model_name, "rows": results,
               "reference_moved": rounds_varied(rows[0]),
               "extra": {"cores": cores, "limits": limits, "rounds": max(len(row.rounds) for row in rows),
                         "repeated": list(repeated), "unsettled": [str(way) for way in unsettled],
                         "remarks": list(remarks)}}
    threads = best(lambda way: way == Way(1, 2))
    if threads is not None:
        summary["two_cores_one_rank_ms"] = threads
    for limit in limits:
        if (limit["ranks"], limit["threads"]) == (2, 1):
            summary["extra"]["two_rank_limit"] = {"bound": limit["bound"], "ms": limit["ms"],
                                                  "speedup_over_one_core": one_core / limit["ms"]}
    summary["extra"]["verdict"] = verdict(summary)
    return summary

"""The results of all rounds: summary.json, and the report of each row."""

import json
import statistics

FEWEST = 8  # undisturbed samples that suffice, or half of all samples if these are fewer


def fastest_quarter(samples, disturbed=()):
    """The samples whose median is best_quarter, chosen as in hios/base/numbers/statistics.cpp: without the `disturbed`
    indices, as long as enough others remain."""
    indices = set(disturbed)
    quiet = [ms for index, ms in enumerate(samples) if index not in indices]
    quarter = -(-len(samples) // 4)
    enough = max(quarter, min(FEWEST, len(samples) // 2))
    return sorted(quiet if len(quiet) >= enough else samples)[:quarter]


def summarize_samples(samples, disturbed=None):
    """The statistics of a report's latency_ms (docs/formats.md), percentiles by the nearest rank. `disturbed`: indices of
    the samples during which the machine did something else; None: unknown."""
    ordered = sorted(samples)
    count = len(ordered)

    def percentile(p):
        return ordered[max(0, -(-count * p // 100) - 1)]

    summary = {"min": ordered[0], "best_quarter": best_quarter(samples, disturbed or ()),
               "median": statistics.median(ordered), "p95": percentile(95), "p99": percentile(99),
               "mean": statistics.fmean(ordered), "samples": count}
    return summary if disturbed is None else {**summary, "disturbed": len(disturbed)}


def best_quarter(samples, disturbed=()):
    return statistics.median(fastest_quarter(samples, disturbed))


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


def two_rank_limit(rows, one_core_ms):
    """The schedulers' lower bound on the latency of two ranks x one core."""
    row = next(row for row in rows if row.way.ranks == 2)
    predicted = json.loads(row.schedule.read_text())["predicted"]
    return {"bound": predicted["bound"], "ms": predicted["lower_bound_ms"],
            "speedup_over_one_core": one_core_ms / predicted["lower_bound_ms"]}


def summarize(rows, model_name, repeated=(), unsettled=()):
    reports = [(row, merge_rounds(row)) for row in rows]

    def best(select):
        return min(r["latency_ms"]["best_quarter"] for row, r in reports if select(row.way))

    one_core = best(lambda way: way.ranks * way.threads == 1)
    best_two_cores = best(lambda way: way.ranks * way.threads == 2)
    result = []
    for row, report in reports:
        ms = report["latency_ms"]["best_quarter"]
        verified = report["verified"]
        result.append({
            "name": row.name, "ranks": row.way.ranks, "threads": row.way.threads, "algorithm": row.algorithm,
            "latency_ms": report["latency_ms"], "predicted_ms": report["predicted_ms"],
            "prediction_error": report["prediction_error"],
            "verified": verified["passed"], "bitwise_equal_to_one_rank": verified["bitwise"],
            "speedup_over_one_core": one_core / ms, "ratio_to_best_two_core_row": best_two_cores / ms,
            "overhead_ms": report["overhead_ms"],
        })
    rounds = [best_quarter(report["iterations_ms"], report["disturbed_iterations"]) for report in rows[0].rounds.values()]
    return {"format": "hios-summary", "version": 1, "model": model_name, "rows": result,
            "reference_moved": max(rounds) / min(rounds) - 1,
            "two_cores_one_rank_ms": best(lambda way: way.ranks == 1 and way.threads == 2),
            "extra": {"two_rank_limit": two_rank_limit(rows, one_core), "rounds": len(rounds),
                      "repeated": list(repeated), "unsettled": [str(way) for way in unsettled]}}

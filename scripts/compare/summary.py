"""What all rounds say together: summary.json, and the report of each row."""

import json
import statistics


def summarize_samples(samples):
    """The statistics of a report's latency_ms (docs/formats.md), percentiles by the nearest rank."""
    ordered = sorted(samples)
    count = len(ordered)

    def percentile(p):
        return ordered[max(0, -(-count * p // 100) - 1)]

    return {"min": ordered[0], "best_quarter": statistics.median(ordered[:max(1, -(-count // 4))]),
            "median": statistics.median(ordered), "p95": percentile(95), "p99": percentile(99),
            "mean": statistics.fmean(ordered), "samples": count}


def best_quarter(samples):
    return summarize_samples(samples)["best_quarter"]


def merge_rounds(row):
    """A row's report: that of its verified run, with the samples of all rounds. Written to its file."""
    report = dict(row.report)
    report["iterations_ms"] = row.samples()
    report["latency_ms"] = summarize_samples(report["iterations_ms"])
    if "disturbed" in row.report["latency_ms"]:
        report["latency_ms"]["disturbed"] = row.disturbed()
    predicted, best = report["predicted_ms"], report["latency_ms"]["best_quarter"]
    report["prediction_error"] = (best - predicted) / best
    row.report_file.write_text(json.dumps(report) + "\n")
    return report


def two_rank_limit(rows, one_core_ms):
    """What no schedule on two ranks x one core can beat, by the schedulers' own lower bound."""
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
    rounds = [best_quarter(report["iterations_ms"]) for report in rows[0].rounds.values()]
    return {"format": "hios-summary", "version": 1, "model": model_name, "rows": result,
            "reference_moved": max(rounds) / min(rounds) - 1,
            "two_cores_one_rank_ms": best(lambda way: way.ranks == 1 and way.threads == 2),
            "extra": {"two_rank_limit": two_rank_limit(rows, one_core), "rounds": len(rounds),
                      "repeated": list(repeated), "unsettled": [str(way) for way in unsettled]}}

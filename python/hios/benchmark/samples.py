"""Statistics of latencies, as in hios-run. On its own: machines without the rest of the package use it."""

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


def nearest_rank(ordered, p):
    """A percentile of ordered samples."""
    return ordered[max(0, -(-len(ordered) * p // 100) - 1)]


def summarize_samples(samples, disturbed=None):
    """The statistics of a report's latency_ms (docs/formats.md), percentiles by the nearest rank. `disturbed`: indices of
    the samples during which the machine did something else; None: unknown."""
    ordered = sorted(samples)
    summary = {"min": ordered[0], "best_quarter": best_quarter(samples, disturbed or ()),
               "median": statistics.median(ordered), "p95": nearest_rank(ordered, 95), "p99": nearest_rank(ordered, 99),
               "mean": statistics.fmean(ordered), "samples": len(ordered)}
    return summary if disturbed is None else {**summary, "disturbed": len(disturbed)}


def best_quarter(samples, disturbed=()):
    return statistics.median(fastest_quarter(samples, disturbed))

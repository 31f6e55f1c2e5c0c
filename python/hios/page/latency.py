"""The distribution of a run's iterations: a histogram, and the iterations in their order."""

import math

BINS = 40
POINTS = 400  # drawn in the order of iterations; of more, an even choice


def step_for(span, most):
    """The shortest of 1, 2 and 5 times a power of ten of which at most `most` span it."""
    raw = max(span, 1e-9) / most
    power = 10 ** math.floor(math.log10(raw))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * (1 - 1e-9))


def ticks(low, high, most=8):
    step = step_for(high - low, most)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first = math.ceil(low / step - 1e-9)
    values = [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]
    return [(value, f"{value:.{digits}f}") for value in values]


def histogram(samples, disturbed):
    """Bins as (start ms, end ms, undisturbed, disturbed). The slowest samples share a last bin without an end."""
    ordered = sorted(samples)
    low, high = ordered[0], ordered[-1]
    cut = ordered[min(len(ordered) - 1, math.ceil(0.98 * len(ordered)) - 1)]
    typical = cut - low
    if high - low > 2 * typical > 0:  # few samples far away would squeeze all others into one bin
        high = cut
    step = step_for(max(high - low, low * 0.01, 1e-6), min(BINS, max(10, len(samples) // 2)))
    first = math.floor(low / step + 1e-9)
    number = math.floor((high - first * step) / step + 1e-9) + 1
    bins = [[0, 0] for _ in range(number + 1)]
    for index, sample in enumerate(samples):
        bins[min(number, math.floor(sample / step + 1e-9) - first)][index in disturbed] += 1
    rows = [((first + i) * step, (first + i + 1) * step, *counts) for i, counts in enumerate(bins[:number])]
    if sum(bins[number]):
        rows.append(((first + number) * step, None, *bins[number]))
    return rows


def marks_of(report, low, high):
    """(name, ms) of the statistics within the picture, from left to right."""
    one = report["latency_ms"]
    marks = [("best ¼", one["best_quarter"]), ("median", one["median"]), ("p95", one["p95"]),
             ("predicted", report["predicted_ms"])]
    return sorted((mark for mark in marks if mark[1] is not None and low <= mark[1] <= high), key=lambda mark: mark[1])


def latency_of(run):
    """The distribution, its statistics and its scales; None where there are too few iterations for a picture."""
    if not run.report or len(run.report["iterations_ms"]) < 4:
        return None
    samples, disturbed = run.report["iterations_ms"], set(run.report["disturbed_iterations"])
    bins = histogram(samples, disturbed)
    low, step = bins[0][0], bins[0][1] - bins[0][0]
    high = low + step * len(bins)
    stride = max(1, math.ceil(len(samples) / POINTS))
    points = [(index, samples[index], index in disturbed) for index in range(0, len(samples), stride)]
    closed = bins[-1][1] is not None
    return {"bins": bins, "low": low, "high": high, "step": step, "most": max(sum(row[2:]) for row in bins),
            "ticks": [tick for tick in ticks(low, high) if closed or tick[0] <= high - step], "points": points,
            "stride": stride, "samples": len(samples), "disturbed": len(disturbed), "slowest": max(samples),
            "fastest": min(samples),
            "statistics": run.report["latency_ms"], "marks": marks_of(run.report, low, high), "open": not closed}

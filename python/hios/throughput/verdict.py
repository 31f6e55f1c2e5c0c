"""The verdict in words: what has most inputs per second, from the rows' results alone.

Two rows are equally fast within noise if the ranges of their rounds overlap. A single round shows no range: it is taken to
vary as much as one that is not distrusted."""

from hios.benchmark.disturbance import SHARE, VARIED, span
from hios.benchmark.verdict import ms_text, rate_text


def named(result):
    return f"{result['name']}, batch {result['batch']}"


def rates(result):
    """The smallest and the largest inputs per second of a row's rounds."""
    each = [1000 * result["batch"] / period for period in result["periods_ms"]]
    if len(each) == 1:
        return each[0] * (1 - VARIED / 2), each[0] * (1 + VARIED / 2)
    return min(each), max(each)


def overlap(one, other):
    (low, high), (other_low, other_high) = rates(one), rates(other)
    return low <= other_high and other_low <= high


def verdict(results):
    """The lines of the verdict."""
    most = max(results, key=lambda result: result["per_second"])
    yield (f"most inputs per second here: {named(most)}   {rate_text(most['per_second'])}  "
           f"period {ms_text(most['period_ms'])} ms  latency {ms_text(most['latency_ms'])} ms")
    equal = [result for result in results if result is not most and overlap(most, result)]
    if equal:
        yield (f"no difference measured between it and {'; '.join(map(named, equal))}: the ranges of their rounds overlap")
    yield from pipeline_or_copies(results)
    yield from disturbance(results)


def disturbance(results):
    """One line if the machine did something else meanwhile, with the rows to distrust."""
    runs, disturbed = (sum(result[key] for result in results) for key in ("samples", "disturbed"))
    varied = {named(result): 100 * (max(result["periods_ms"]) / min(result["periods_ms"]) - 1) for result in results}
    doubtful = {name: percent for name, percent in varied.items() if percent > 100 * VARIED}
    if disturbed <= SHARE * runs and not doubtful:
        return
    names = "every row" if len(doubtful) == len(results) > 1 else "; ".join(doubtful)
    distrust = f": distrust {names} (varied by {span(doubtful.values())} % between rounds)" if doubtful else ""
    yield f"the machine did something else during {disturbed} of the {runs} inferences{distrust}"


def pipeline_or_copies(results):
    """The best pipeline against the best copies; the longest block is what a pipeline waits for."""
    copies = [result for result in results if result["copies"] > 1]
    pipelines = [result for result in results if result["copies"] == 1 and result["ranks"] > 1]
    if not copies or not pipelines:
        return
    copy, pipeline = (max(each, key=lambda result: result["per_second"]) for each in (copies, pipelines))
    ratio = pipeline["per_second"] / copy["per_second"]
    if overlap(copy, pipeline):
        yield (f"pipeline or copies: no difference measured ({named(pipeline)}; {named(copy)}): the ranges of their rounds "
               "overlap")
        return
    yield (f"{'a pipeline beats copies' if ratio > 1 else 'copies beat a pipeline'}: {named(pipeline)} has {ratio:.2f}x the "
           f"inputs per second of {named(copy)}; its slowest rank computes for {ms_text(pipeline['own_ms'])} of "
           f"{ms_text(pipeline['period_ms'])} ms")

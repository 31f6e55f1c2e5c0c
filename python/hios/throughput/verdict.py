"""The verdict in words: what has most inputs per second, from the rows' results alone.

Two rows are equally fast within noise if the ranges of their rounds overlap."""

from hios.bench.verdict import ms_text, rate_text


def named(result):
    return f"{result['name']}, batch {result['batch']}"


def rates(result):
    """The smallest and the largest inputs per second of a row's rounds."""
    each = [1000 * result["batch"] / period for period in result["periods_ms"]]
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


def pipeline_or_copies(results):
    """The best pipeline against the best copies; the longest block is what a pipeline waits for."""
    copies = [result for result in results if result["copies"] > 1]
    pipelines = [result for result in results if result["copies"] == 1 and result["ranks"] > 1]
    if not copies or not pipelines:
        return
    copy, pipeline = (max(each, key=lambda result: result["per_second"]) for each in (copies, pipelines))
    ratio = pipeline["per_second"] / copy["per_second"]
    if overlap(copy, pipeline):
        yield f"pipeline or copies: no difference measured ({named(pipeline)}; {named(copy)})"
        return
    yield (f"{'a pipeline beats copies' if ratio > 1 else 'copies beat a pipeline'}: {named(pipeline)} has {ratio:.2f}x the "
           f"inputs per second of {named(copy)}; its slowest rank computes for {ms_text(pipeline['own_ms'])} of "
           f"{ms_text(pipeline['period_ms'])} ms")

"""The verdict in words, from the summary alone: each figure is one of its rows or limits.

Two rows are equally fast within noise if the middle halves of their runs (p25 to p75) overlap: then no difference was
measured, whatever their best quarters say."""

from hios.benchmark.disturbance import disturbance_line

NUMBERS = {2: "two", 3: "three", 4: "four"}
NAMED = 3  # rows that are named where there are more
BY_PATH = "critical_path"


def verdict(summary):
    """The lines of the verdict."""
    rows = summary["rows"]
    lines = [fastest_line(fastest(rows)), *equal_lines(rows), *limit_lines(summary), *threads_or_ranks(summary)]
    disturbed = disturbance_line(rows)
    return [*lines, disturbed] if disturbed else lines


def best_ms(row):
    return row["latency_ms"]["best_quarter"]


def fastest(rows):
    return min(rows, key=best_ms)


def ms_text(ms):
    """Three digits or more, five characters at most below 100 s."""
    return f"{ms:.{3 if ms < 1 else 2 if ms < 100 else 1 if ms < 1000 else 0}f}"


def rate_text(per_second):
    return f"{per_second:.{0 if per_second >= 100 else 1 if per_second >= 1 else 3}f} inputs/s"


def long_name(row):
    """A row's name in a sentence: "1 rank x 2 cores, ios"."""
    ways, algorithm = row["name"].removesuffix(", cut"), row["algorithm"]
    return ways.removesuffix(algorithm).rstrip() + ", " + algorithm + row["name"][len(ways):]


def middle_half(row):
    """The range by which rows are compared: "46.10 to 58.30 ms"."""
    return f"{ms_text(row['extra']['p25_ms'])} to {ms_text(row['extra']['p75_ms'])} ms"


def names_of(rows):
    """The rows' names and middle halves, those after the third as a number."""
    named = [f"{long_name(row)} ({middle_half(row)})" for row in rows[:NAMED]]
    if len(rows) > NAMED:
        named.append(f"{len(rows) - NAMED} more")
    return "; ".join(named)


def fastest_line(row):
    latency = row["latency_ms"]
    per_second = 1000 * row["extra"]["batch"] / best_ms(row)
    return (f"fastest here: {long_name(row)}   {ms_text(best_ms(row))} ms  p50 {ms_text(latency['median'])}  "
            f"p95 {ms_text(latency['p95'])}   {rate_text(per_second)}")


def overlap(one, other):
    """True if the middle halves of the runs overlap."""
    a, b = one["extra"], other["extra"]
    return a["p25_ms"] <= b["p75_ms"] and b["p25_ms"] <= a["p75_ms"]


def equal_lines(rows):
    first = fastest(rows)
    equal = sorted([row for row in rows if row is not first and overlap(first, row)], key=best_ms)
    if not equal:
        return
    others = "every other row" if 1 < len(equal) == len(rows) - 1 else names_of(equal)
    yield (f"no difference measured between it ({middle_half(first)}) and {others}: the middle halves of their runs overlap")


def limit_lines(summary):
    for limit in summary["extra"]["limits"]:
        if limit["ranks"] > 1:
            yield limit_line(limit, fastest([row for row in summary["rows"] if same_way(row, limit)]))


def same_way(row, limit):
    return (row["ranks"], row["threads"]) == (limit["ranks"], limit["threads"])


def limit_line(limit, row):
    """The best row of a way, and the reason why no plan there is much faster."""
    path = limit["path"]
    named = ", ".join(path["heaviest"]) + (", …" if path["operators"] > len(path["heaviest"]) else "")
    ranks = f"{NUMBERS.get(limit['ranks'], limit['ranks'])} ranks"
    cores = f" of {limit['threads']} cores" if limit["threads"] > 1 else ""
    longest = f"the longest path is {100 * path['share']:.0f} % of the work ({named})"
    below = f"no plan without cut operators is below {ms_text(limit['ms'])} ms"
    cut = f"; this one cuts {row['cut_operators']}" if row.get("cut_operators") else ""
    faster = "; this run was faster than the profile's times allow" if not cut and best_ms(row) < limit["ms"] else ""
    reason = (f"{longest}, so {below}" if limit["bound"] == BY_PATH else
              f"{longest} and takes {ms_text(path['ms'])} ms; {below} (bound: {limit['bound']})")
    return f"{ranks}{cores}: {ms_text(best_ms(row))} ms; {reason}{cut}{faster}"


def times_text(one_core, row):
    return f"{best_ms(one_core) / best_ms(row):.2f}x"


def threads_or_ranks(summary):
    rows = summary["rows"]
    threads = [row for row in rows if row["ranks"] == 1 and row["threads"] > 1]
    ranks = [row for row in rows if row["ranks"] > 1]
    if not threads or not ranks:
        return
    one_core = fastest([row for row in rows if row["ranks"] * row["threads"] == 1])
    thread, rank = fastest(threads), fastest(ranks)
    limit = next(each for each in summary["extra"]["limits"] if same_way(rank, each))
    if best_ms(one_core) <= min(best_ms(thread), best_ms(rank)) or overlap(one_core, fastest([thread, rank])):
        yield (f"neither threads nor ranks beat one core: {long_name(thread)} is {times_text(one_core, thread)} as fast, "
               f"{long_name(rank)} {times_text(one_core, rank)}")
    elif overlap(thread, rank):
        yield (f"threads or ranks: no difference measured ({names_of([thread, rank])}): the middle halves of their runs "
               "overlap")
    elif best_ms(thread) < best_ms(rank):
        yield threads_line(one_core, thread, rank, limit)
    else:
        cause = ("ranks share the operators that are cut" if rank.get("cut_operators") else
                 f"the longest path is {100 * limit['path']['share']:.0f} % of the work, and the rest can run at the same time")
        yield (f"ranks beat threads: {long_name(rank)} is {times_text(one_core, rank)} as fast as one core, "
               f"{long_name(thread)} {times_text(one_core, thread)}; {cause}")


def threads_line(one_core, thread, rank, limit):
    """The reason why threads beat ranks: the bound of ranks, or what the plan or the run lose."""
    beaten = (f"threads beat ranks: {long_name(thread)} is {times_text(one_core, thread)} as fast as one core, "
              f"{long_name(rank)} {times_text(one_core, rank)}; ")
    if rank.get("cut_operators"):
        return beaten + (f"its plan, which cuts {rank['cut_operators']} operators, takes {ms_text(rank['predicted_ms'])} ms and "
                         f"its run {ms_text(best_ms(rank))} ms")
    if limit["ms"] > best_ms(thread):
        cause = "threads share the operators of the longest path, ranks cannot: " if limit["bound"] == BY_PATH else ""
        return beaten + (f"{cause}the bound of {limit['ranks']} ranks, {ms_text(limit['ms'])} ms, is above "
                         f"{ms_text(best_ms(thread))} ms")
    return beaten + (f"by the bound {limit['ranks']} ranks could take {ms_text(limit['ms'])} ms, its plan takes "
                     f"{ms_text(rank['predicted_ms'])} ms and its run {ms_text(best_ms(rank))} ms")

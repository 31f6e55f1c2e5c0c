"""The machine's other work: how much there was, and which rows to distrust."""

from hios.bench.summary import FEWEST

SHARE = 0.1   # of all runs, from which a line is printed
VARIED = 0.1  # between a row's rounds, from which it is distrusted


def distrusted(row):
    """True if a row varied between rounds, or has too few quiet runs for its best quarter."""
    samples = row["latency_ms"]["samples"]
    quiet = samples - row["latency_ms"]["disturbed"]
    return row["extra"]["rounds_varied"] > VARIED or quiet < max(-(-samples // 4), min(FEWEST, samples // 2))


def reasons(rows):
    lowest, highest = (100 * each(row["extra"]["rounds_varied"] for row in rows) for each in (min, max))
    span = f"{highest:.0f}" if f"{lowest:.0f}" == f"{highest:.0f}" else f"{lowest:.0f} to {highest:.0f}"
    return f"varied by {span} % between rounds"


def disturbance_line(rows):
    """One line, or None for a quiet machine."""
    runs = sum(row["latency_ms"]["samples"] for row in rows)
    disturbed = sum(row["latency_ms"]["disturbed"] for row in rows)
    doubtful = [row for row in rows if distrusted(row)]
    if disturbed <= SHARE * runs and not doubtful:
        return None
    line = f"the machine did something else during {disturbed} of the {runs} runs"
    if not doubtful:
        return line
    if len(doubtful) == len(rows):
        return f"{line}: distrust every row ({reasons(rows)})"
    return f"{line}: distrust {', '.join(row['name'] for row in doubtful)} ({reasons(doubtful)})"

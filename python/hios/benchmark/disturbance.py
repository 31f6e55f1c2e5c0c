"""The machine's other work: how much there was, and which rows to distrust."""

from hios.benchmark.samples import FEWEST

SHARE = 0.1   # of all runs, from which a line is printed
VARIED = 0.1  # between a row's rounds, from which it is distrusted


def quiet_runs(row):
    return row["latency_ms"]["samples"] - row["latency_ms"]["disturbed"]


def distrusted(row):
    """True if a row varied between rounds, or was disturbed and has few other runs."""
    return row["extra"]["rounds_varied"] > VARIED or (row["latency_ms"]["disturbed"] > 0 and quiet_runs(row) < FEWEST)


def span(values, unit=""):
    lowest, highest = (f"{each(values):.0f}" for each in (min, max))
    return (lowest if lowest == highest else f"{lowest} to {highest}") + unit


def reasons(rows):
    """How the rows varied, and how few undisturbed runs they have."""
    varied = [100 * row["extra"]["rounds_varied"] for row in rows if row["extra"]["rounds_varied"] > VARIED]
    few = [quiet_runs(row) for row in rows if quiet_runs(row) < FEWEST]
    found = [f"varied by {span(varied)} % between rounds"] if varied else []
    return ", ".join([*found, *([f"{span(few)} undisturbed runs"] if few else [])])


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
    names = "every row" if len(doubtful) == len(rows) > 1 else ", ".join(row["name"] for row in doubtful)
    return f"{line}: distrust {names} ({reasons(doubtful)})"

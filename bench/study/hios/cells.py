"""The numbers of figures 7 to 11: means, deviations and bounds over the seeds of a setting; ratios are
means of the networks' own ratios. They are kept as figures.csv, which plots_simulated.py draws; the networks one by
one, simulated.csv, are not kept in the repository: `bench/study/run simulated` makes them again."""

import csv
import statistics

import simulated
from looks import ordered
from settings import FIGURES
from tables import write_table

COLUMNS = ("figure", "axis", "value", "algorithm", "seeds", "latency_ms_mean", "latency_ms_std",
           "speedup_over_sequential", "speedup_over_ios", "latency_over_hios_lp", "gap_to_bound",
           "waiting_share", "lower_bound_ms_mean")
TEXTS = ("axis", "algorithm")
DIGITS = 7  # so that what a page rounds is not rounded twice


class Cells:
    """The results by setting, algorithm and seed. An algorithm of one device has one result for all
    numbers of devices."""

    def __init__(self, store):
        self.rows = store.rows
        self.names = ordered({row["algorithm"] for row in store.rows.values()})
        self.seeds = sorted({int(row["seed"]) for row in store.rows.values()})

    def row(self, setting, name, seed):
        for many_devices in (True, False):
            at = simulated.cell_key(setting, {"name": name, "many_devices": many_devices}, seed)
            row = self.rows.get(tuple(str(at[column]) for column in simulated.KEY))
            if row:
                return row
        return None

    def latencies(self, setting, name):
        """By seed."""
        rows = {seed: self.row(setting, name, seed) for seed in self.seeds}
        return {seed: float(row["latency_ms"]) for seed, row in rows.items() if row}

    def bound(self, setting, seed):
        """The largest lower bound of all algorithms' rows for this setting."""
        rows = (self.row(setting, name, seed) for name in self.names)
        return max((float(row["lower_bound_ms"]) for row in rows
                    if row and int(row["devices"]) == setting.devices), default=None)

    def mean_waiting(self, setting, name):
        rows = (self.row(setting, name, seed) for seed in self.seeds)
        return statistics.fmean(float(row["waiting_share"]) for row in rows if row)


def mean_ratio(over, under):
    both = [over[seed] / under[seed] for seed in under if seed in over]
    return statistics.fmean(both) if both else ""


def summary(cells, figure, setting, name):
    latency = cells.latencies(setting, name)
    bounds = {seed: cells.bound(setting, seed) for seed in latency}
    bounds = {seed: bound for seed, bound in bounds.items() if bound}
    gap = mean_ratio(latency, bounds)
    return {
        "figure": figure.number, "axis": figure.axis, "value": getattr(setting, figure.axis),
        "algorithm": name, "seeds": len(latency), "latency_ms_mean": statistics.fmean(latency.values()),
        "latency_ms_std": statistics.stdev(latency.values()) if len(latency) > 1 else 0,
        "speedup_over_sequential": mean_ratio(cells.latencies(setting, "sequential"), latency),
        "speedup_over_ios": mean_ratio(cells.latencies(setting, "ios"), latency),
        "latency_over_hios_lp": mean_ratio(latency, cells.latencies(setting, "hios-lp")),
        "gap_to_bound": gap - 1 if gap else "", "waiting_share": cells.mean_waiting(setting, name),
        "lower_bound_ms_mean": mean_bound(cells, setting),
    }


def figure_rows(cells, figure):
    """A row for each algorithm and point of the figure with results."""
    return [summary(cells, figure, setting, name) for name in cells.names for setting in figure.settings()
            if cells.latencies(setting, name)]


def mean_bound(cells, setting):
    """The mean lower bound of the setting's networks; empty where no row has one."""
    known = [bound for bound in (cells.bound(setting, seed) for seed in cells.seeds) if bound]
    return statistics.fmean(known) if known else ""


def mean_bounds(rows):
    """The mean lower bound of the networks: (value of the axis, ms) for each point of a figure's rows."""
    return sorted({(row["value"], row["lower_bound_ms_mean"]) for row in rows if row["lower_bound_ms_mean"] != ""})


def write_figures(folder):
    """Writes figures.csv from simulated.csv, if that is there. Rows that figures.csv has of more networks stay."""
    cells = Cells(simulated.open_store(folder))
    made = [row for figure in FIGURES for row in figure_rows(cells, figure)]
    if not made:
        return
    rows = {}
    for row in [*(row for each in read_figures(folder).values() for row in each), *made]:
        key = row["figure"], row["value"], row["algorithm"]
        if key not in rows or rows[key]["seeds"] <= row["seeds"]:
            rows[key] = row
    write_table(folder / "figures.csv", COLUMNS, sorted(rows.values(), key=lambda row: row["figure"]), DIGITS)


def number(text):
    return text if text == "" else float(text) if "." in text or "e" in text else int(text)


def read_figures(folder):
    """The rows of figures.csv by number of the figure; none without the file."""
    found = {figure.number: [] for figure in FIGURES}
    path = folder / "figures.csv"
    if path.exists():
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                row = {column: text if column in TEXTS else number(text) for column, text in row.items()}
                found[row["figure"]].append(row)
    return found

"""The numbers of figures 7 to 11: means, deviations and bounds over the seeds of a setting; ratios are
means of the networks' own ratios. plots_simulated.py draws them."""

import statistics

import simulated
from looks import ordered

COLUMNS = ("figure", "axis", "value", "algorithm", "seeds", "latency_ms_mean", "latency_ms_std",
           "speedup_over_sequential", "speedup_over_ios", "latency_over_hios_lp", "gap_to_bound",
           "waiting_share")


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
    }


def figure_rows(cells, figure):
    """A row for each algorithm and point of the figure with results."""
    return [summary(cells, figure, setting, name) for name in cells.names for setting in figure.settings()
            if cells.latencies(setting, name)]


def mean_bounds(cells, figure):
    """The mean lower bound of the networks: (value of the axis, ms) for each point."""
    points = []
    for setting in figure.settings():
        bounds = [cells.bound(setting, seed) for seed in cells.seeds]
        bounds = [bound for bound in bounds if bound]
        if bounds:
            points.append((getattr(setting, figure.axis), statistics.fmean(bounds)))
    return points

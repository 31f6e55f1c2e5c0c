"""Figures 7 to 11: mean latency and its standard deviation over the seeds, against what varies; and the
same numbers as a table, figures.csv, with speed-ups and gaps, each the mean over the seeds' own."""

import csv
import statistics

import simulated
from settings import FIGURES
from style import look, ordered, plt, save

COLUMNS = ("figure", "axis", "value", "algorithm", "seeds", "latency_ms_mean", "latency_ms_std",
           "speedup_over_sequential", "speedup_over_ios", "latency_over_hios_lp", "gap_to_bound",
           "waiting_share")


class Cells:
    """The results, looked up by setting, algorithm and seed. An algorithm of one device stands once for
    all numbers of devices."""

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
        """The best that any algorithm's row proves for the setting itself."""
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


def draw_bound(axes, cells, figure):
    """What no schedule of these networks can beat, on average."""
    points = []
    for setting in figure.settings():
        bounds = [cells.bound(setting, seed) for seed in cells.seeds]
        bounds = [bound for bound in bounds if bound]
        if bounds:
            points.append((getattr(setting, figure.axis), statistics.fmean(bounds)))
    axes.plot(*zip(*points), color="#777777", linestyle="--", linewidth=1.2, label="lower bound")


def draw_figure(figure, rows, cells, folder):
    canvas, axes = plt.subplots()
    names = ordered({row["algorithm"] for row in rows})
    for i, name in enumerate(names):
        own = [row for row in rows if row["algorithm"] == name]
        x = [row["value"] for row in own]
        # Side by side by a little, or error bars cover each other.
        step = (x[-1] - x[0]) / max(1, len(x) - 1)
        x = [value + step * 0.03 * (i - (len(names) - 1) / 2) for value in x]
        axes.errorbar(x, [row["latency_ms_mean"] for row in own], [row["latency_ms_std"] for row in own],
                      label=name, linewidth=1.3, markersize=7 if name == "best" else 5, capsize=2,
                      elinewidth=0.8, **look(name))
    draw_bound(axes, cells, figure)
    axes.set_xticks(figure.values)
    axes.set_xlabel(figure.label)
    axes.set_ylabel("simulated latency, ms")
    axes.set_ylim(bottom=0)
    seeds = max(row["seeds"] for row in rows)
    axes.set_title(f"Mean and standard deviation over {seeds} random networks", fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, f"figure-{figure.number:02d}-{figure.axis}")


def draw(folder):
    cells = Cells(simulated.open_store(folder))
    table = []
    for figure in FIGURES:
        rows = [summary(cells, figure, setting, name) for name in cells.names for setting in figure.settings()
                if cells.latencies(setting, name)]
        if rows:
            draw_figure(figure, rows, cells, folder)
        table += rows
    if not table:
        return
    with (folder / "figures.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in table:
            writer.writerow({key: f"{value:.5g}" if isinstance(value, float) else value
                             for key, value in row.items()})

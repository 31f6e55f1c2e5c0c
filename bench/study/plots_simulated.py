"""Figures 7 to 11: mean latency and its standard deviation over the seeds, against what varies; and the
same numbers as a table, figures.csv, with speed-ups and gaps, each the mean over the seeds' own."""

import simulated
from cells import COLUMNS, Cells, figure_rows, mean_bounds
from looks import look, ordered
from settings import FIGURES
from style import plt, save
from tables import write_table


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
    bounds = mean_bounds(cells, figure)
    if bounds:
        axes.plot(*zip(*bounds), color="#777777", linestyle="--", linewidth=1.2, label="lower bound")
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
        rows = figure_rows(cells, figure)
        if rows:
            draw_figure(figure, rows, cells, folder)
        table += rows
    if table:
        write_table(folder / "figures.csv", COLUMNS, table)

"""Figures 7 to 11: mean latency and its standard deviation over the seeds, by the varied parameter. They are drawn
from figures.csv, which is written again where the networks one by one are there."""

from cells import mean_bounds, read_figures, write_figures
from looks import look, ordered
from settings import FIGURES
from style import plt, save


# Lines that are apart as latencies; schedulers for several devices differ only in their gap to the bound.
LATENCIES = ("sequential", "ios", "hios-mr", "hios-lp")
PERCENTS = (0, 1, 3, 10, 30, 100, 300)


def draw_latencies(axes, rows, bounds):
    for name in ordered({row["algorithm"] for row in rows} & set(LATENCIES)):
        own = [row for row in rows if row["algorithm"] == name]
        axes.errorbar([row["value"] for row in own], [row["latency_ms_mean"] for row in own],
                      [row["latency_ms_std"] for row in own], label=name, linewidth=1.3, markersize=5, capsize=2,
                      elinewidth=0.8, **look(name))
    if bounds:
        axes.plot(*zip(*bounds), color="#777777", linestyle="--", linewidth=1.2, label="lower bound")
    axes.set_ylabel("simulated latency, ms")
    axes.set_ylim(bottom=0)
    axes.set_title("Latency, mean and standard deviation", fontsize=10)


def draw_gaps(axes, rows):
    """Gaps in per cent, on a scale that is logarithmic from 1 % on."""
    for name in ordered({row["algorithm"] for row in rows} - {"sequential", "ios"}):
        own = [row for row in rows if row["algorithm"] == name and row["gap_to_bound"] != ""]
        axes.plot([row["value"] for row in own], [100 * row["gap_to_bound"] for row in own], label=name,
                  linewidth=1.3, markersize=7 if name == "best" else 5, **look(name))
    axes.set_yscale("symlog", linthresh=1)
    highest = axes.get_ylim()[1]
    axes.set_yticks(PERCENTS, map(str, PERCENTS))
    axes.set_ylim(-0.15, 1.3 * highest)
    axes.minorticks_off()
    axes.set_ylabel("above the lower bound, %")
    axes.set_title("Gap to the lower bound, mean", fontsize=10)


def draw_figure(figure, rows, folder):
    canvas, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0))
    draw_latencies(left, rows, mean_bounds(rows))
    draw_gaps(right, rows)
    for axes in (left, right):
        axes.set_xticks(figure.values)
        axes.set_xlabel(figure.label)
    seeds = max(row["seeds"] for row in rows)
    canvas.suptitle(f"{seeds} random networks per point", fontsize=10)
    handles = {name: handle for axes in (left, right) for handle, name in zip(*axes.get_legend_handles_labels())}
    names = ordered(handles)  # the lower bound, no algorithm, last
    right.legend([handles[name] for name in names], names, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, f"figure-{figure.number:02d}-{figure.axis}")


def draw(folder):
    write_figures(folder)
    rows = read_figures(folder)
    for figure in FIGURES:
        if rows[figure.number]:
            draw_figure(figure, rows[figure.number], folder)

"""The figure of docs/cutting.md, from cuts.csv alone: speed-ups by bandwidth, with operators cut and whole."""

from cut_calls import DEVICES, GB_PER_S, LATENCIES_US, NETWORKS
from cut_tables import Gains
from style import plt, save

COLOURS = dict(zip(DEVICES, ("#0072B2", "#D55E00", "#009E73")))
LOOKS = {"cut": ("-", "o"), "whole": ("--", "")}
LINE_US = 10  # the band reaches from the shortest latency to the longest


def points(gains, *key, latency_us):
    """(bandwidth, speed-up) of the links that have rows."""
    network, devices, operators = key
    found = ((gb_per_s, gains.speedup(network, devices, (gb_per_s, latency_us), operators)) for gb_per_s in GB_PER_S)
    return [point for point in found if point[1] is not None]


def draw_lines(axes, gains, network, devices, operators):
    line, marker = LOOKS[operators]
    middle, upper, lower = (points(gains, network, devices, operators, latency_us=latency_us)
                            for latency_us in (LINE_US, LATENCIES_US[0], LATENCIES_US[-1]))
    if not middle:
        return
    axes.plot(*zip(*middle), line, marker=marker, color=COLOURS[devices], linewidth=1.4, markersize=4,
              label=f"{devices} devices, {operators}")
    if len(upper) == len(lower) == len(middle):
        axes.fill_between([x for x, _ in middle], [y for _, y in lower], [y for _, y in upper], color=COLOURS[devices],
                          alpha=0.15, linewidth=0)


def draw_all(folder):
    gains = Gains(folder)
    if not gains.rows:
        return
    canvas, panes = plt.subplots(1, len(NETWORKS), figsize=(11.5, 3.9), sharey=True)
    for axes, network in zip(panes, NETWORKS):
        for devices in reversed(DEVICES):
            for operators in LOOKS:
                draw_lines(axes, gains, network, devices, operators)
        axes.set_xscale("log")
        axes.set_xticks(GB_PER_S, map(str, GB_PER_S))
        axes.minorticks_off()
        axes.set_title(network, fontsize=10)
        axes.set_xlabel("GB/s of a link")
    panes[0].set_ylabel("times one device, simulated")
    panes[0].set_ylim(bottom=0)
    panes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, "figure-cuts")

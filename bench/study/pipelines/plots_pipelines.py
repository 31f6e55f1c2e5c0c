"""Figures 4 and 5: seconds over operators, for three numbers of devices."""

from pipeline_calls import store_of
from style import plt, save

SHOWN = {"random-1": ("random-1", "#56B4E9", "v"), "brkga-10000": ("brkga-10000", "#0072B2", "^"),
         "bottleneck": ("bottleneck", "#E69F00", "s"), "bottleneck-guess": ("bottleneck-guess", "#D55E00", "D"),
         "exact": ("exact", "#882255", "o"), "downsets": ("down-sets", "#009E73", "*")}
DEVICES = (2, 8, 64)
TICKS = (50, 100, 200, 400, 800)
NAMES = {"networks": "figure-4", "regal": "figure-5"}


def draw(folder, part):
    rows = list(store_of(folder, part).rows.values())
    if not rows:
        return
    figure, panes = plt.subplots(1, len(DEVICES), figsize=(10, 3.8), sharey=True)
    for axes, k in zip(panes, DEVICES):
        for name, (label, colour, marker) in SHOWN.items():
            points = [(int(row["operators"]), max(float(row["seconds"]), 1e-5)) for row in rows
                      if row["row"] == name and int(row["devices"]) == k and row["seconds"] and row["operators"]
                      and "too large" not in row["outcome"]]
            axes.scatter([n for n, _ in points], [s for _, s in points], s=22, color=colour, marker=marker, label=label, alpha=0.8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(TICKS, map(str, TICKS))
        axes.minorticks_off()
        axes.set_xlim(TICKS[0] * 0.9, TICKS[-1])  # the largest graph has 640
        axes.set_title(f"{k} devices", fontsize=10)
        axes.set_xlabel("operators")
    panes[0].set_ylabel("seconds")
    panes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    save(figure, folder, NAMES[part])


def draw_all(folder):
    for part in NAMES:
        draw(folder, part)

"""Plots of the hetero study, from its CSV files alone."""

from looks import look, ordered
from style import plt, save
from summaries import part_summary

SHOWN = ("met", "greedy", "heft", "annealing", "ea", "best", "milp-split", "milp")
AS_ONE_LINE = {"milp": "--", "milp-split": ":"}  # so that overlapping lines are visible


def by_case(rows, column):
    """{algorithm: {case: value}} of rows with a value; of several limits the longest."""
    values = {}
    for row in sorted(rows, key=lambda row: row["limit_s"]):
        if row[column] != "":
            values.setdefault(row["algorithm"], {})[row["case"]] = row[column]
    return values


def bars(axes, values, cases, names):
    """A group of bars per case. Labels of cases have two lines, split at their last comma."""
    width = 0.86 / len(names)
    for index, name in enumerate(names):
        positions = [at + (index - (len(names) - 1) / 2) * width for at in range(len(cases))]
        axes.bar(positions, [values[name].get(case, 0) for case in cases], width, label=name, color=look(name)["color"])
    axes.set_xticks(range(len(cases)), ["\n".join(case.rsplit(", ", 1)) for case in cases])
    axes.grid(axis="x", visible=False)
    axes.axhline(1, color="#000000", linewidth=0.9)


def draw_speedups(folder, part, title):
    """Speed-up over the best single device."""
    rows = part_summary(folder, part)
    if not rows:
        return
    values = by_case(rows, "speedup_over_one_device")
    cases = list(dict.fromkeys(row["case"] for row in rows))
    names = [name for name in ordered(values) if name in SHOWN]
    canvas, axes = plt.subplots(figsize=(9.6, 3.8))
    bars(axes, values, cases, names)
    best = [1 + next(row["gap_to_bound"] for row in rows if row["case"] == case and row["algorithm"] == "sequential")
            for case in cases]
    axes.hlines(best, [at - 0.45 for at in range(len(cases))], [at + 0.45 for at in range(len(cases))], color="#777777",
                linestyle="--", linewidth=1.2, label="upper bound")
    axes.set_ylabel("times the best device")
    seeds = max(row["seeds"] for row in rows)
    axes.set_title(f"{title}: means of {seeds} problems", fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, part)


def draw_over_time(folder):
    rows = part_summary(folder, "figure-7")
    if not rows:
        return
    cases = list(dict.fromkeys(row["case"] for row in rows))
    canvas, panes = plt.subplots(1, len(cases), figsize=(9.6, 4.0), sharey=True)
    for axes, case in zip(panes, cases):
        own = [row for row in rows if row["case"] == case]
        for name in [name for name in ordered({row["algorithm"] for row in own}) if name in SHOWN]:
            points = sorted((row["seconds"], row["inputs_per_s"]) for row in own if row["algorithm"] == name)
            axes.plot(*zip(*points), label=name, linewidth=1.3, markersize=6, linestyle=AS_ONE_LINE.get(name, "-"), **look(name))
        axes.axhline(1000 * 16 / max(row["lower_bound_ms"] for row in own), color="#777777", linestyle="--", linewidth=1,
                     label="upper bound")
        axes.set_xscale("log")
        axes.set_xlabel("seconds")
        axes.set_title(case.split(", ")[-1], fontsize=10)
    panes[0].set_ylabel("inputs per second")
    panes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, "figure-7")


def draw_moirai(folder):
    """Speed-up over m-sct, with a pane for each scenario and coarsening."""
    rows = part_summary(folder, "figure-10")
    if not rows:
        return
    sides = [(scenario, kind) for kind in ("original", "coarsened") for scenario in ("inter-server", "intra-server")]
    canvas, panes = plt.subplots(2, 2, figsize=(12.0, 6.4), sharey=True)
    for axes, (scenario, kind) in zip(panes.flat, sides):
        own = [{**row, "case": row["case"].split(", ")[0]} for row in rows if row["case"].endswith(f"{scenario}, {kind}")]
        latency = by_case(own, "latency_ms")
        cases = list(dict.fromkeys(row["case"] for row in own))
        names = [name for name in ordered(latency) if name not in ("m-sct", "greedy")]
        base = latency.get("m-sct", {})
        values = {name: {case: base[case] / latency[name][case] for case in latency[name] if case in base} for name in names}
        bars(axes, values, cases, names)
        axes.set_xticks(range(len(cases)), [case.replace("_", "\n").replace(" ", "\n") for case in cases], fontsize=7)
        axes.set_title(f"{scenario}, {kind}", fontsize=10)
    for axes in panes[:, 0]:
        axes.set_ylabel("times m-sct")
    panes[0, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, "figure-10")


def draw_all(folder):
    draw_speedups(folder, "figure-3", "Figure 3, one input")
    draw_speedups(folder, "figure-4", "Figure 4, one module, one input")
    draw_speedups(folder, "figure-5", "Figure 5, 128 inputs at once")
    draw_speedups(folder, "figure-6", "Figure 6, one module, 16 inputs at once")
    draw_over_time(folder)
    draw_moirai(folder)

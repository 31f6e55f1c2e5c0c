"""Figures 1, 2, 12, 13 and 14 from the measurements, and the table of figures 12 to 14 (networks.csv)."""

import contention
from looks import look
from measured import COLUMNS, Measured, table
from style import plt, save
from tables import write_table

TITLES = {"inception_v3": "Inception-v3", "nasnet_large": "NASNet-A large"}


def image_axis(axes, sizes):
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("image height and width, pixels")


def draw_ratio(store, folder, name, label, note):
    rows = sorted(store.rows.values(), key=lambda row: int(row["pixels"]))
    if not rows:
        return
    canvas, axes = plt.subplots()
    x, y = [int(row["pixels"]) for row in rows], [float(row["ratio"]) for row in rows]
    axes.plot(x, y, color="#0072B2", marker="o", zorder=3)
    beyond = [(a, b) for a, b, row in zip(x, y, rows) if row.get("beyond_measured_sizes") == "1"]
    if beyond:
        axes.plot(*zip(*beyond), color="#0072B2", marker="o", markerfacecolor="white", linestyle="none",
                  zorder=4, label="message larger than 16 MiB: extrapolated")
        axes.legend(loc="best")
    if note:
        axes.axhline(1, color="#D55E00", linewidth=1, linestyle="--")
        axes.annotate(note, (x[-1], 1), xytext=(0, 4), textcoords="offset points", ha="right",
                      color="#D55E00", fontsize=9)
    axes.set_ylabel(label)
    axes.set_ylim(0, max(y + [1.0] if note else y) * 1.15)
    image_axis(axes, x)
    save(canvas, folder, name)


def draw_contention(folder):
    together, sent = contention.open_stores(folder)
    draw_ratio(together, folder, "figure-01-contention", "two convolutions: concurrently /\none after the other",
               "above: one after the other is faster")
    draw_ratio(sent, folder, "figure-02-transfer", "sending the image / convolving it", "")


def label(row):
    algorithm, machine = row.split()
    ranks, threads = machine.split("x")
    return f"{algorithm}, one rank, {threads} cores" if threads != "1" else algorithm


def row_look(row):
    if row.endswith("x1"):
        return {**look(row.split()[0]), "linestyle": "-"}
    return {**look(row.split()[0]), "linestyle": ":", "markerfacecolor": "white"}


# Lines that are apart; a line near one of them is drawn as a difference from it.
APART = ("sequential 1x1", "hios-lp 2x1", "sequential 1x2")


def neighbour(row):
    """The line of APART with which a row is compared: the one on the same ranks and cores."""
    return next((name for name in APART if name.split()[1] == row.split()[1] and name != row), None)


def draw_latency(measured, network, folder):
    """Figure 12: latency divided by that of sequential on one core, so that all sizes share a scale."""
    canvas, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.0))
    sizes, rows = measured.sizes(network), measured.rows(network)
    for row in APART:
        if row in rows:
            medians, low, high = zip(*measured.relative(network, row))
            left.errorbar(sizes, medians, [low, high], label=label(row), linewidth=1.3, markersize=5, capsize=2,
                          elinewidth=0.8, **row_look(row))
    others = [row for row in rows if neighbour(row) in rows]
    right.axhline(0, color="#777777", linewidth=1)
    for i, row in enumerate(others):
        difference, low, high = zip(*measured.difference(network, row, neighbour(row)))
        # Shifted slightly, so that error bars do not overlap.
        x = [size * 1.03 ** (i - (len(others) - 1) / 2) for size in sizes]
        right.errorbar(x, difference, [low, high], label=label(row), markersize=6, capsize=2, elinewidth=1,
                       **{**row_look(row), "linestyle": "none"})
    left.set_ylim(0, 1.15)
    left.set_ylabel("measured latency / sequential on one core")
    right.set_ylabel("difference, %")
    for axes, title in ((left, "Latency"), (right, "Difference from hios-lp; of ios, from sequential")):
        image_axis(axes, sizes)
        axes.margins(x=0.08)
        axes.set_title(title, fontsize=10)
    runs = len(measured.samples[network, sizes[0], "sequential 1x1"])
    canvas.suptitle(f"{TITLES[network]}: median and quartiles of {runs} runs", fontsize=10)
    left.legend(loc="lower left")
    right.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, f"figure-12-{network}")


def draw_gain(measured, folder):
    """Figure 13: the smallest and the largest image of each network."""
    cases = measured.extremes()
    canvas, all_axes = plt.subplots(1, len(cases), figsize=(3.1 * len(cases), 3.8), squeeze=False)
    for axes, (network, pixels) in zip(all_axes[0], cases):
        rows = measured.rows(network)
        bars = axes.barh([label(row) for row in rows], [measured.median(network, pixels, row) for row in rows],
                         xerr=list(zip(*(measured.quartiles_off(network, pixels, row) for row in rows))),
                         capsize=2, height=0.7, error_kw={"elinewidth": 0.8})
        for bar, row in zip(bars, rows):
            bar.set_color(look(row.split()[0])["color"])
            bar.set_alpha(1.0 if row.endswith("x1") else 0.45)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("measured latency, ms")
        axes.set_title(f"{TITLES[network]}, {pixels} x {pixels}", fontsize=10)
        if axes is not all_axes[0][0]:
            axes.set_yticklabels([])
    save(canvas, folder, "figure-13-gain")


def coinciding(lines, within=0.03):
    """Groups of names whose lines, {name: values}, are everywhere within this distance of the first one's."""
    groups = []
    for name, values in lines.items():
        for group in groups:
            if all(abs(a / b - 1) <= within for a, b in zip(values, lines[group[0]])):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def draw_cost(measured, folder):
    """Figure 14: the time of an algorithm's measurements and of its scheduler. Lines that coincide in all networks are
    one line."""
    costs = {(row, network): measured.cost_s(network, row)
             for network in measured.networks for row in measured.rows(network)}
    rows = [row for row in measured.rows(measured.networks[0])
            if all(costs.get((row, network)) for network in measured.networks)]
    groups = coinciding({row: [s for network in measured.networks for s in costs[row, network]] for row in rows})
    canvas, all_axes = plt.subplots(1, len(measured.networks), figsize=(3.2 + 3.2 * len(measured.networks), 3.8),
                                    squeeze=False, sharey=True)
    for axes, network in zip(all_axes[0], measured.networks):
        sizes = measured.sizes(network)
        for group in groups:
            axes.plot(sizes, costs[group[0], network], label=", ".join(map(label, group)), linewidth=1.3,
                      markersize=5, **row_look(group[-1]))
        image_axis(axes, sizes)
        axes.margins(x=0.12)
        axes.set_yscale("log")
        if axes is all_axes[0][0]:
            axes.set_ylabel("measuring and scheduling, s")
        axes.set_title(TITLES[network], fontsize=10)
    all_axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, "figure-14-cost")


def draw_networks(folder):
    measured = Measured(folder)
    if not measured.networks:
        return
    for network in measured.networks:
        if len(measured.sizes(network)) > 1:
            draw_latency(measured, network, folder)
    draw_gain(measured, folder)
    draw_cost(measured, folder)
    write_table(folder / "networks.csv", COLUMNS, table(measured))

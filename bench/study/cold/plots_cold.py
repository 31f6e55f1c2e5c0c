"""Plots of the study of cold starts, from its CSV files alone."""

from cold_tables import PAPERS, ROWS, Answers
from decoders import MODELS, SHAPES
from style import plt, save

LOOKS = {"critical path": "#BBBBBB", "efficient-mip": "#E69F00", "pipelined": "#000000", "deepplan": "#56B4E9",
         "deepplan, interleaved": "#0072B2", "sortinghat": "#D55E00", "best": "#009E73"}
TITLES = {"v100": "4 V100, two PCIe buses", "v100-hetero": "2 V100 and 2 slow ones", "a6000": "3 A6000",
          "p4d": "8 A100, four PCIe buses"}
CASES = [(model.name, shape) for model in MODELS for shape in SHAPES]
ABLATED = (("sortinghat", "", "#D55E00"), ("own bus for each GPU", "own_bus=true", "#56B4E9"),
           ("mean speeds", "mean_speeds=true", "#999933"))


def bars(axes, series):
    """A group of bars for each model and shape; `series`: (label, colour, values by case). Missing cases have no bar."""
    width = 0.86 / len(series)
    for index, (label, colour, values) in enumerate(series):
        positions = [at + (index - (len(series) - 1) / 2) * width for at in range(len(CASES))]
        axes.bar(positions, [values.get(case, 0) for case in CASES], width, label=label, color=colour)
    axes.set_xticks(range(len(CASES)), [f"{batch}, {sequence}" for _, (batch, sequence) in CASES], fontsize=8)
    for index, model in enumerate(MODELS):
        middle = index * len(SHAPES) + (len(SHAPES) - 1) / 2
        axes.annotate(model.name, (middle, 0), (0, -24), ("data", "axes fraction"), "offset points", ha="center", fontsize=9)
        if index:
            axes.axvline(index * len(SHAPES) - 0.5, color="#999999", linewidth=0.7)
    axes.set_xlim(-0.6, len(CASES) - 0.4)
    axes.grid(axis="x", visible=False)
    axes.axhline(1, color="#000000", linewidth=0.9)
    axes.set_ylabel("times load-then-run")


def by_case(rows, column="over_load_then_run"):
    return {(row["model"], (int(row["batch"]), int(row["sequence"]))): float(row[column]) for row in rows if row[column]}


def most(rows):
    """The largest speed-up that the bound leaves, by case."""
    return {(row["model"], (int(row["batch"]), int(row["sequence"]))): float(row["latency_ms"]) / float(row["bound_ms"])
            for row in rows}


def draw_starts(folder, servers, name):
    """Fig. 9, or the same for another server."""
    answers = Answers(folder, "starts")
    servers = [server for server in servers if answers.of(server, ROWS["load-then-run"])]
    if not servers:
        return
    canvas, panes = plt.subplots(len(servers), 1, figsize=(9.6, 2.5 * len(servers)), squeeze=False)
    for axes, server in zip(panes[:, 0], servers):
        bars(axes, [(label, colour, by_case(answers.of(server, ROWS[label]))) for label, colour in LOOKS.items()])
        limits = most(answers.of(server, ROWS["load-then-run"]))
        known = [(at, limits[case]) for at, case in enumerate(CASES) if case in limits]
        axes.hlines([value for _, value in known], [at - 0.45 for at, _ in known], [at + 0.45 for at, _ in known],
                    color="#777777", linestyle="--", linewidth=1.2, label="no plan is above")
        axes.set_title(TITLES[server], fontsize=10)
    panes[0, 0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, name)


def draw_ablations(folder):
    """Fig. 13."""
    starts, ablations = Answers(folder, "starts"), Answers(folder, "ablations")
    servers = [server for server in ("v100", "v100-hetero") if ablations.rows and starts.of(server, ROWS["sortinghat"])]
    if not servers:
        return
    canvas, panes = plt.subplots(len(servers), 1, figsize=(10.0, 2.8 * len(servers)), squeeze=False)
    for axes, server in zip(panes[:, 0], servers):
        bars(axes, [(name, colour, by_case((ablations if option else starts).of(server, ("sortinghat", option))))
                    for name, option, colour in ABLATED])
        axes.set_title(TITLES[server], fontsize=10)
    panes[0, 0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    save(canvas, folder, "figure-cold-ablations")


def draw_all(folder):
    draw_starts(folder, PAPERS, "figure-cold-starts")
    draw_starts(folder, ("p4d",), "figure-cold-p4d")
    draw_ablations(folder)

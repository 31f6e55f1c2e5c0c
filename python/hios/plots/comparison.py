"""The picture of a comparison (format hios-comparison): a bar for each row, or, for several numbers of devices, a line for each
algorithm; the lower bound is dashed."""

from dataclasses import dataclass, field

from hios.files import written_whole

BLUE, GREY, BLACK = "#2166ac", "#888888", "#000000"
LINES = ("#2166ac", "#b2182b", "#1b7837", "#e08214", "#762a83", "#35978f", "#8c510a", "#c51b7d", "#4d4d4d", "#7fbc41")
MARKS = "os^vDPX*<>"


def name_of(row):
    return row["algorithm"] + (" (given)" if "given" in row else "")


def value_key(results):
    """The key of the number that rows are compared by, and its name."""
    if results["objective"] == "throughput":
        return "period_ms", "period, ms from one inference to the next"
    return "latency_ms", "latency in ms"


@dataclass
class Line:
    """An algorithm's numbers of devices and values, in order."""
    name: str
    points: list = field(default_factory=list)


@dataclass
class Picture:
    """The numbers of a picture, before anything is drawn."""
    title: str
    axis: str
    devices: list                               # numbers of devices, ascending
    lines: list                                 # an algorithm each, in the order of the rows
    bounds: dict = field(default_factory=dict)  # number of devices: the lower bound, where one is known
    refused: list = field(default_factory=list)

    @property
    def is_sweep(self):
        return len(self.devices) > 1


def picture_of(results):
    key, axis = value_key(results)
    rows = results["comparison"]
    devices = sorted({row["devices"] for row in rows})
    lines, bounds, refused = {}, {}, []
    for row in rows:
        if key not in row:
            refused.append(f"{name_of(row)} on {row['devices']}" if len(devices) > 1 else name_of(row))
            continue
        lines.setdefault(name_of(row), Line(name_of(row))).points.append((row["devices"], row[key]))
        if row["bound"] != "none":
            bounds[row["devices"]] = max(row["lower_bound_ms"], bounds.get(row["devices"], 0))
    for line in lines.values():
        line.points.sort()
    count = f"{devices[0]} devices" if len(devices) == 1 else "several numbers of devices"
    if devices == [1]:
        count = "1 device"
    return Picture(f"{results['graph']['name']}, {count}", axis, devices, list(lines.values()), bounds, refused)


def plain(text):
    """The text for Matplotlib, which takes dollar signs for the ends of formulas."""
    return text.replace("$", "\\$")


def draw_bars(axes, picture):
    values = [line.points[0][1] for line in picture.lines]
    at = range(len(values))
    bars = axes.barh(list(at), values, color=[GREY if line.name.endswith("(given)") else BLUE for line in picture.lines])
    axes.bar_label(bars, labels=[f"{value:.3g}" for value in values], padding=3, fontsize=8)
    axes.set_yticks(list(at), [plain(line.name) for line in picture.lines])
    axes.invert_yaxis()
    axes.set_xlabel(picture.axis)
    axes.margins(x=0.12)
    for bound in picture.bounds.values():
        axes.axvline(bound, color=BLACK, linestyle="--", linewidth=1)
        axes.annotate(f"lower bound {bound:.4g}", (bound, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                      textcoords="offset points", ha="center", fontsize=8)


def draw_lines(axes, picture):
    for i, line in enumerate(picture.lines):
        axes.plot(*zip(*line.points), label=plain(line.name), color=LINES[i % len(LINES)],
                  marker=MARKS[i // len(LINES) % len(MARKS)])
    if picture.bounds:
        axes.plot(*zip(*sorted(picture.bounds.items())), label="lower bound", color=BLACK, linestyle="--")
    axes.set_xticks(picture.devices, [str(count) for count in picture.devices])
    axes.set_xlabel("devices")
    axes.set_ylabel(picture.axis)
    axes.set_ylim(bottom=0)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)


def draw(results, file):
    """Draws the rows into a file, whose ending says its format. The file is written whole or not at all."""
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "hios", "pdf.fonttype": 42})
    from matplotlib import pyplot

    picture = picture_of(results)
    height = 4 if picture.is_sweep else 1.2 + 0.3 * max(4, len(picture.lines))
    figure, axes = pyplot.subplots(figsize=(8, height))
    (draw_lines if picture.is_sweep else draw_bars)(axes, picture)
    axes.set_title(plain(picture.title), fontsize=10, pad=16)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if picture.refused:
        figure.text(0.01, 0.005, plain("refused: " + ", ".join(picture.refused)), fontsize=7, color=GREY)
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    try:
        with written_whole(file) as part:
            figure.savefig(part, format=file.suffix[1:], bbox_inches="tight", dpi=150, metadata=dated.get(file.suffix[1:]))
    finally:
        pyplot.close(figure)

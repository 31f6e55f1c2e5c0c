"""The picture of a schedule's timeline: a lane for each stream of each device."""

import importlib.util

from hios.errors import InputError
from hios.planning.numbers import short
from hios.plots.comparison import BLACK, BLUE, LINES, plain

SMALLEST_NAMED = 0.02  # share of the width from which a box has its name in it


def draw_timeline(schedule, axes=None):
    """Draws into given axes or a figure of its own. Returns the axes."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("plot() draws by Matplotlib, which is not installed: pip install matplotlib")
    if axes is not None and not hasattr(axes, "barh"):
        raise InputError(f"plot() draws into axes of Matplotlib, not {short(axes)}")
    timeline, lanes = schedule.timeline(), {}
    for stage in timeline:
        for g in range(len(stage.groups)):
            lanes.setdefault((stage.device, g), None)
    order = [(device, g) for device in schedule.platform.devices
             for g in range(max((lane[1] + 1 for lane in lanes if lane[0] == device), default=1))]
    at = {lane: i for i, lane in enumerate(order)}
    if axes is None:
        from matplotlib import pyplot
        _, axes = pyplot.subplots(figsize=(9, 1.2 + 0.4 * len(order)))
    devices = schedule.platform.devices
    for stage in timeline:
        colour = LINES[devices.index(stage.device) % len(LINES)] if len(devices) > 1 else BLUE
        for g, group in enumerate(stage.groups):
            width = stage.end_ms - stage.start_ms
            axes.barh(at[stage.device, g], width, left=stage.start_ms, color=colour, edgecolor="white", linewidth=0.5)
            if width >= SMALLEST_NAMED * timeline.latency_ms:
                axes.text(stage.start_ms + width / 2, at[stage.device, g], plain(" ".join(group)), ha="center", va="center",
                          fontsize=6, color="white", clip_on=True)
    axes.set_yticks(range(len(order)), [plain(device if g == 0 else f"stream {g}") for device, g in order])
    axes.invert_yaxis()
    axes.set_xlabel("ms")
    axes.set_title(plain(f"{schedule.graph.name}: {schedule.algorithm}, {schedule.latency_ms:.3f} ms"), fontsize=10)
    if schedule.lower_bound_ms > 0:
        axes.axvline(schedule.lower_bound_ms, color=BLACK, linestyle="--", linewidth=1)
    return axes

#!/usr/bin/env python3
"""Draws a trace of hios-run or hios-schedule as a picture: planned and measured lanes, an arrow per
message. Perfetto shows the same file with all names; this is for papers and for a quick look.

Needs matplotlib (Debian: python3-matplotlib, for /usr/bin/python3).
"""

import argparse
import json
import sys
from pathlib import Path


def read_trace(file):
    """Slices as (process, lane, name, start ms, length ms), arrows as pairs of (process, lane, ms)."""
    events = json.loads(Path(file).read_text())["traceEvents"]
    processes, lanes = {}, {}
    for event in events:
        if event["ph"] == "M" and event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        if event["ph"] == "M" and event["name"] == "thread_name":
            lanes[event["pid"], event["tid"]] = event["args"]["name"]
    where = {key: (processes[key[0]], name) for key, name in lanes.items()}
    slices = [(*where[e["pid"], e["tid"]], e["name"], e["ts"] / 1e3, e["dur"] / 1e3)
              for e in events if e["ph"] == "X"]
    ends = {}
    for event in events:
        if event["ph"] in "sf":
            ends.setdefault(event["id"], {})[event["ph"]] = (*where[event["pid"], event["tid"]], event["ts"] / 1e3)
    return slices, [(pair["s"], pair["f"]) for pair in ends.values() if len(pair) == 2]


IN_FLIGHT = "in flight"
INFERENCES = ("#7fb2e5", "#6fbf73", "#e5a97f", "#b08fd3", "#d3cf6f", "#8fd3dd")


def from_their_start(slices):
    """The start of the first inference in the trace."""
    first = min((start for process, _, _, start, _ in slices if process == IN_FLIGHT), default=0)
    return [(process, lane, name, start - (first if process == IN_FLIGHT else 0), length)
            for process, lane, name, start, length in slices]


def color(name):
    """The colour of a slice, by its kind; of several inferences in flight ("12: conv_7"), by inference."""
    if name.split(":")[0].isdigit():
        return INFERENCES[int(name.split(":")[0]) % len(INFERENCES)]
    kind_of = name.split(" ")[0].rsplit("/", 1)[-1]  # a shard is named after its layer: "stem/conv1/conv [0, 56)"
    kinds = {"conv": "#7fb2e5", "sepconv": "#8fd3dd", "pool": "#6fbf73", "concat": "#c9b84a",
             "sum": "#c9b84a", "waiting": "0.88"}
    return next((c for kind, c in kinds.items() if kind_of.startswith(kind)), "tab:gray")


INCHES, LETTER = 12, 0.065  # of the picture, and of a letter of a name


def shown(name, inches):
    """The longest form of a name that fits: all of it, its end, a shard's rows, nothing."""
    layer, _, rows = name.partition(" ")
    parts = layer.split("/")
    forms = [" ".join(filter(None, ("/".join(parts[first:]), rows))) for first in range(max(1, len(parts) - 1))]
    return next((form for form in [*forms, rows] if len(form) * LETTER < inches), "")


def lane_label(key, lanes):
    """"planned rank 0", with its stream only if another lane of that rank has another one."""
    process, lane = key
    owner = lane.removesuffix(" stream 0")
    alone = sum(p == process and other.startswith(owner + " stream") for p, other in lanes) == 1
    return f"{process} {owner if alone else lane}"


def draw(slices, arrows, output):
    import matplotlib  # imported here, so that reading a trace does not need it
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    slices = from_their_start(slices)
    lanes = sorted({(process, lane) for process, lane, *_ in slices}, key=lambda key: (key[0] != "planned", key[1]))
    height = {key: -i for i, key in enumerate(lanes)}
    end = max((start + length for *_, start, length in slices), default=0)
    figure, axes = plt.subplots(figsize=(INCHES, 0.8 + 0.6 * len(lanes)))
    for process, lane, name, start, length in slices:
        axes.broken_barh([(start, length)], (height[process, lane] - 0.35, 0.7), facecolor=color(name),
                         edgecolor="white", linewidth=0.4)
        axes.text(start + length / 2, height[process, lane], shown(name, INCHES * 0.87 * length / end if end else 0),
                  ha="center", va="center", fontsize=8)
    for (p1, l1, t1), (p2, l2, t2) in arrows:
        axes.annotate("", xy=(t2, height[p2, l2]), xytext=(t1, height[p1, l1]),
                      arrowprops={"arrowstyle": "->", "color": "tab:red", "linewidth": 0.7, "alpha": 0.7})
    axes.set_yticks(list(height.values()), [lane_label(lane, lanes) for lane in lanes])
    many = any(process == IN_FLIGHT for process, _ in lanes)
    axes.set_xlabel("ms from the start of the iteration" + (", or of the first inference shown" if many else ""))
    axes.margins(x=0.01)
    figure.tight_layout()
    figure.savefig(output, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=" ".join(__doc__.split("\n\n")[0].split()))
    parser.add_argument("trace", type=Path, help="the file of --trace")
    parser.add_argument("output", type=Path, help="the picture to write, .png or .svg")
    args = parser.parse_args()
    try:
        trace = read_trace(args.trace)
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{args.trace}: cannot be read as a trace ({error})")
    try:
        draw(*trace, args.output)
    except ModuleNotFoundError as error:
        # Debian's package is for Debian's Python only; another Python that is first in PATH does not see it.
        sys.exit(f"{sys.executable} has no {error.name}: call scripts/setup.sh --bench once, then "
                 f"/usr/bin/python3 {sys.argv[0]} {args.trace} {args.output}")
    except (OSError, ValueError) as error:
        sys.exit(f"{args.output}: cannot be written ({error})")


if __name__ == "__main__":
    main()

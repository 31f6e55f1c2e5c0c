"""The goals on GPUs, each met, missed or not measured, by the numbers of a results file."""

from dataclasses import dataclass

from target import NETWORKS, SIZES

MATH = "fp32"
IOS_GAIN = 1.1
IOS_NETWORKS = ("inception_v3", "nasnet_large", "randwire_large")
# On one GPU a smaller copy takes about as long as the message between two processes that lets it start.
COPY_SHARE, COPY_FROM_BYTES = 0.9, 64 << 20
PREDICTION_ERROR = 0.05
PREDICTED_ROWS = ("sequential", "ios")


@dataclass(frozen=True)
class Goal:
    """A goal. `met`: None if it was not measured."""

    name: str
    met: bool | None
    found: str

    @property
    def word(self):
        return {True: "met", False: "MISSED", None: "not measured"}[self.met]


def best(rows, network, name):
    """A row's best quarter at the network's default size, in the main table's arithmetic; None without it."""
    for row in rows:
        if (row["network"], row["size"], row["math"], row["row"]) == (network, SIZES[network]["default"], MATH, name):
            return row.get("latency_ms", {}).get("best_quarter")
    return None


def compared(name, numerator, denominator, limit):
    """A goal that is met if numerator / denominator is at least the limit."""
    if numerator is None or denominator is None:
        return Goal(name, None, "-")
    return Goal(name, numerator / denominator >= limit, f"{numerator / denominator:.2f}x")


def goals(document):
    rows = document["parts"].get("latency", {}).get("rows", [])
    found = [compared(f"{network}: sequential with graphs takes no longer than PyTorch with CUDA graphs",
                      best(rows, network, "torch graphs"), best(rows, network, "sequential"), 1.0)
             for network in NETWORKS]
    found += [compared(f"{network}: ios at least {IOS_GAIN}x faster than sequential",
                       best(rows, network, "sequential"), best(rows, network, "ios"), IOS_GAIN)
              for network in IOS_NETWORKS]
    found += [share_of_copy(document["parts"].get("transfer", {}), path) for path in ("ipc", "cuda-aware")]
    found += [prediction(rows, network) for network in NETWORKS]
    return found


def prediction(rows, network):
    name = f"{network}: prediction within {100 * PREDICTION_ERROR:.0f} % (sequential and ios)"
    errors = [row["prediction_error"] for row in rows
              if (row["network"], row["size"], row["math"]) == (network, SIZES[network]["default"], MATH)
              and row["row"] in PREDICTED_ROWS and "prediction_error" in row]
    if len(errors) < len(PREDICTED_ROWS):
        return Goal(name, None, "-")
    worst = max(errors, key=abs)
    return Goal(name, abs(worst) <= PREDICTION_ERROR, f"{100 * worst:+.1f} %")


def shares(transfer, path, clock="device_ms"):
    """[(bytes, raw copy's time / the path's time)] for the sizes of both."""
    raw = {point["bytes"]: point[clock] for point in transfer.get("raw", {}).get("d2d", [])}
    points = transfer.get("paths", {}).get(path, {}).get("points", [])
    return [(point["bytes"], raw[point["bytes"]] / point["ms"]) for point in points if point["bytes"] in raw]


def share_of_copy(transfer, path):
    """The goal of a path, by its worst size, compared with copies in a row: the strictest reading."""
    name = f"{path}: at least {100 * COPY_SHARE:.0f} % of a raw device copy from {COPY_FROM_BYTES >> 20} MB on"
    large = [(size, share) for size, share in shares(transfer, path) if size >= COPY_FROM_BYTES]
    if not large:
        return Goal(name, None, "-")
    size, share = min(large, key=lambda pair: pair[1])
    good = [size for size, share in large if share >= COPY_SHARE]
    since = f"; reached at {', '.join(f'{size >> 20} MB' for size in good)}" if good else ""
    return Goal(name, share >= COPY_SHARE, f"worst {100 * share:.0f} % at {size >> 20} MB{since}")

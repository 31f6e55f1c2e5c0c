"""Networks that consist of weights: a chain of 1x1 convolutions over one pixel, whose weights are a multiple of a core's
share of the caches: its L2 cache and its share of the common cache. Each copy of such a network holds all weights, a
pipeline holds them once in total. If only the latter fits, copies read weights from memory for each inference, and the
pipeline does not."""

from pathlib import Path

CHANNELS = 1024
PIXELS = 1  # height and width
FACTORS = (0.5, 1, 1.5, 2, 4)
CACHE_BYTES = 1 << 21  # if the system does not report it
BYTES = 4


def cores_in(text):
    """The number of cores in a list in the system's format: "0-3,8"."""
    ranges = [list(map(int, one.split("-"))) for one in text.split(",")]
    return sum(one[-1] - one[0] + 1 for one in ranges)


def cache_bytes(folder=Path("/sys/devices/system/cpu/cpu0/cache")):
    """A core's share of all caches from the second level on."""
    units = {"K": 1 << 10, "M": 1 << 20}
    total = 0
    for index in sorted(folder.glob("index*")):
        try:
            level = int((index / "level").read_text())
            size = (index / "size").read_text().strip()
            if level >= 2:
                total += int(size[:-1]) * units[size[-1]] // cores_in((index / "shared_cpu_list").read_text())
        except (OSError, ValueError, KeyError, IndexError):
            continue
    return total or CACHE_BYTES


def name_of(factor):
    return f"weights-{factor:g}"


def network(factor, share_bytes):
    """The network as a hios-model."""
    convolutions = max(2, round(factor * share_bytes / (CHANNELS * CHANNELS * BYTES)))
    layers, before = [], "input"
    for i in range(convolutions):
        layers.append({"name": f"conv_{i}", "type": "Conv", "inputs": [before], "out_channels": CHANNELS,
                       "kernel_shape": [1, 1]})
        before = f"conv_{i}"
    return {"format": "hios-model", "version": 1, "name": name_of(factor).replace("-", "_").replace(".", "_"),
            "input": {"shape": [1, CHANNELS, PIXELS, PIXELS]}, "layers": layers}

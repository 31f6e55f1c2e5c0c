"""Networks that are all weights: a chain of 1x1 convolutions over one pixel, whose weights are so many times what the
caches hold for each core: its L2 cache and its part of the cache that cores share. Copies of such a network hold its
weights once each, a pipeline once in all: where only the latter fit, they are read from memory for each inference in the
one case and not in the other."""

from pathlib import Path

CHANNELS = 1024
PIXELS = 1  # high and wide
FACTORS = (0.5, 1, 1.5, 2, 4)
CACHE_BYTES = 1 << 21  # where the system does not say
BYTES = 4


def cores_in(text):
    """Of a list as the system writes it: "0-3,8"."""
    ends = [list(map(int, part.split("-"))) for part in text.split(",")]
    return sum(part[-1] - part[0] + 1 for part in ends)


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
    """As a hios-model."""
    convolutions = max(2, round(factor * share_bytes / (CHANNELS * CHANNELS * BYTES)))
    layers, before = [], "input"
    for i in range(convolutions):
        layers.append({"name": f"conv_{i}", "type": "Conv", "inputs": [before], "out_channels": CHANNELS,
                       "kernel_shape": [1, 1]})
        before = f"conv_{i}"
    return {"format": "hios-model", "version": 1, "name": name_of(factor).replace("-", "_").replace(".", "_"),
            "input": {"shape": [1, CHANNELS, PIXELS, PIXELS]}, "layers": layers}

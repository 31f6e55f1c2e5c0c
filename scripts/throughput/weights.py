"""Networks that are all weights: a chain of 1x1 convolutions over a few pixels, whose weights are so many times a
core's L2 cache. One core reads them again from slower memory for each inference where they do not fit; two cores that
share them may not have to."""

from pathlib import Path

CHANNELS = 128
PIXELS = 2  # high and wide
FACTORS = (0.5, 1, 1.5, 2, 3, 4)
L2_BYTES = 1 << 20  # where the system does not say
BYTES = 4


def l2_bytes(cache=Path("/sys/devices/system/cpu/cpu0/cache/index2/size")):
    """Of one core."""
    units = {"K": 1 << 10, "M": 1 << 20}
    try:
        text = cache.read_text().strip()
        return int(text[:-1]) * units[text[-1]]
    except (OSError, ValueError, KeyError, IndexError):
        return L2_BYTES


def name_of(factor):
    return f"weights-{factor:g}"


def network(factor, cache_bytes):
    """As a hios-model."""
    convolutions = max(2, round(factor * cache_bytes / (CHANNELS * CHANNELS * BYTES)))
    layers, before = [], "input"
    for i in range(convolutions):
        layers.append({"name": f"conv_{i}", "type": "Conv", "inputs": [before], "out_channels": CHANNELS,
                       "kernel_shape": [1, 1]})
        before = f"conv_{i}"
    return {"format": "hios-model", "version": 1, "name": name_of(factor).replace("-", "_").replace(".", "_"),
            "input": {"shape": [1, CHANNELS, PIXELS, PIXELS]}, "layers": layers}

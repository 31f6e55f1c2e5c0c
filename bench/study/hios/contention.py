"""Figures 1 and 2, measured: two equal convolutions concurrently and one after the other, and
the transfer of an image compared with its convolution.

Kundu and Shu, HIOS, section II: 5x5 kernel, stride 1, 48 input channels, 8x8 to 1024x1024 pixels. The paper does
not give the number of output channels; here it is 48. A device is a GPU in the paper; here it is a rank:
- contention: one rank with two cores. One after the other, each convolution has both cores; at the
  same time, each has one.
- transfer: two ranks with one core each; the image travels by MPI within the host.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

from store import Store

PIXELS = (8, 16, 32, 64, 128, 256, 512, 1024)
CHANNELS = 48
FLOAT_BYTES = 4


def iterations(pixels):
    """Sweeps of the profiler, which take seconds each at the largest size."""
    return 36 if pixels <= 512 else 12


def model(pixels):
    """Two convolutions of the input, concatenated because a network has one output."""
    def convolution(name):
        return {"name": name, "type": "Conv", "inputs": ["input"], "out_channels": CHANNELS,
                "kernel_shape": [5, 5], "pads": [2, 2, 2, 2]}
    return {"format": "hios-model", "version": 1, "name": f"two-convolutions-{pixels}",
            "input": {"shape": [1, CHANNELS, pixels, pixels]},
            "layers": [convolution("left"), convolution("right"),
                       {"name": "join", "type": "Concat", "inputs": ["left", "right"]}]}


def profile(programs, pixels, ranks, *flags):
    """The profile's only configuration."""
    with tempfile.TemporaryDirectory() as folder:
        network, file = Path(folder) / "model.json", Path(folder) / "profile.json"
        network.write_text(json.dumps(model(pixels)))
        programs.run("hios-profile", "--model", network, "--backend", "auto", *flags, "--warmup", 3,
                     "--iterations", iterations(pixels), "--output", file, "-q", ranks=ranks)
        return json.loads(file.read_text())["configurations"][0]


def convolution_ms(configuration):
    return next(entry["ms"] for signature, entry in configuration["operators"].items() if "Conv " in signature)


def transfer_ms(configuration, size_bytes):
    """Interpolates between the measured points; beyond them, uses the bandwidth of the largest message.
    Also returns whether it did so."""
    points = configuration["transfers"][0]["points"]
    largest, largest_ms = points[-1]
    if size_bytes > largest:
        return largest_ms * size_bytes / largest, True
    (low, low_ms), (high, high_ms) = next(pair for pair in zip(points, points[1:]) if size_bytes <= pair[1][0])
    return low_ms + (high_ms - low_ms) * (size_bytes - low) / (high - low), False


def measure_contention(programs, pixels):
    configuration = profile(programs, pixels, 1, "--threads", 2, "--streams", 2, "--stages", "ios",
                            "--time-limit", 120)
    one_ms = convolution_ms(configuration)
    pair = next(stage for stage in configuration["stages"] if len(stage["groups"]) == 2)
    return {"sequential_ms": 2 * one_ms, "parallel_ms": pair["ms"], "ratio": pair["ms"] / (2 * one_ms)}


def measure_transfer(programs, pixels):
    """Medians over several profiles, since a message of a few microseconds is easily disturbed."""
    profiles = [profile(programs, pixels, 2, "--threads", 1) for _ in range(3 if pixels <= 512 else 1)]
    size_bytes = CHANNELS * pixels * pixels * FLOAT_BYTES
    compute_ms = statistics.median(map(convolution_ms, profiles))
    sent_ms = statistics.median(transfer_ms(each, size_bytes)[0] for each in profiles)
    return {"bytes": size_bytes, "compute_ms": compute_ms, "transfer_ms": sent_ms,
            "ratio": sent_ms / compute_ms,
            "beyond_measured_sizes": int(transfer_ms(profiles[0], size_bytes)[1]),
            "path": profiles[0]["machine"]["transport"]}


def open_stores(folder):
    return (Store(folder / "contention.csv", ("pixels",), ("sequential_ms", "parallel_ms", "ratio")),
            Store(folder / "transfer.csv", ("pixels",),
                  ("bytes", "compute_ms", "transfer_ms", "ratio", "beyond_measured_sizes", "path")))


def run(programs, folder, deadline):
    for store, measure in zip(open_stores(folder), (measure_contention, measure_transfer)):
        for pixels in PIXELS:
            if store.has(pixels=pixels):
                continue
            if deadline.passed():
                return False
            print(f"{store.path.stem}, {pixels} pixels", file=sys.stderr, flush=True)
            store.add([{"pixels": pixels, **measure(programs, pixels)}])
    return True

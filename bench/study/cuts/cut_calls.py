"""Networks with and without cut operators on machines that are not there: equal devices and links, as profiles and platforms
for hios-schedule. A device computes as one core of this machine does; latencies are simulated.

A profile is measured by one rank, alone on its core, since the devices share nothing. It stands for any number of them.
"""

import concurrent.futures
import json
import os
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from store import Store

WORK = Path(__file__).resolve().parents[3] / "build" / "study" / "cuts"
# The approximate seconds of an inference on one core, which only determine the measured runs.
NETWORKS = {"squeezenet": 0.02, "inception_v3": 0.085, "randwire_large": 0.5, "nasnet_large": 0.9}
DEVICES = (2, 4, 8)
GB_PER_S = (1, 3, 10, 100, 300)
LATENCIES_US = (1, 10, 50)
# GB/s and us. For the schedules, devices 20 times as fast are links a 20th as fast, with latencies 20 times as long.
NODES = {"slow network": (1, 50), "PCIe": (12, 10), "NVLink": (100, 5), "PCIe, 20x devices": (0.6, 200),
         "NVLink, 20x devices": (5, 100)}
# Seconds at most of those who schedule; the searches for cuts end by themselves. With cuts, heft's schedules are shorter than
# those of hios-lp, but for operators that are small next to messages.
ALGORITHMS = {("whole", "hios-lp"): 10, ("whole", "best"): 1.5, ("cut", "heft"): 20, ("cut", "hios-lp"): 20}
SMALL_OPERATORS = ("squeezenet",)

KEY = ("network", "devices", "gb_per_s", "latency_us", "operators", "algorithm")
VALUES = ("one_device_ms", "latency_ms", "lower_bound_ms", "cut_operators", "outcome")


def open_store(folder):
    return Store(folder / "cuts.csv", KEY, VALUES)


@dataclass(frozen=True)
class Call:
    network: str
    devices: int
    gb_per_s: float
    latency_us: float
    operators: str  # whole or cut
    algorithm: str

    def key(self):
        return {column: getattr(self, column) for column in KEY}


def all_calls():
    """The named nodes first, then the grid of links."""
    grid = ((gb_per_s, latency_us) for gb_per_s in GB_PER_S for latency_us in LATENCIES_US)
    for link in dict.fromkeys((*NODES.values(), *grid)):
        for network in NETWORKS:
            for devices in DEVICES:
                for operators, algorithm in ALGORITHMS:
                    if (operators, algorithm) != ("cut", "hios-lp") or network in SMALL_OPERATORS:
                        yield Call(network, devices, *link, operators, algorithm)


def platform(devices, gb_per_s, latency_us):
    return {"format": "hios-platform", "version": 1,
            "devices": [{"name": f"device{index}", "kind": "cpu", "threads": 1, "streams": 1} for index in range(devices)],
            "default_link": {"latency_ms": latency_us / 1000, "gb_per_s": gb_per_s}}


def standing_for(profile, devices):
    """The profile of one rank as that of so many devices, whose transfers only the platform prices."""
    (measured,) = profile["configurations"]
    return {**profile, "configurations": [{**measured, "ranks": devices, "transfers": []}]}


class Profiles:
    """The measured profiles, kept between calls: of whole networks, and with operators cut for a number of devices."""

    def __init__(self, programs):
        self.programs = programs

    def file(self, network, shards):
        return WORK / f"{network}-{shards}.json"

    def missing(self):
        return [(network, shards) for network in NETWORKS for shards in (1, *DEVICES) if not self.file(network, shards).exists()]

    def measure(self, network, shards):
        WORK.mkdir(parents=True, exist_ok=True)
        cut = ["--cut", f"auto:{shards}"] if shards > 1 else []
        self.programs.run("hios-profile", "--model", network, *cut, "--backend", "auto", "--threads", 1, "--warmup", 2,
                          "--iterations", max(8, min(30, int(10 / NETWORKS[network]))), "--output", self.file(network, shards),
                          "-q", ranks=1)

    def for_devices(self, network, shards, devices):
        file = WORK / f"{network}-{shards}-on-{devices}.json"
        if not file.exists():
            profile = standing_for(json.loads(self.file(network, shards).read_text()), devices)
            partial = file.with_suffix(f".{threading.get_ident()}")
            partial.write_text(json.dumps(profile))
            partial.replace(file)
        return file

    def one_device_ms(self, network):
        (row,) = self.programs.json("hios-schedule", "--model", network, "--profile", self.file(network, 1), "--devices", 1,
                                    "--algorithm", "sequential")["comparison"]
        return row["latency_ms"]


def answer(programs, profiles, call, one_device_ms):
    """The row of a call."""
    file = WORK / f"{call.devices}-{call.gb_per_s}-{call.latency_us}.platform.json"
    if not file.exists():
        partial = file.with_suffix(f".{threading.get_ident()}")
        partial.write_text(json.dumps(platform(call.devices, call.gb_per_s, call.latency_us)))
        partial.replace(file)
    cut = ["--cut", "auto"] if call.operators == "cut" else []
    options = ["--option", "threads=1"] if call.algorithm == "best" else []  # concurrent calls
    shards = call.devices if cut else 1
    (row,) = programs.json("hios-schedule", "--model", call.network, *cut, "--platform", file, "--profile",
                           profiles.for_devices(call.network, shards, call.devices), "--algorithm", call.algorithm,
                           "--time-limit", ALGORITHMS[call.operators, call.algorithm], *options)["comparison"]
    return {**call.key(), "one_device_ms": f"{one_device_ms:.4f}", "latency_ms": f"{row['latency_ms']:.4f}",
            "lower_bound_ms": f"{row['lower_bound_ms']:.4f}", "cut_operators": row.get("cut_operators", 0),
            "outcome": row["outcome"]}


def measure_all(programs, deadline):
    """Measures the missing profiles; returns True when none is missing."""
    profiles = Profiles(programs)
    missing = profiles.missing()
    for count, (network, shards) in enumerate(missing, 1):
        if deadline.passed():
            return False
        print(f"cuts: profile {count}/{len(missing)}: {network}, {shards} shards", file=sys.stderr, flush=True)
        profiles.measure(network, shards)
    return True


def run(programs, folder, deadline):
    """Computes the missing rows, and the profiles that they need; returns True when none is missing."""
    store = open_store(folder)
    calls = [call for call in all_calls() if not store.has(**call.key())]
    if not calls:
        return True
    if not measure_all(programs, deadline):
        return False
    profiles = Profiles(programs)
    one_device_ms = {network: profiles.one_device_ms(network) for network in NETWORKS}
    started, lock, done = time.monotonic(), threading.Lock(), [0]

    def work(call):
        if deadline.passed():
            return False
        store.add([answer(programs, profiles, call, one_device_ms[call.network])])
        with lock:
            done[0] += 1
            if done[0] % 20 == 0 or done[0] == len(calls):
                left = (time.monotonic() - started) / done[0] * (len(calls) - done[0])
                print(f"cuts: {done[0]}/{len(calls)} schedules, {left:.0f} s left", file=sys.stderr, flush=True)
        return True

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return all(list(pool.map(work, calls)))

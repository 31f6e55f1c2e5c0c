"""The gaps of the schedulers to the lower bound on the four networks, on 2 to 8 devices, with costs
measured on this machine. Only the profile is measured; latencies are simulated.

Costs come from two ranks with one core each, and transfers between any two devices cost those between
these ranks: a machine of two cores cannot measure eight ranks.

A gap has two causes: the schedule and the bound. If a search with six times the time ends at the same
latency, the bound is probably weak; if it still improves, the schedule is.
"""

import csv
import sys
import tempfile
from pathlib import Path

from settings import as_published
from store import Store

WORK = Path(__file__).resolve().parents[3] / "build" / "study"
NETWORKS = ("squeezenet", "inception_v3", "nasnet_large", "randwire_large")
DEVICES = (2, 3, 4, 8)
ALGORITHMS = ("hios-lp", "hios-mr", "best")
SEARCH_SECONDS = 10
LONG_SEARCH_SECONDS = 60
LONG_SEARCH_ABOVE = 0.005  # the gap from which the longer search is also run

VALUES = ("latency_ms", "lower_bound_ms", "bound", "gap", "outcome")


def open_store(folder):
    return Store(folder / "network_gaps.csv", ("network", "devices", "algorithm", "time_limit_s"), VALUES)


class Network:
    """A network with its measured costs, kept between calls."""

    def __init__(self, programs, name):
        self.programs, self.name = programs, name
        self.folder = WORK / f"{name}-gaps"
        self.graph = self.folder / "graph.json"

    def measure(self):
        print(f"gaps: profile of {self.name}", file=sys.stderr, flush=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        profile = self.folder / "profile.json"
        self.programs.run("hios-profile", "--model", self.name, "--backend", "auto", "--threads", 1, "--warmup", 2,
                          "--iterations", 30, "--output", profile, "--force", "-q", ranks=2)
        self.programs.run("hios-schedule", "--model", self.name, "--profile", profile, "--devices", 2,
                          "--threads", 1, "--streams", 1, "--export-graph", self.graph, "--force", "-q")

    def schedule(self, devices, algorithms, time_limit_s):
        print(f"gaps: {self.name} on {devices} devices, {time_limit_s} s", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.csv"
            self.programs.run("hios-schedule", "--graph", self.graph, "--devices", devices, "--streams", 1,
                              "--algorithm", ",".join(algorithms), *as_published(algorithms), "--time-limit", time_limit_s,
                              "--csv", table,
                              "-q")
            with table.open(newline="") as file:
                return [{"network": self.name, "devices": devices, "time_limit_s": time_limit_s, **row}
                        for row in csv.DictReader(file)]


def missing_algorithms(store, name, devices):
    return [a for a in ALGORITHMS
            if not store.has(network=name, devices=devices, algorithm=a, time_limit_s=SEARCH_SECONDS)]


def wants_longer(store, name, devices):
    key = {"network": name, "devices": devices, "algorithm": "best"}
    return (float(store.get(**key, time_limit_s=SEARCH_SECONDS)["gap"]) > LONG_SEARCH_ABOVE
            and not store.has(**key, time_limit_s=LONG_SEARCH_SECONDS))


def run(programs, folder, deadline):
    """Computes missing rows; returns True when none is missing."""
    store = open_store(folder)
    for name in NETWORKS:
        network = Network(programs, name)
        for devices in DEVICES:
            missing = missing_algorithms(store, name, devices)
            if missing:
                if deadline.passed():
                    return False
                if not network.graph.exists():
                    network.measure()
                store.add(network.schedule(devices, missing, SEARCH_SECONDS))
            if wants_longer(store, name, devices):
                if deadline.passed():
                    return False
                store.add(network.schedule(devices, ["best"], LONG_SEARCH_SECONDS))
    return True

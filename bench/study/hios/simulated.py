"""The simulated part: every algorithm on every setting of figures 7 to 11, 30 seeds.

A cell is (setting, algorithm, seed); one process computes all missing cells of a setting and a seed.
Algorithms for one device use no other devices and no transfers. They are computed once for all settings
that differ only in these, on one device; their gap refers to one device, too.
"""

import concurrent.futures
import csv
import math
import os
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

from settings import STREAMS, Setting, all_settings, as_published
from store import Store

KEY = ("devices", "n", "edges", "layers", "p", "seed", "algorithm")
VALUES = ("latency_ms", "lower_bound_ms", "bound", "gap", "seconds", "waiting_share", "outcome")

# Time of a search per cell, since it can always improve: all 720 cells take a quarter of an hour on two
# cores.
SECONDS_OF_A_SEARCH = {"best": 1.5}
# ios reaches the lower bound of one device on these networks with far fewer endings than its limit.
OPTIONS = {"ios": ["max_endings=200000"]}


def open_store(folder):
    return Store(folder / "simulated.csv", KEY, VALUES)


def cell_setting(setting, algorithm):
    """The key of an algorithm's cell."""
    return setting if algorithm["many_devices"] else replace(setting, devices=1, p=Setting.p)


def cell_key(setting, algorithm, seed):
    at = cell_setting(setting, algorithm)
    return dict(devices=at.devices, n=at.n, edges=at.edges, layers=at.layers, p=at.p, seed=seed,
                algorithm=algorithm["name"])


def flags(algorithms):
    """The effort of a call: options of its algorithms, and the time of a search."""
    words = as_published(algorithm["name"] for algorithm in algorithms)
    for algorithm in algorithms:
        known = {option["name"] for option in algorithm["options"]}
        given = list(OPTIONS.get(algorithm["name"], []))
        if "threads" in known:  # concurrent cells
            given.append("threads=1")
        for word in given:
            words += ["--option", word]
        if algorithm["name"] in SECONDS_OF_A_SEARCH:
            words += ["--time-limit", SECONDS_OF_A_SEARCH[algorithm["name"]]]
    return words


def missing_calls(store, algorithms, seeds):
    """(setting, seed, algorithms) of every process to start, in an order in which all figures get some
    seeds early. A search has a process of its own."""
    calls = {}
    for seed in range(seeds):
        for setting in all_settings():
            for algorithm in algorithms:
                key = cell_key(setting, algorithm, seed)
                if store.has(**key):
                    continue
                search = algorithm["name"] if algorithm["name"] in SECONDS_OF_A_SEARCH else ""
                at = cell_setting(setting, algorithm)
                calls.setdefault((search != "", seed, at, search), {})[algorithm["name"]] = algorithm
    return [(at, seed, list(chosen.values()))
            for (_, seed, at, _), chosen in sorted(calls.items(), key=lambda item: item[0])]


def run_call(programs, setting, seed, algorithms):
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        programs.run("hios-schedule", "--random", setting.random_keys(seed), "--devices", setting.devices,
                     "--kind", "gpu", "--streams", STREAMS, "--seed", seed,
                     "--algorithm", ",".join(a["name"] for a in algorithms), *flags(algorithms),
                     "--csv", table, "-q")
        with table.open(newline="") as file:
            rows = list(csv.DictReader(file))
    for row in rows:
        row.update(devices=setting.devices, n=setting.n, edges=setting.edges, layers=setting.layers,
                   p=setting.p, seed=seed)
    return rows


class Progress:
    """"simulated  42/720  3 s left" on a terminal, a line every 100 elsewhere."""

    def __init__(self, total):
        self.total, self.done = total, 0
        self.started = time.monotonic()
        self.lock = threading.Lock()

    def step(self):
        with self.lock:
            self.done += 1
            left = (time.monotonic() - self.started) / self.done * (self.total - self.done)
            line = f"simulated  {self.done}/{self.total} processes  {left:.0f} s left"
            if sys.stderr.isatty():
                end = "\n" if self.done == self.total else ""
                print(f"\r\033[K{line}", end=end, file=sys.stderr, flush=True)
            elif self.done % 100 == 0 or self.done == self.total:
                print(line, file=sys.stderr, flush=True)


def require_one_bound(store):
    """A network has one lower bound, so rows that differ in it come from different versions of the programs. That of a
    search may be smaller, since its time includes the bound's."""
    bounds = {}
    for key, row in sorted(store.rows.items(), key=lambda item: item[0][-1] in SECONDS_OF_A_SEARCH):
        bound_ms = float(row["lower_bound_ms"])
        known_ms = bounds.setdefault(key[:-1], bound_ms)
        if key[-1] in SECONDS_OF_A_SEARCH and bound_ms < known_ms:
            continue
        if not math.isclose(bound_ms, known_ms, rel_tol=1e-9):
            raise SystemExit(f"{store.path}: two lower bounds of one network, {known_ms:.6g} and {bound_ms:.6g} ms "
                             f"({', '.join(key)}): its rows come from different versions; remove it, or the older rows")


def run(programs, folder, seeds, deadline):
    """Computes missing cells; returns True when none is missing."""
    store = open_store(folder)
    require_one_bound(store)
    calls = missing_calls(store, programs.algorithms(), seeds)
    progress = Progress(len(calls))

    def work(call):
        if deadline.passed():
            return False
        store.add(run_call(programs, *call))
        progress.step()
        return True

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        complete = all(list(pool.map(work, calls)))
    require_one_bound(store)
    return complete

"""Figures 12, 13 and 14, measured: networks on this machine's CPU ranks.

A device is a GPU in the paper; here it is a rank with one core, and there are two, as in the paper.
Algorithms for one device use one of them. For comparison, further rows have both cores on one rank:
the same cores without messages. All rows of an image size run in turn, round after round, so that
noise affects all alike.

A rank with one core runs one operator at a time, so its stages never have two groups.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from settings import as_published
from store import Store

WORK = Path(__file__).resolve().parents[3] / "build" / "study"
DEVICES = 2
ROUNDS = 6
SEARCH_SECONDS = 10

# The paper's smallest size in pixels, and the approximate time of an inference on one core, which only
# determines numbers of runs.
NETWORKS = {"inception_v3": (299, 0.07), "nasnet_large": (331, 0.5)}


@dataclass(frozen=True)
class Row:
    algorithm: str
    ranks: int
    threads: int
    streams: int

    @property
    def name(self):
        return f"{self.algorithm} {self.ranks}x{self.threads}"


def rows(programs):
    for algorithm in programs.algorithms():
        yield Row(algorithm["name"], DEVICES if algorithm["many_devices"] else 1, 1, 1)
    yield Row("sequential", 1, DEVICES, 1)
    yield Row("ios", 1, DEVICES, DEVICES)


def sizes(network, largest):
    """The network's own size, then powers of two."""
    smallest, _ = NETWORKS[network]
    power = 1 << smallest.bit_length()
    return [smallest] + [p for p in (power << k for k in range(10)) if p <= largest]


def open_stores(folder):
    return (Store(folder / "network_schedules.csv", ("network", "pixels", "row"),
                  ("predicted_ms", "lower_bound_ms", "gap", "estimated_stages", "measuring_s", "scheduling_s")),
            Store(folder / "network_runs.csv", ("network", "pixels", "row", "round"), ("runs_ms", "verified")))


class Case:
    """One network at one image size: its files, kept between calls, and its rows."""

    def __init__(self, programs, network, pixels):
        self.programs, self.network, self.pixels = programs, network, pixels
        smallest, seconds = NETWORKS[network]
        self.inference_s = seconds * (pixels / smallest) ** 2
        self.folder = WORK / f"{network}-{pixels}"
        self.model = ["--model", network, "--height", pixels, "--width", pixels]
        self.profile = self.folder / "profile.json"

    def schedule_file(self, row):
        return self.folder / f"schedule-{row.algorithm}-{row.ranks}x{row.threads}.json"

    def configuration(self, row):
        """The row's profile, or None."""
        if not self.profile.exists():
            return None
        for each in json.loads(self.profile.read_text())["configurations"]:
            if (each["ranks"], each["threads"]) == (row.ranks, row.threads):
                return each
        return None

    def measure(self, row):
        """Measures the costs of the row's configuration, which all its rows share."""
        sweeps = max(6, min(30, int(40 / self.inference_s)))
        stages = ["--streams", row.threads, "--stages", "ios", "--time-limit", 100] if row.threads > 1 else []
        self.folder.mkdir(parents=True, exist_ok=True)
        self.programs.run("hios-profile", *self.model, "--backend", "auto", "--threads", row.threads, *stages,
                          "--warmup", 2, "--iterations", sweeps, "--output", self.profile, "--update", "-q",
                          ranks=row.ranks)

    def plan(self, row):
        file = self.schedule_file(row)
        self.programs.run("hios-schedule", *self.model, "--profile", self.profile, "--devices", row.ranks,
                          "--threads", row.threads, "--streams", row.streams, "--algorithm", row.algorithm,
                          *as_published([row.algorithm]),
                          "--time-limit", SEARCH_SECONDS, "--output", file, "--force", "-q")
        made = json.loads(file.read_text())
        predicted = made["predicted"]
        # Both cores on one rank are profiled once, with the stages that only ios needs.
        shares_with_ios = row.threads > 1 and row.streams == 1
        measuring_s = "" if shares_with_ios else self.configuration(row)["seconds"]
        return {"predicted_ms": predicted["latency_ms"], "lower_bound_ms": predicted["lower_bound_ms"],
                "gap": predicted["gap"], "estimated_stages": predicted["estimated_stages"],
                "measuring_s": measuring_s, "scheduling_s": made["seconds"]}

    def run(self, row, number, runs):
        """Measures `runs` latencies; verifies the first round if plain loops take only seconds."""
        report = self.folder / "report.json"
        verify = ["--verify"] if number == 1 and self.inference_s < 0.1 else []
        self.programs.run("hios-run", *self.model, "--schedule", self.schedule_file(row), "--profile",
                          self.profile, "--backend", "auto", "--warmup", 2 if self.inference_s < 1 else 1,
                          "--iterations", runs, *verify, "--timeout", 600, "--json", report, "--force", "-q",
                          ranks=row.ranks)
        result = json.loads(report.read_text())
        return {"runs_ms": " ".join(f"{ms:.4f}" for ms in result["iterations_ms"]),
                "verified": result["verified"]["passed"] if verify else ""}


def run_case(case, all_rows, stores, runs, deadline):
    """Measures missing rows of a case; returns True when none is missing. Each step takes minutes at most."""
    schedules, measured = stores
    key = {"network": case.network, "pixels": case.pixels}
    numbers = range(1, ROUNDS + 1)
    if all(measured.has(**key, row=row.name, round=n) for row in all_rows for n in numbers):
        return True
    for row in all_rows:
        if case.configuration(row) is None:
            if deadline.passed():
                return False
            print(f"{case.network} {case.pixels}: profile of {row.ranks} x {row.threads}", file=sys.stderr, flush=True)
            case.measure(row)
    for row in all_rows:
        if not case.schedule_file(row).exists() or not schedules.has(**key, row=row.name):
            if deadline.passed():
                return False
            schedules.add([{**key, "row": row.name, **case.plan(row)}])
    for number in numbers:
        for row in all_rows:
            if measured.has(**key, row=row.name, round=number):
                continue
            if deadline.passed():
                return False
            print(f"{case.network} {case.pixels}: round {number}, {row.name}", file=sys.stderr, flush=True)
            measured.add([{**key, "row": row.name, "round": number,
                           **case.run(row, number, -(-runs // ROUNDS))}])
    return True


def run(programs, folder, largest, runs, deadline):
    stores = open_stores(folder)
    all_rows = list(rows(programs))
    cases = [Case(programs, network, pixels) for network in NETWORKS for pixels in sizes(network, largest)]
    # Cheap sizes first, so that a stopped study has as many sizes as possible.
    cases.sort(key=lambda case: case.inference_s)
    return all([run_case(case, all_rows, stores, runs, deadline) for case in cases])

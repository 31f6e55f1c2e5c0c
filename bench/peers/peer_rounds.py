"""The rounds of one network: the order of the programs, their cores, and the results."""

import json
import math
import statistics
import sys
from dataclasses import dataclass

from hios.launch.programs import ProgramFailed
from peer_workers import cores, on_cores

STILL = 0.03  # limit of the one-core row's variation between rounds
ALIKE = 1e-4  # of max |y|: ours and ONNX Runtime's values
FEWEST, MOST = 10, 300  # measured runs per round
OURS, PEERS = "hios", ("onnxruntime", "openvino")
PROFILE_SWEEPS = 10
STAGES_S = 90  # for measuring stages of several operators
TRIALS = 3  # runs of each plan, in turn
MOST_PARTS = 8  # into which images are divided


@dataclass
class Protocol:
    threads: list
    rounds: int
    seconds: float
    warmup: int
    attempts: int


def alike(values):
    """True if the outputs show that all programs ran the same network."""
    difference = values[f"{OURS} - {PEERS[0]}"]
    return difference is not None and difference <= ALIKE


def moved(times):
    return max(times) / min(times) - 1


class Measurement:
    def __init__(self, file, folder, programs, worker, protocol):
        self.file, self.folder, self.programs, self.worker, self.protocol = file, folder, programs, worker, protocol
        self.input = folder / "input.npy"
        self.iterations, self.details, self.versions = FEWEST, {}, None
        self.plans = {}  # by threads: the plan's name and its profile

    def run(self, name):
        dims = self.worker.ask({"do": "input", "model": str(self.file), "input": str(self.input)})["dims"]
        for threads in self.protocol.threads:
            self.plan(threads, dims[0])
        first = min(self.protocol.threads)
        once_ms = self.ours(first)
        self.iterations = min(MOST, max(FEWEST, math.ceil(self.protocol.seconds * 1e3 / once_ms)))
        best, attempts = None, 0
        while attempts < self.protocol.attempts:
            attempts += 1
            print(f"{name}, attempt {attempts}: {self.protocol.rounds} rounds of {self.iterations} runs", file=sys.stderr,
                  flush=True)
            rounds = self.rounds()
            by_how_much = moved(rounds[OURS, first])
            if best is None or by_how_much < best[0]:
                best = by_how_much, rounds
            if best[0] <= STILL:
                break
        return {"input": dims, "iterations": self.iterations, "attempts": attempts, "moved": best[0],
                "values": self.values(first), "rows": [self.row(threads, best[1]) for threads in self.protocol.threads],
                "hios": self.versions}

    def rounds(self):
        """The median of each round, by row. The first program changes from round to round."""
        times = {(who, threads): [] for threads in self.protocol.threads for who in (OURS, *PEERS)}
        for turn in range(self.protocol.rounds):
            for threads in self.protocol.threads:
                order = [OURS, *PEERS]
                for who in order[turn % len(order):] + order[:turn % len(order)]:
                    ms = self.ours(threads) if who == OURS else self.peer(who, threads)
                    times[who, threads].append(ms)
        return times

    def row(self, threads, rounds):
        row = {"threads": threads, "cores": cores(threads), "plan": self.plans[threads][0]}
        for who in (OURS, *PEERS):
            times = rounds[who, threads]
            row[who] = {"ms": statistics.median(times), "rounds_ms": times, "moved": moved(times),
                        **self.details.get((who, threads), {})}
        side_by_side = zip(*(rounds[who, threads] for who in (OURS, *PEERS)), strict=True)
        row["ratio"] = statistics.median(ours / min(peers) for ours, *peers in side_by_side)
        return row

    # Ours: measured and planned once; with several cores also for concurrent operators, and several images also divided
    # evenly. Other programs that slow some of the measurements mislead a plan, so the one counts that has the fastest trial.

    def plan(self, threads, images):
        plans = dict(self.candidates(threads, images))
        trials = {name: [] for name in plans} if len(plans) > 1 else {}
        for _ in range(TRIALS):
            for name, times in trials.items():
                self.plans[threads] = name, plans[name]
                times.append(self.ours(threads))
        best = min(trials, key=lambda name: min(trials[name]), default="ios")
        self.plans[threads] = best, plans[best]

    def candidates(self, threads, images):
        """Yields the plans that are there, each with its profile."""
        device = ("--threads", threads, "--streams", threads)
        stages = ("--stages", "ios", "--time-limit", STAGES_S) if threads > 1 else ("--stages", "none")
        profile = self.measured("whole", threads, *device, *stages)
        for algorithm in ("ios", "sequential") if threads > 1 else ("ios",):
            self.scheduled(algorithm, threads, algorithm, profile, *device)
            yield algorithm, profile
        parts = max(parts for parts in range(1, MOST_PARTS + 1) if images % parts == 0)
        if parts == 1:
            return
        divided = ("--inputs", images, "--parts", parts)
        try:
            profile = self.measured("images", threads, *device, "--stages", "none", *divided)
            self.scheduled("images", threads, "sequential", profile, *device, *divided)
        except ProgramFailed as error:  # a file that holds for one batch only, say
            print(f"images are not divided: {error.words()}", file=sys.stderr)
        else:
            yield "images", profile

    def scheduled(self, name, threads, algorithm, profile, *flags):
        self.programs.run("hios-schedule", "--model", self.file, "--profile", profile, "--devices", 1, *flags, "--algorithm",
                          algorithm, "--output", self.folder / f"{name}-{threads}.json", "-q")

    def measured(self, name, threads, *flags):
        """Returns a new profile."""
        profile = self.folder / f"{name}-{threads}-profile.json"
        with on_cores(cores(threads)):
            self.programs.run("hios-profile", "--model", self.file, *flags, "--iterations", PROFILE_SWEEPS, "--output", profile,
                              "-q", "--flight-record", "off")
        return profile

    def schedule(self, threads):
        return self.folder / f"{self.plans[threads][0]}-{threads}.json"

    def outputs(self, who, threads):
        return self.folder / f"{who}-{threads}"

    def ours(self, threads):
        file = self.folder / "run.json"
        with on_cores(cores(threads)):
            self.programs.run("hios-run", "--model", self.file, "--schedule", self.schedule(threads), "--profile",
                              self.plans[threads][1], "--input", self.input, "--outputs", self.outputs(OURS, threads),
                              "--warmup", self.protocol.warmup, "--iterations", self.iterations, "--json", file,
                              "--force", "-q", "--flight-record", "off")
        report = json.loads(file.read_text())
        self.versions = report["versions"]
        return statistics.median(report["iterations_ms"])

    def peer(self, who, threads):
        with on_cores(cores(threads)):
            answer = self.worker.ask({"do": who, "model": str(self.file), "input": str(self.input), "threads": threads,
                                      "warmup": self.protocol.warmup, "iterations": self.iterations,
                                      "outputs": str(self.outputs(who, threads))})
        self.details[who, threads] = {key: answer[key] for key in ("load_s", "precision") if key in answer}
        return answer["median_ms"]

    def values(self, threads):
        """max |a - b| / max |b|; None if that is not a number."""
        folders = {who: str(self.outputs(who, threads)) for who in (OURS, *PEERS)}
        ort, vino = PEERS
        return self.worker.ask({"do": "compare", "pairs": {f"{OURS} - {ort}": (folders[OURS], folders[ort]),
                                                           f"{OURS} - {vino}": (folders[OURS], folders[vino]),
                                                           f"{vino} - {ort}": (folders[vino], folders[ort])}})

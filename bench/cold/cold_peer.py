"""Cold starts of ONNX Runtime: a session is made from a file that holds its optimised network and its packed weights, and runs
once. Making a session reads the network's graph, too, which a cold start of ours has done before.
"""

import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))

from peer_workers import Worker, cores, on_cores  # noqa: E402

ALIKE = 1e-4  # of max |y|: ours and its values


def surroundings():
    """Returns a Python that has ONNX Runtime."""
    done = subprocess.run([ROOT / "bench/onnx_surroundings", "--peers"], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


class Peer:
    """ONNX Runtime on one network, store and set of cores."""

    def __init__(self, worker, programs, model, folder, store, threads):
        self.worker, self.programs, self.model, self.store, self.threads = worker, programs, model, store, threads
        self.folder = folder / "onnxruntime"
        self.file, self.input = self.folder / "network.onnx", self.folder / "input.npy"
        self.packed = self.folder / "packed/network.onnx"
        self.found = []

    def prepare(self):
        self.packed.parent.mkdir(parents=True, exist_ok=True)
        self.programs.run("hios-run", *self.model, "--export-onnx", self.file, "--force", "-q")
        self.ask("input", model=self.file, input=self.input)
        self.ask("prepack", model=self.file, packed=self.packed)
        ours = self.folder / "ours"
        self.programs.run("hios-run", "--model", self.file, "--input", self.input, "--outputs", ours, "--threads",
                          self.threads, "--iterations", 1, "--force", "-q")
        self.ours = ours

    def ask(self, what, **request):
        with on_cores(cores(self.threads)):
            return self.worker.ask({"do": what, "threads": self.threads, **{name: str(value) if isinstance(value, Path) else
                                                                           value for name, value in request.items()}})

    def run(self, iterations):
        self.found.append(self.ask("cold", packed=self.packed, input=self.input, dropped=self.store == "disk", warmup=1,
                                   iterations=iterations, outputs=self.folder / "outputs"))

    def row(self, names):
        """Medians over the rounds; its loads alone and predictions are unknown."""
        pairs = {"difference": (str(self.folder / "outputs"), str(self.ours))}
        difference = self.ask("compare", pairs=pairs)["difference"]
        rounds = [each["median_ms"] for each in self.found]
        return {**names, "algorithm": "onnxruntime", "ranks": 1, "latency_ms": statistics.median(rounds),
                "rounds_ms": rounds, "predicted_ms": None, "prediction_error": None,
                "resident_ms": statistics.median(each["resident_ms"] for each in self.found), "load_ms": None,
                "overlap": None, "direct": None, "executor": None,
                "verified": difference is not None and difference <= ALIKE, "bitwise_equal_to_one_rank": None}


__all__ = ["Peer", "Worker", "surroundings"]

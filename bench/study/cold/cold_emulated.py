"""Fig. 11: plans run on the emulated server, and the errors of their predictions. No GPU runs: operators sleep, and loads and
messages share emulated buses in the engine that runs every schedule."""

import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cold_calls import FAR_S, Problem

INFERENCE_MS = 2000  # of an emulated inference, at least: times are multiplied so


@dataclass(frozen=True)
class Emulated:
    """A problem, and a plan that runs on a rank for each of its GPUs."""
    problem: Problem
    algorithm: str
    options: tuple = ()
    limit_s: float = FAR_S
    inference_ms: float = INFERENCE_MS

    def keys(self):
        return [{**self.problem.names(), "algorithm": self.algorithm, "options": " ".join(self.options)}]

    def title(self):
        words = " ".join((self.algorithm, *self.options))
        return f"{', '.join(map(str, self.problem.names().values()))}: {words}, emulated"

    def answers(self, programs):
        with tempfile.TemporaryDirectory() as folder:
            flags, file, results = self.problem.flags(Path(folder)), Path(folder) / "schedule.json", Path(folder) / "report.json"
            words = [word for option in self.options for word in ("--option", option)]
            programs.run("hios-schedule", *flags, "--algorithm", self.algorithm, *words, "--time-limit", self.limit_s,
                         "--output", file, "-q")
            scale = self.time_scale(json.loads(file.read_text())["predicted"]["latency_ms"])
            problem_files = flags[:flags.index("--objective")]
            programs.run("hios-run", "--backend", "emulated", *problem_files, "--schedule", file, "--time-scale", scale,
                         "--warmup", 0, "--iterations", 1, "--verify", "--json", results, "-q", ranks=self.problem.devices())
            report = json.loads(results.read_text())
            return [{**self.keys()[0], "devices": self.problem.devices(), "time_scale": scale,
                     "predicted_ms": f"{report['predicted_ms'] / scale:.6g}",
                     "emulated_ms": f"{report['latency_ms']['best_quarter'] / scale:.6g}",
                     "error_percent": f"{100 * report['prediction_error']:.3f}"}]

    def time_scale(self, latency_ms):
        return max(1, math.ceil(self.inference_ms / latency_ms))

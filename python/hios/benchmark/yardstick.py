"""The network's layers as oneDNN calls in a bare loop: no plan, no executor, no ranks."""

import json
import os
import subprocess

from hios.benchmark.samples import summarize_samples


class Yardstick:
    def __init__(self, program, threads, folder, environment):
        self.program, self.threads, self.environment = program, threads, environment
        self.name = f"bare oneDNN loop, {threads} core{'s' if threads > 1 else ''}"
        self.file = folder / "rounds" / f"bare-{threads}.json"
        self.samples = []

    def run(self, model, iterations):
        command = [self.program, "--model", model, "--threads", self.threads, "--iterations", iterations,
                   "--json", self.file]
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:self.threads]))
        subprocess.run(["taskset", "-c", cores, *map(str, command)], check=True, stdout=subprocess.DEVNULL,
                       env={**self.environment, "GOMP_SPINCOUNT": "5000"})
        self.samples += json.loads(self.file.read_text())["iterations_ms"]

    def result(self):
        return {"name": self.name, "threads": self.threads, "latency_ms": summarize_samples(self.samples)}

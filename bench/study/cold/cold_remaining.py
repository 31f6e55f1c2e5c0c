"""Fig. 14: a schedule runs again while a share of the parameters that it had loaded is still on its devices."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cold_calls import Problem

SHARES = (0, 25, 50, 75, 100)  # per cent of the sets of parameters


def remain(schedule, order, percent):
    """The schedule when this share of its sets of parameters, evenly over `order`, is where it was loaded to."""
    loaded = {load["of"] for lane in schedule["weights"]["lanes"] for load in lane}
    names = [name for name in order if name in loaded]
    kept = {name for index, name in enumerate(names) if (index + 1) * percent // 100 > index * percent // 100}
    lanes = [[load for load in lane if load["of"] not in kept] for lane in schedule["weights"]["lanes"]]
    resident = [{"of": load["of"], "on": load["to"]} for lane in schedule["weights"]["lanes"] for load in lane if load["of"] in kept]
    weights = {**schedule["weights"], "lanes": [lane for lane in lanes if lane]}
    return {**schedule, "weights": {**weights, "resident": resident} if resident else weights}


@dataclass(frozen=True)
class Again:
    """A problem, whose schedule by an algorithm is made once and simulated for each share."""
    problem: Problem
    algorithm: str
    limit_s: float

    def keys(self):
        return [{**self.problem.names(), "algorithm": self.algorithm, "options": f"remaining={share}"} for share in SHARES]

    def title(self):
        return f"{', '.join(map(str, self.problem.names().values()))}: {self.algorithm} again"

    def answers(self, programs):
        with tempfile.TemporaryDirectory() as folder:
            flags, file = self.problem.flags(Path(folder)), Path(folder) / "schedule.json"
            programs.run("hios-schedule", *flags, "--algorithm", self.algorithm, "--time-limit", self.limit_s, "--output", file, "-q")
            schedule = json.loads(file.read_text())
            order = [operator["name"] for operator in self.problem.graph()["operators"]]
            return [self.row(programs, flags, key, remain(schedule, order, share), Path(folder) / "again.json")
                    for key, share in zip(self.keys(), SHARES)]

    def row(self, programs, flags, key, schedule, file):
        file.write_text(json.dumps(schedule))
        found = programs.json("hios-schedule", *flags, "--check", file)
        return {**key, "devices": self.problem.devices(), "limit_s": self.limit_s, "latency_ms": f"{found['latency_ms']:.6g}",
                "bound_ms": f"{found['lower_bound_ms']:.6g}", "outcome": "feasible" if found["valid"] else "invalid"}

"""The cold part: cold starts on the one GPU, whose parameters come from pinned host memory while operators run.

For each network a profile of its operators, and a platform of one GPU and one bus. The bus's rate is assumed for a first run of
load-then-run, and is then the rate of the loads alone in that run. The plans run in turn, in rounds; in the first round each is
verified. A row that fails is recorded as failed.
"""

import json
from dataclasses import dataclass
from statistics import median

from samples import summarize
from steps import RunLimits

PROFILE_LIMIT_S, SCHEDULE_LIMIT_S, FIRST_RUN_LIMIT_S = 90, 40, 120
SEARCH_S = 10  # of `best`
ASSUMED_GB_PER_S, LATENCY_MS = 12.0, 0.01
FEWEST_ITERATIONS, SHARE_OF_ITERATIONS = 3, 10  # a cold start takes some three inferences, and is alone
ENOUGH_S = 25  # a network with less time left is not started


@dataclass(frozen=True)
class Plan:
    name: str
    algorithm: str
    graphs: bool = True


FIRST = Plan("load-then-run", "load-then-run")
# Without graphs, loads are queued one by one and are no nodes of a graph.
PLANS = (FIRST, Plan("pipelined", "pipelined"), Plan("pipelined, no graphs", "pipelined", graphs=False),
         Plan("deepplan", "deepplan"), Plan("best", "best"))


class Cold:
    """`save(rows)` is called after each new row."""

    def __init__(self, installation, target, steps, scratch, save):
        self.installation, self.target, self.steps, self.scratch, self.save = installation, target, steps, scratch, save
        self.rows = {}

    def run(self, networks, maths):
        for math in maths:
            for network in networks:
                if self.steps.deadline.left() < ENOUGH_S:
                    self.steps.note(f"cold {network} {math}: not started, the part's time is up")
                    continue
                Network(self, network, math).measure()

    def put(self, row):
        self.rows[row["network"], row["size"], row["math"], row["row"]] = row
        self.save(list(self.rows.values()))


class Network:
    """The cold starts of one network in one arithmetic."""

    def __init__(self, part, network, math):
        self.part, self.target, self.math = part, part.target, math
        self.size = self.target.size(network, "default")
        self.network, self.name = network, f"cold {network} {self.size} {math}"
        self.model = self.target.model(network, self.size)
        self.samples, self.reports = {}, {}
        self.limits = RunLimits(FIRST_RUN_LIMIT_S)

    def file(self, what):
        return self.part.scratch / f"{self.network}-{self.math}-{what}.json"

    def step(self, what, program, words, limit_s):
        command = [self.part.installation.programs / program, *self.model, *words, "--force", "-q"]
        return self.part.steps.run(f"{self.name}: {what}", command, limit_s)

    def measure(self):
        profiled = self.step("profile", "hios-profile", [*self.compute(), "--warmup", "3", "--iterations", self.target.sweeps,
                                                         "--stages", "none", "--output", self.file("profile")], PROFILE_LIMIT_S)
        if not profiled.passed:
            return self.fail_all(f"no profile: {profiled.why}")
        rate = self.learn_rate()
        if not rate:
            return None
        plans = [plan for plan in PLANS if self.schedule(plan, rate)]
        for turn in range(1, self.target.rounds + 1):
            for plan in plans if turn % 2 else reversed(plans):
                self.run(plan, turn, rate)
        return None

    def compute(self):
        return ["--backend", "cpu", "--threads", "1"] if self.target.rehearsal else ["--backend", "cuda", "--math", self.math]

    def platform(self, gb_per_s):
        device = ({"name": "cpu0", "kind": "cpu", "threads": 1} if self.target.rehearsal
                  else {"name": "gpu0", "kind": "gpu", "streams": 1, "math": self.math})
        return {"format": "hios-platform", "version": 1, "devices": [device], "stores": [{"name": "dram", "kind": "memory"}],
                "buses": [{"name": "pcie", "gb_per_s": gb_per_s}],
                "routes": [{"from": "dram", "to": device["name"], "over": ["pcie"], "latency_ms": LATENCY_MS,
                            "gb_per_s": gb_per_s}]}

    def learn_rate(self):
        """GB/s of the loads alone; None if load-then-run failed, which is recorded."""
        if not self.schedule(FIRST, ASSUMED_GB_PER_S):
            return None
        report = self.report(FIRST, "first", ["--verify"])
        if report is None:
            return None
        loaded = sum(load["size_bytes"] for load in report["loads"])
        return loaded / report["cold_start"]["load_ms"]["median"] / 1e6

    def schedule(self, plan, gb_per_s):
        file = self.file("platform")
        file.write_text(json.dumps(self.platform(gb_per_s), indent=1))
        made = self.step(f"schedule {plan.name}", "hios-schedule",
                         ["--profile", self.file("profile"), "--platform", file, "--objective", "cold-start",
                          "--algorithm", plan.algorithm, "--time-limit", SEARCH_S, "--output", self.file(plan.algorithm)],
                         SCHEDULE_LIMIT_S)
        if not made.passed:
            self.fail(plan, f"no schedule: {made.why}")
        return made.passed

    def report(self, plan, number, more):
        """The report of one run; None if there is none, which is recorded."""
        file = self.file(f"report-{plan.algorithm}-{int(plan.graphs)}-{number}")
        iterations = max(FEWEST_ITERATIONS, self.target.iterations // SHARE_OF_ITERATIONS)
        backend = self.compute()[:2]
        outcome = self.step(plan.name, "hios-run",
                            ["--schedule", self.file(plan.algorithm), "--profile", self.file("profile"), *backend,
                             *self.target.graphs(plan.graphs), "--warmup", "1", "--iterations", iterations, "--json", file,
                             *more], self.limits.limit_s())
        self.limits.saw(outcome)
        try:
            return json.loads(file.read_text()) if outcome.passed else self.fail(plan, outcome.why)
        except (OSError, ValueError):
            return self.fail(plan, "it wrote no report")

    def verified(self, plan):
        """The outcome of the run of the plan that was verified; None before."""
        return next((each["verified"] for each in self.reports.get(plan, ()) if each.get("verified")), None)

    def run(self, plan, turn, rate):
        report = self.report(plan, turn, [] if self.verified(plan) else ["--verify"])
        if report is None:
            return
        self.samples.setdefault(plan, []).extend(report["iterations_ms"])
        self.reports.setdefault(plan, []).append(report)
        reports, latency = self.reports[plan], summarize(self.samples[plan])
        walls = {wall: median(each["cold_start"][wall]["median"] for each in reports) for wall in ("resident_ms", "load_ms")}
        verified = self.verified(plan)
        row = {**self.key(plan), "algorithm": plan.algorithm, "latency_ms": latency, "gb_per_s": round(rate, 2), **walls,
               "predicted_ms": report.get("predicted_ms"),
               "overlap": median(each["latency_ms"]["median"] / each["cold_start"]["perfect_overlap_ms"] for each in reports),
               "verified": bool(verified and verified["passed"]), "bitwise": bool(verified and verified["bitwise"])}
        if row["predicted_ms"]:
            row["prediction_error"] = (latency["median"] - row["predicted_ms"]) / latency["median"]
        self.part.put(row)

    def key(self, plan):
        return {"network": self.network, "size": self.size, "math": self.math, "row": plan.name}

    def fail(self, plan, why):
        """Records a failure, unless an earlier round has numbers. Returns None."""
        self.part.steps.note(f"{self.name}: {plan.name}: failed: {why}")
        if plan not in self.samples:
            self.part.put({**self.key(plan), "failed": why})

    def fail_all(self, why):
        if self.target.rehearsal:  # the pack has no backend for cores, and the reference runs no cold starts
            return self.part.steps.note(f"{self.name}: not rehearsed: {why}")
        for plan in PLANS:
            self.fail(plan, why)
        return None

"""A machine without programs: they answer at once with the next of given times."""

import json
from pathlib import Path

from hios.benchmark.budget import Budget, Effort
from hios.benchmark.profiling import TurnsProfile
from hios.benchmark.running import Rounds
from hios.benchmark.summary import summarize
from hios.benchmark.ways import Way, make_rows
from support import FakePrograms, FolderTest, flag

EFFORT = Effort(rounds=3, iterations=4, sweeps=8, stages_s=15)
AMPLE = 1e6  # seconds


class MachineTest(FolderTest):
    """Programs that write the next values of two lists: operators' times by way, latencies by way."""

    def setUp(self):
        super().setUp()
        (self.folder / "rounds").mkdir()
        self.programs = FakePrograms(answer=self.answer)
        self.rows = make_rows(self.folder, all_rows=True)[:-1]  # the seven rows of the tables in bench/results
        self.now, self.step_s = 0.0, 1.0  # each call of a program takes so long
        self.profile = TurnsProfile(self.programs, self.rows, ["--model", "net"], self.folder, EFFORT, 7)
        self.rounds = Rounds(self.programs, self.profile, self.rows, ["--model", "net"], EFFORT, 7)
        self.operator_ms = {}  # by way: the time of each turn, the last one for all that follow
        self.latency_ms = {}   # by way: the same for runs
        self.plan = "a"        # the content of schedules
        self.cuts = [{"operator": "a"}]  # of schedules that may cut
        self.stage_ms = 5.0
        self.graph = {"operators": [{"name": "a", "time_ms": 6}, {"name": "b", "time_ms": 2}, {"name": "c", "time_ms": 2}],
                      "edges": [{"from": "a", "to": "b"}, {"from": "a", "to": "c"}]}
        self.first_ms = 10.0   # of the first answer
        self.passed = True     # what verification says
        self.settled, self.stages_settled = {}, None
        self.disturbed = []    # indices of a report's runs
        self.disturbed_ms = 0.0  # by how much these took longer

    @staticmethod
    def next_of(times, default):
        return default if not times else times.pop(0) if len(times) > 1 else times[0]

    def budget(self, seconds=AMPLE):
        return Budget(seconds, clock=lambda: self.now)

    def answer(self, program, flags, ranks):
        self.now += self.step_s
        return {"hios-profile": self.write_profile, "hios-schedule": self.write_schedule,
                "hios-run": self.write_report}[program](flags, ranks)

    def write_profile(self, flags, ranks):
        file, way = Path(flag(flags, "--output")), Way(ranks, int(flag(flags, "--threads")))
        if "--update" in flags:
            configuration = json.loads(file.read_text())["configurations"][0]
        else:
            self.assertFalse(file.exists())
            ms = self.next_of(self.operator_ms.get(way), 10.0)
            configuration = {"ranks": ranks, "threads": way.threads, "operators": {"conv": {"ms": ms}},
                             "transfers": [{"from": 0, "to": 1, "points": [[1024, ms / 100]]}], "protocol": {}}
            if way in self.settled:
                configuration["protocol"]["settling"] = {"operators": {"sweeps": 8, "settled": self.settled[way]}}
        if flag(flags, "--stages") != "none":
            configuration["stages"] = [{"groups": [["conv"], ["conv"]], "ms": self.stage_ms}]
            if self.stages_settled is not None:
                settling = configuration["protocol"].setdefault("settling", {})
                settling["stages"] = {"sweeps": 10, "settled": self.stages_settled}
        file.write_text(json.dumps({"configurations": [configuration]}))

    def write_schedule(self, flags, _):
        configurations = json.loads(Path(flag(flags, "--profile")).read_text())["configurations"]
        way = int(flag(flags, "--devices")), int(flag(flags, "--threads"))
        ms = next(c["operators"]["conv"]["ms"] for c in configurations if (c["ranks"], c["threads"]) == way)
        if "--export-graph" in flags:
            Path(flag(flags, "--export-graph")).write_text(json.dumps(self.graph))
        Path(flag(flags, "--output")).write_text(json.dumps(
            {"graph": {"cuts": self.cuts} if "--cut" in flags else {}, "devices": [{"stages": [[[self.plan]]]}],
             "predicted": {"latency_ms": ms, "lower_bound_ms": ms / 2, "bound": "work"}}))

    def write_report(self, flags, ranks):
        if "--schedule" not in flags:  # the first answer
            Path(flag(flags, "--json")).write_text(json.dumps({"latency_ms": {"best_quarter": self.first_ms},
                                                               "model": {"batch": 1}}))
            return
        schedule = Path(flag(flags, "--schedule"))
        threads = int(schedule.stem.removeprefix("schedule-")[2])
        ms = self.next_of(self.latency_ms.get(Way(ranks, threads)), 10.0)
        verified = {"passed": self.passed, "bitwise": True} if "--verify" in flags else None
        iterations_ms = [ms + (index in self.disturbed) * self.disturbed_ms
                         for index in range(int(flag(flags, "--iterations")))]
        Path(flag(flags, "--json")).write_text(json.dumps(
            {"iterations_ms": iterations_ms, "disturbed_iterations": self.disturbed, "verified": verified,
             "overhead_ms": 0.1, "model": {"batch": 1},
             "predicted_ms": json.loads(schedule.read_text())["predicted"]["latency_ms"]}))

    def chosen_ms(self, way):
        configurations = json.loads(self.profile.file.read_text())["configurations"]
        return next(c["operators"]["conv"]["ms"] for c in configurations if (c["ranks"], c["threads"]) ==
                    (way.ranks, way.threads))

    def measure(self):
        self.profile.measure(self.budget())
        self.rounds.schedule(self.rows)
        self.rounds.run_all(self.budget())
        return summarize(self.rows, "net", self.rounds.repeated, self.profile.unsettled())

    def row(self, name):
        return next(row for row in self.rows if row.name == name)

"""Schedules and rounds: a round runs every row once, so that noise affects all rows alike.

Rounds go on until the budget is spent. Halfway, while there is time, a way with a row whose best quarter differs from its
prediction by more than OFF is profiled, planned and run again: either the profile or the runs were disturbed. Each way is
repeated once."""

import json
import sys

from hios.benchmark.samples import best_quarter
from hios.benchmark.summary import cut_operators
from hios.benchmark.why import graph_file
from hios.launch.programs import ProgramFailed

OFF = 0.10
ROUNDS_OFF = 2  # for a way that was planned again, where they fit
NOTHING_CERTIFIED = "or none gives the bits of its whole"  # the error of hios-schedule where no operator can be cut


class Rounds:
    def __init__(self, programs, profile, rows, model, effort, seed, inputs=(), cut_profile=None):
        """`cut_profile`: that of the rows whose operators are cut; None: there are none."""
        self.programs, self.profile, self.rows, self.cut_profile = programs, profile, rows, cut_profile
        self.model, self.effort, self.seed, self.inputs = model, effort, seed, inputs
        self.last = 0       # number of the last round
        self.round_s = 0.0  # seconds of the last one of all rows
        self.repeated = []  # repeated measurements, a line each

    def schedule(self, rows):
        """Plans these rows by the current profile. If that gives another schedule, the samples of the old one are
        dropped. A row with cuts is left out where no operator can be cut for its ranks."""
        drawn = set()
        for row in rows:
            try:
                self.plan(row, drawn)
            except ProgramFailed as failed:
                if not row.cut or NOTHING_CERTIFIED not in failed.errors:
                    raise
                self.rows = [other for other in self.rows if other is not row]

    def plan(self, row, drawn):
        """`drawn`: the ways whose graph has a file."""
        before = stages_of(row.schedule)
        graph = []
        row.whole = not row.cut
        if row.cut:
            graph = ["--cut", "auto"]
        elif row.way not in drawn:
            graph = ["--export-graph", graph_file(row.schedule.parent, row.way)]
            drawn.add(row.way)
        self._schedule(row, graph)
        if row.cut and cut_operators(row.schedule) == 0:
            # In the profile of cuts, operators compute as their shards must. Where nothing is cut, nothing asks for that.
            row.whole = True
            self._schedule(row, [])
        row.report = None
        if stages_of(row.schedule) != before:
            row.rounds.clear()

    def _schedule(self, row, graph):
        self.programs.run("hios-schedule", *self.model, "--profile", self.profile_of(row).file,
                          "--devices", row.way.ranks, "--threads", row.way.threads, "--streams", row.streams,
                          "--algorithm", row.algorithm, "--time-limit", self.effort.plan_s,
                          "--output", row.schedule, *graph, "--force", "-q")

    def profile_of(self, row):
        return self.profile if row.whole else self.cut_profile

    def run(self, rows, after_round=lambda: None, budget=None):
        """Runs one more round of these rows. The first run of a plan is verified."""
        self.last += 1
        spent = f" ({budget.spent():.0f} of {budget.seconds:.0f} s)" if budget else ""
        print(f"round {self.last}{spent} ...", file=sys.stderr, flush=True)
        for row in rows:
            report = self._report(row, row.round_file(self.last))
            row.rounds[self.last] = report
            row.report = row.report or report
        after_round()

    def _report(self, row, file):
        extra = [] if row.report else ["--verify", "--trace", row.trace]
        try:
            self.programs.run("hios-run", *self.model, *self.inputs, "--schedule", row.schedule,
                              "--profile", self.profile_of(row).file, "--backend", "auto", "--seed", self.seed, "--warmup", 3,
                              "--iterations", self.effort.iterations, *extra, "--json", file, "--force", "-q",
                              ranks=row.way.ranks)
        except ProgramFailed:
            if not wrong_results(file):
                raise
        return json.loads(file.read_text())

    def more(self, budget):
        """True if another round is wanted and fits into the budget."""
        return (self.effort.rounds is None or self.last < self.effort.rounds) and budget.fits(self.round_s)

    def round_of_all(self, budget, after_round):
        self.round_s = budget.timed(lambda: self.run(self.rows, after_round, budget))

    def run_all(self, budget, after_round=lambda: None):
        """Runs one round in any case, and more until the budget is spent."""
        self.round_of_all(budget, after_round)
        halfway = budget.spent() + budget.left() / 2
        while self.more(budget) and (self.effort.rounds or budget.spent() < halfway):
            self.round_of_all(budget, after_round)
        self.repeat_off(budget)
        while self.more(budget):
            self.round_of_all(budget, after_round)

    def repeat_off(self, budget):
        """Measures ways again whose rows differ from their predictions, while there is time for it."""
        for profile in filter(None, (self.profile, self.cut_profile)):
            self.repeat_off_profile(profile, budget)

    def repeat_off_profile(self, profile, budget):
        for way in profile.ways:
            rows = [row for row in self.rows if row.way == way and self.profile_of(row) is profile]
            if not rows:
                continue
            worst = max(rows, key=lambda row: abs(error_of(row)))
            before = error_of(worst)
            cost_s = profile.turn_s + self.effort.plan_s + 2 * self.round_s
            if abs(before) <= OFF or not budget.fits(cost_s):
                continue
            profile.again(way, [row.schedule for row in rows if row.streams > 1 and not row.cut])
            self.schedule(rows)
            rows = [row for row in rows if row in self.rows]
            missing = max(ROUNDS_OFF, max(row_count(self.rows) - len(row.rounds) for row in rows))
            self.run(rows, budget=budget)
            while missing > 1 and budget.fits(self.round_s):
                self.run(rows, budget=budget)
                missing -= 1
            cut = ", cut," if worst.cut else ""
            self.repeated.append(f"{way} was profiled, planned and run again: {worst.algorithm}{cut} was "
                                 f"{100 * before:+.1f} % off its prediction, and is "
                                 f"{100 * error_of(worst):+.1f} % off now")


def row_count(rows):
    """The rounds of the row that has most."""
    return max(len(row.rounds) for row in rows)


def wrong_results(report_file):
    """True if a run ended, and its verification failed."""
    try:
        verified = json.loads(report_file.read_text())["verified"]
        return verified is not None and not (verified["passed"] and verified["bitwise"])
    except (OSError, ValueError, KeyError):
        return False


def stages_of(schedule_file):
    """The devices of a schedule file; None without a file."""
    if not schedule_file.exists():
        return None
    return [device["stages"] for device in json.loads(schedule_file.read_text())["devices"]]


def error_of(row):
    """(measured - predicted) / measured, over all rounds."""
    ms = best_quarter(row.samples(), row.disturbed())
    return (ms - row.report["predicted_ms"]) / ms

"""Schedules and rounds: a round runs every row once, so that noise affects all rows alike.

Doubtful measurements are repeated, within limits:
  - a round in which the first row, one core, was slower than in its fastest round by more than MOVED is replaced;
  - a way with a row whose best quarter differs from its prediction by more than OFF is profiled again, and its rows
    are planned and run again: either the profile or the runs were disturbed. Each way is repeated once.
"""

import json
import sys

from .summary import best_quarter

OFF = 0.10
MOVED = 0.10
MOST_ROUNDS_AGAIN = 2
ROUNDS_OFF = 2  # at least, for a way that was planned again


class Rounds:
    def __init__(self, programs, profile, rows, model, effort, seed):
        self.programs, self.profile, self.rows = programs, profile, rows
        self.model, self.effort, self.seed = model, effort, seed
        self.last = 0       # number of the last round
        self.repeated = []  # repeated measurements, a line each

    def schedule(self, rows):
        """Plans these rows by the current profile. If that gives another schedule, the samples of the old one are
        dropped."""
        for row in rows:
            before = stages_of(row.schedule)
            self.programs.run("hios-schedule", *self.model, "--profile", self.profile.file,
                              "--devices", row.way.ranks, "--threads", row.way.threads, "--streams", row.streams,
                              "--algorithm", row.algorithm, "--output", row.schedule, "--force", "-q")
            row.report = None
            if stages_of(row.schedule) != before:
                row.rounds.clear()

    def run(self, rows, after_round=lambda: None):
        """Runs one more round of these rows. The first run of a plan is verified."""
        self.last += 1
        print(f"round {self.last} ...", file=sys.stderr, flush=True)
        for row in rows:
            extra = [] if row.report else ["--verify", "--trace", row.trace]
            file = row.round_file(self.last)
            self.programs.run("hios-run", *self.model, "--schedule", row.schedule, "--profile", self.profile.file,
                              "--backend", "auto", "--seed", self.seed, "--warmup", 3,
                              "--iterations", self.effort.iterations, *extra, "--json", file, "--force", "-q",
                              ranks=row.way.ranks)
            report = json.loads(file.read_text())
            row.rounds[self.last] = report
            row.report = row.report or report
        after_round()

    def run_all(self, after_round=lambda: None):
        for _ in range(self.effort.rounds):
            self.run(self.rows, after_round)

    def replace_moved(self, after_round=lambda: None):
        """Replaces rounds in which one core was slower than in its fastest round."""
        for _ in range(MOST_ROUNDS_AGAIN):
            times = {number: best_quarter(report["iterations_ms"], report["disturbed_iterations"])
                     for number, report in self.rows[0].rounds.items()}
            slowest = max(times, key=times.get)
            moved = times[slowest] / min(times.values()) - 1
            if moved <= MOVED:
                return
            self.run(self.rows, after_round)
            for row in self.rows:
                row.rounds.pop(slowest, None)
            self.repeated.append(f"round {slowest} was repeated: one core was {100 * moved:.0f} % "
                                 "slower in it than in the fastest round")

    def repeat_off(self):
        """Measures ways again whose rows differ from their predictions."""
        for way in self.profile.ways:
            rows = [row for row in self.rows if row.way == way]
            worst = max(rows, key=lambda row: abs(error_of(row)))
            before = error_of(worst)
            if abs(before) <= OFF:
                continue
            self.profile.again(way, [row.schedule for row in rows if row.streams > 1])
            self.schedule(rows)
            missing = max(self.effort.rounds - len(row.rounds) for row in rows)
            for _ in range(max(ROUNDS_OFF, missing)):
                self.run(rows)
            self.repeated.append(f"{way} was profiled, planned and run again: {worst.algorithm} was "
                                 f"{100 * before:+.1f} % off its prediction, and is "
                                 f"{100 * error_of(worst):+.1f} % off now")


def stages_of(schedule_file):
    """The devices of a schedule file; None without a file."""
    if not schedule_file.exists():
        return None
    return [device["stages"] for device in json.loads(schedule_file.read_text())["devices"]]


def error_of(row):
    """(measured - predicted) / measured, over all rounds."""
    ms = best_quarter(row.samples(), row.disturbed())
    return (ms - row.report["predicted_ms"]) / ms

"""One profile from several short ones.

The ways are profiled in turn, several times, so that a disturbed minute affects one turn of each way and not all
turns of one. Noise only adds time: the turns of a way that agree with the fastest count, and the middle one of
them is used as a whole, so that all times of a configuration were measured together. (The fastest turn would be
biased: it is the best of three, and runs are not.)

Stages, which take longest, accumulate from turn to turn in a file of their own; they are measured for the
algorithms that use several streams.
"""

import json
import sys

from hios.benchmark.budget import MOST_TURNS, PROFILE_SHARE
from hios.launch.programs import ProgramFailed

NOT_MEASURED_FOR = ("best",)  # the search estimates stages that no other planner asked for
AGREE = 0.03


def operators_ms(configuration):
    """The total time of all operators, by which turns of a way are compared."""
    return sum(times["ms"] for times in configuration["operators"].values())


def transfers_ms(configuration):
    return sum(ms for transfer in configuration.get("transfers", []) for _, ms in transfer["points"])


def middle_of_the_fast(turns):
    """The middle turn (of two, the faster) of those within AGREE of the fastest."""
    ordered = sorted(turns, key=lambda turn: (operators_ms(turn), transfers_ms(turn)))
    fast = [turn for turn in ordered if operators_ms(turn) <= (1 + AGREE) * operators_ms(ordered[0])]
    return fast[(len(fast) - 1) // 2]


def did_not_settle(configuration):
    """True if the profiler reports that its operators or stages did not settle; old profiles report nothing."""
    return any(state.get("settled") is False for state in configuration["protocol"].get("settling", {}).values())


class TurnsProfile:
    """A profile in the folder, from the turns that were measured so far."""

    def __init__(self, programs, rows, model, folder, effort, seed, suffix="", leaves_out=None):
        """`leaves_out`: an error of hios-profile for which a way has no profile; None: every error ends the measuring."""
        self.leaves_out = leaves_out
        self.programs, self.rows, self.model = programs, rows, model
        self.folder, self.effort, self.seed = folder, effort, seed
        self.turn_s = 0.0                             # seconds of the last turn of all ways
        self.file = folder / f"profile{suffix}.json"
        self.parts = folder / f"turns{suffix}"
        self.ways = sorted({row.way for row in rows})
        self.turns = {way: [] for way in self.ways}   # configurations, in order
        self.stages = {way: {} for way in self.ways}  # measured times by the text of their groups
        self.settling = {}                            # how they settled, by way, if the profiler reports it
        self.parts.mkdir(exist_ok=True)

    def measure(self, budget):
        """Measures a turn, and more of them while they fit into their share of the budget."""
        for turn in range(1, MOST_TURNS + 1):
            if turn > 1 and not budget.fits(self.turn_s, PROFILE_SHARE):
                break
            print(f"profiling, turn {turn} of at most {MOST_TURNS} ({budget.spent():.0f} of {budget.seconds:.0f} s) ...",
                  file=sys.stderr, flush=True)
            self.turn_s = budget.timed(self.turn_of_all)
            if not self.ways:
                return
        self.write()

    def turn_of_all(self):
        for way in list(self.ways):
            try:
                self.turn(way)
            except ProgramFailed as failed:
                if self.leaves_out is None or self.leaves_out not in failed.errors:
                    raise
                self.ways.remove(way)
        for way in self.ways:
            self.grow_stages(way)

    def turn(self, way):
        """Measures operators and transfers once more."""
        file = self.parts / f"{way.key}-{len(self.turns[way]) + 1}.json"
        self._profile(way, file, "--iterations", self.effort.sweeps, "--stages", "none", *self._streams(way))
        self.turns[way].append(self._configuration(file))

    def grow_stages(self, way):
        """Measures more of the stages that the algorithms of this way ask for, with the operators of its first turn."""
        wanted = [row.algorithm for row in self.rows if row.way == way and row.streams > 1
                  and row.algorithm not in NOT_MEASURED_FOR]
        if not wanted:
            return
        file = self.parts / f"{way.key}-stages.json"
        if not file.exists():
            file.write_text((self.parts / f"{way.key}-1.json").read_text())
        self._profile(way, file, "--iterations", 10, "--stages", ",".join(wanted), *self._streams(way),
                      "--time-limit", self.effort.stages_s, "--update")
        self._keep_stages(way, self._configuration(file))

    def again(self, way, schedules):
        """Measures one more turn of a way, with the stages of these schedules. Returns True if the profile's times changed."""
        before = json.dumps(self._chosen(way))
        number = len(self.turns[way]) + 1
        self.turn(way)
        for schedule in schedules:
            file = self.parts / f"{way.key}-{number}-{schedule.stem}.json"
            self._profile(way, file, "--iterations", 10, "--stages", schedule, *self._streams(way),
                          "--time-limit", self.effort.stages_s)
            self._keep_stages(way, self._configuration(file), replace=True)
        self.write()
        return json.dumps(self._chosen(way)) != before

    def unsettled(self):
        return [way for way in self.ways if did_not_settle(self._chosen(way))]

    def write(self):
        profile = {"format": "hios-profile", "version": 1,
                   "configurations": [self._chosen(way) for way in self.ways]}
        self.file.write_text(json.dumps(profile, indent=1) + "\n")

    def _chosen(self, way):
        turn = middle_of_the_fast(self.turns[way])
        chosen = {**turn, "stages": list(self.stages[way].values())}
        if way in self.settling:
            settling = {**turn["protocol"].get("settling", {}), "stages": self.settling[way]}
            chosen["protocol"] = {**turn["protocol"], "settling": settling}
        return chosen

    def _keep_stages(self, way, configuration, replace=False):
        for stage in configuration.get("stages", []):
            key = json.dumps(stage["groups"])
            if replace or key not in self.stages[way]:
                self.stages[way][key] = stage
        settling = configuration["protocol"].get("settling", {}).get("stages")
        if settling is not None:
            self.settling[way] = settling

    def _streams(self, way):
        return ["--streams", max(row.streams for row in self.rows if row.way == way)]

    def _profile(self, way, file, *flags):
        self.programs.run("hios-profile", *self.model, "--backend", "auto", "--threads", way.threads,
                          "--warmup", 3, "--settle", self.effort.settle_s, "--seed", self.seed, *flags, "--output", file, "-q",
                          ranks=way.ranks)

    @staticmethod
    def _configuration(file):
        """The one configuration of a profile."""
        (configuration,) = json.loads(file.read_text())["configurations"]
        return configuration

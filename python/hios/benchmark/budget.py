"""The time for measuring, and how it is shared out: never by a clock that a disturbed machine can stretch for ever.

Three steps must happen, or there is nothing to print: a turn of the profile, a plan of each row, a round of all rows. Every
further turn or round starts only if one like the last fits into what is left. Numbers of runs follow from the first answer,
the network's time on one core."""

import time
from dataclasses import dataclass

PROFILE_SHARE = 0.4  # of the budget, until the last turn of the profile has ended
MOST_TURNS = 3


class Budget:
    """Seconds from its construction on."""

    def __init__(self, seconds, clock=time.monotonic):
        self.seconds, self.clock = seconds, clock
        self.started = clock()

    def spent(self):
        return self.clock() - self.started

    def left(self):
        return self.seconds - self.spent()

    def fits(self, seconds, share=1.0):
        """True if so many seconds are left of this share of the budget."""
        return self.spent() + seconds <= share * self.seconds

    def timed(self, step):
        """Does a step, and returns its seconds."""
        before = self.clock()
        step()
        return self.clock() - before


def clamp(value, low, high):
    return max(low, min(high, value))


@dataclass(frozen=True)
class Effort:
    """How often things run."""

    rounds: int | None = None  # each runs every row once; None: as many as the budget allows
    iterations: int = 24       # runs per row and round
    sweeps: int = 16           # of the profiler, in each turn
    stages_s: float = 12       # seconds for measuring stages, in each turn and way
    plan_s: float = 10         # seconds for `best`
    settle_s: float = 20       # further seconds of the profiler until times settle


def effort_for(budget_s, one_core_ms, ways, rows, rounds=None, iterations=None):
    """The effort that fits a budget for a network that takes so long on one core: a turn's sweeps take at most 8 % of
    the budget, a round's runs 10 %."""
    each_s = one_core_ms / 1000
    return Effort(rounds, iterations or round(clamp(0.10 * budget_s / rows / each_s, 3, 24)),
                  round(clamp(0.08 * budget_s / ways / each_s, 4, 16)), stages_s=clamp(0.06 * budget_s, 1, 12),
                  plan_s=clamp(0.03 * budget_s, 1, 10), settle_s=clamp(0.02 * budget_s, 0.5, 20))

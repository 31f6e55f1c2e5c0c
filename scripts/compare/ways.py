"""The rows of the comparison, and the ways of using the machine that they stand for."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Way:
    """How many ranks, and cores for each: what a profile has one configuration for."""

    ranks: int
    threads: int

    def __str__(self):
        return (f"{self.ranks} rank{'s' if self.ranks > 1 else ''} x "
                f"{self.threads} core{'s' if self.threads > 1 else ''}")

    @property
    def key(self):
        return f"{self.ranks}x{self.threads}"


class Row:
    """One way, one algorithm: its files, and what was measured.

    `rounds` are the reports of every round, by its number; all are of one schedule. `report` is of the last run that
    was verified, which is the first one by the newest plan."""

    def __init__(self, way, streams, algorithm, folder):
        self.way, self.streams, self.algorithm = way, streams, algorithm
        self.name = f"{way} {algorithm}"
        key = f"{way.key}-{algorithm}"
        self.schedule = folder / f"schedule-{key}.json"
        self.report_file = folder / f"report-{key}.json"
        self.trace = folder / f"trace-{key}.json"
        self.report, self.rounds = None, {}

    def round_file(self, number):
        return self.report_file.parent / "rounds" / f"{self.report_file.stem}-{number}.json"

    def samples(self):
        return [ms for report in self.rounds.values() for ms in report["iterations_ms"]]

    def disturbed(self):
        """The places of those samples during which the machine did something else."""
        places, first = [], 0
        for report in self.rounds.values():
            places += [first + place for place in disturbed_in(report)]
            first += len(report["iterations_ms"])
        return places


def disturbed_in(report):
    """The places in its iterations_ms; an older report does not name them."""
    return report.get("disturbed_iterations", [])


# ranks, cores a rank, streams a rank, algorithm
ROWS = [
    (1, 1, 1, "sequential"),
    (1, 2, 1, "sequential"),
    (1, 2, 2, "ios"),
    (2, 1, 1, "inter-lp"),
    (2, 1, 1, "hios-lp"),
    (2, 1, 1, "inter-mr"),
    (2, 1, 1, "hios-mr"),
]


def make_rows(folder):
    return [Row(Way(ranks, threads), streams, algorithm, folder) for ranks, threads, streams, algorithm in ROWS]


@dataclass(frozen=True)
class Effort:
    """Enough samples in a few minutes."""

    rounds: int = 5       # turns of every row
    iterations: int = 24  # runs of a row in a round
    sweeps: int = 16      # of the profiler over the network, in each of its turns
    stages_s: int = 12    # for measuring stages, in each turn


EFFORTS = {"nasnet_large": Effort(rounds=4, iterations=8, sweeps=8)}


def effort_for(model, rounds=None, iterations=None):
    effort = EFFORTS.get(model, Effort())
    return Effort(rounds or effort.rounds, iterations or effort.iterations, effort.sweeps, effort.stages_s)

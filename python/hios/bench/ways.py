"""The rows of the comparison, and their ways of using the machine."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Way:
    """A number of ranks, and of cores for each: one configuration of a profile."""

    ranks: int
    threads: int

    def __str__(self):
        return (f"{self.ranks} rank{'s' if self.ranks > 1 else ''} x "
                f"{self.threads} core{'s' if self.threads > 1 else ''}")

    @property
    def key(self):
        return f"{self.ranks}x{self.threads}"


class Row:
    """An algorithm on a way: its files and measurements.

    `rounds`: the reports of all rounds, by number, for one schedule. `report`: that of the last verified run, which is
    the first run of the newest plan."""

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
        """The indices of the samples during which the machine did something else."""
        indices, first = [], 0
        for report in self.rounds.values():
            indices += [first + index for index in report["disturbed_iterations"]]
            first += len(report["iterations_ms"])
        return indices


# ranks, cores per rank, streams per rank, algorithm
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
    """The number of samples, chosen for a few minutes in total."""

    rounds: int = 5       # each runs every row once
    iterations: int = 24  # runs per row and round
    sweeps: int = 16      # of the profiler, in each turn
    stages_s: int = 12    # seconds for measuring stages, in each turn


EFFORTS = {"nasnet_large": Effort(rounds=4, iterations=8, sweeps=8)}


def effort_for(model, rounds=None, iterations=None):
    effort = EFFORTS.get(model, Effort())
    return Effort(rounds or effort.rounds, iterations or effort.iterations, effort.sweeps, effort.stages_s)

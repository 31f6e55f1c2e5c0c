"""The rows of the comparison, and their ways of using the machine."""

import os
from dataclasses import dataclass

from hios.errors import InputError

MOST_CORES = 16  # a network at batch 1 rarely gains from more, and each way costs measuring time
MOST_RANKS = 4   # unless --ranks says otherwise


def counted(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, order=True)
class Way:
    """A number of ranks, and of cores for each: one configuration of a profile."""

    ranks: int
    threads: int

    def __str__(self):
        return f"{counted(self.ranks, 'rank')} x {counted(self.threads, 'core')}"

    @property
    def key(self):
        return f"{self.ranks}x{self.threads}"

    @property
    def cores(self):
        return self.ranks * self.threads


class Row:
    """An algorithm on a way: its files and measurements. `cut`: it chooses operators to cut over the ranks, too. `whole`:
    its plan cuts none, and is by the profile of whole operators.

    `rounds`: the reports of all rounds, by number, for one schedule. `report`: that of the last verified run, which is
    the first run of the newest plan."""

    def __init__(self, way, streams, algorithm, folder, cut=False):
        self.way, self.streams, self.algorithm, self.cut = way, streams, algorithm, cut
        self.name = f"{way} {algorithm}" + (", cut" if cut else "")
        key = f"{way.key}-{algorithm}" + ("-cut" if cut else "")
        self.schedule = folder / f"schedule-{key}.json"
        self.report_file = folder / f"report-{key}.json"
        self.trace = folder / f"trace-{key}.json"
        self.report, self.rounds, self.whole = None, {}, not cut

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


def rank_counts(cores, most):
    """2, 4, 8 … up to `most` ranks and one core each; `most` itself too."""
    counts = {most} if most > 1 else set()
    ranks = 2
    while ranks <= min(most, cores):
        counts.add(ranks)
        ranks *= 2
    return sorted(counts)


def algorithms_of(streams, all_rows):
    """The planners for several ranks. With one stream Alg. 2 has nothing to group: inter-lp is hios-lp, inter-mr hios-mr."""
    if all_rows or streams > 1:
        return ["inter-lp", "hios-lp", "inter-mr", "hios-mr", "best"]
    return ["hios-lp", "hios-mr", "best"]


def make_rows(folder, cores=2, most_ranks=2, all_rows=False, cuts=False):
    """One rank on one core; one rank on all cores, with and without streams; then ranks that share the cores, with `cuts`
    also operators."""
    rows = [Row(Way(1, 1), 1, "sequential", folder)]
    if cores > 1:
        rows.append(Row(Way(1, cores), 1, "sequential", folder))
        rows.append(Row(Way(1, cores), min(cores, 4), "ios", folder))
    for ranks in rank_counts(cores, most_ranks):
        threads = cores // ranks
        streams = min(threads, 4)
        rows += [Row(Way(ranks, threads), streams, algorithm, folder) for algorithm in algorithms_of(streams, all_rows)]
        if cuts:
            rows += [Row(Way(ranks, threads), streams, algorithm, folder, cut=True) for algorithm in ("hios-lp", "best")]
    return rows


@dataclass(frozen=True)
class Machine:
    """The cores and ranks of the comparison, and remarks on what was left out."""

    cores: int
    ranks: int
    remarks: tuple = ()


def machine_of(cores, ranks, has_mpirun, allowed=None):
    """Returns the machine by --cores and --ranks (None: not given), if so many cores are allowed. Throws InputError."""
    allowed = allowed or len(os.sched_getaffinity(0))
    remarks = []
    if cores is not None and cores > allowed:
        raise InputError(f"--cores {cores}: this process may use {counted(allowed, 'core')}: --cores {allowed}")
    if cores is None and allowed > MOST_CORES:
        remarks.append(f"{MOST_CORES} of {allowed} cores are used (--cores {allowed} uses all)")
    cores = cores or min(allowed, MOST_CORES)
    if ranks is not None and ranks > cores:
        raise InputError(f"--ranks {ranks}: a rank needs a core of its own, and there {'is' if cores == 1 else 'are'} "
                         f"{counted(cores, 'core')}: --ranks {cores}")
    most = ranks or min(cores, MOST_RANKS)
    if cores == 1:
        remarks.append("one core: one rank only, so there is nothing to compare it with")
    elif most > 1 and not has_mpirun:
        remarks.append("no mpirun in PATH: one rank only (Debian: apt-get install openmpi-bin)")
        most = 1
    return Machine(cores, most, tuple(remarks))

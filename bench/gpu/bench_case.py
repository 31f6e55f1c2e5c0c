"""A network at one size in one arithmetic: its files, and the commands that make them."""

import json
from dataclasses import dataclass
from pathlib import Path

from target import Target


@dataclass(frozen=True)
class Row:
    """A row. `ranks` on the one GPU; `transport` only with several. `merge`: the value of --merge."""

    name: str
    algorithm: str
    ranks: int = 1
    graphs: bool = True
    transport: str | None = None
    merge: str = "none"


SEQUENTIAL = Row("sequential", "sequential")
PLAIN = Row("sequential, no graphs", "sequential", graphs=False)
IOS = Row("ios", "ios")
# Networks with 1x1 convolutions that can be merged.
MERGED = (Row("sequential, merged", "sequential", merge="siblings"), Row("ios, merged", "ios", merge="siblings"))
WITH_SIBLINGS = ("squeezenet", "inception_v3")
TWO_RANKS = tuple(Row(f"hios-lp, 2 ranks, {transport}", "hios-lp", 2, transport=transport)
                  for transport in ("ipc", "cuda-aware", "staged"))


@dataclass(frozen=True)
class Case:
    network: str
    size: int
    math: str
    folder: Path
    target: Target

    @property
    def name(self):
        return f"{self.network} {self.size} {self.math}"

    def flags(self, merge="none"):
        return self.target.model(self.network, self.size) + ([] if merge == "none" else ["--merge", merge])

    def file(self, what):
        return self.folder / f"{self.network}-{self.size}-{self.math}-{what}.json"

    def profile_file(self, ranks, merge="none"):
        return self.file(f"profile-{ranks}-{merge}")

    def schedule_file(self, row):
        return self.file(f"schedule-{row.algorithm}-{row.merge}")

    def report_file(self, row, number):
        return self.file(f"report-{row.algorithm}-{row.merge}-{row.ranks}-{row.transport or 'none'}-"
                         f"{int(row.graphs)}-{number}")

    def export_command(self, programs):
        return [programs / "hios-schedule", *self.flags(), "--export-model", self.file("model"), "--force", "-q"]

    def profile_command(self, installation, ranks, transport="auto", has_smcuda=False, stages=True, merge="none"):
        """The profiler's command. Measures stages of several groups for ios only, on its rank, and none without `stages`."""
        target = self.target
        command = [installation.programs / "hios-profile", *self.flags(merge), *target.compute(self.math),
                   "--warmup", "3", "--iterations", target.sweeps, "--output", self.profile_file(ranks, merge),
                   "--force", "-q"]
        if ranks == 1:
            wanted = ["--stages", "ios", "--time-limit", target.stage_seconds] if stages else ["--stages", "none"]
            return command + ["--streams", target.streams, *wanted]
        return installation.mpi(ranks, target.btl(transport, has_smcuda)) + command + target.shared(transport)

    def schedule_command(self, programs, row):
        streams = self.target.streams if row.ranks == 1 and row.algorithm != "sequential" else 1
        return [programs / "hios-schedule", *self.flags(row.merge),
                "--profile", self.profile_file(row.ranks, row.merge),
                *self.target.devices(row.ranks, self.math, streams), "--algorithm", row.algorithm,
                "--output", self.schedule_file(row), "--force", "-q"]

    def run_command(self, installation, row, number, has_smcuda=False, more=()):
        target = self.target
        command = [installation.programs / "hios-run", *self.flags(row.merge), "--schedule", self.schedule_file(row),
                   "--profile", self.profile_file(row.ranks, row.merge), "--backend", target.backend, *target.graphs(row.graphs),
                   "--warmup", target.warmup, "--iterations", target.iterations,
                   "--json", self.report_file(row, number), "--force", "-q", *more]
        if row.ranks == 1:
            return command
        return installation.mpi(row.ranks, target.btl(row.transport, has_smcuda)) + command + target.shared(row.transport)

    def report(self, row, number):
        """The run's report; None if there is no readable one."""
        try:
            return json.loads(self.report_file(row, number).read_text())
        except (OSError, ValueError):
            return None

"""Profiles, schedules and runs. All rows of a network use one profile and run in turn."""

import json
import sys
import time


class Bench:
    """The programs, and a folder for their files. `seconds` and `inferences`: measured in a run, at least;
    `settle_s`: further time of the profiler until times settle."""

    def __init__(self, programs, folder, seconds, sweeps, limit_s, seed=0, settle_s=20, inferences=40):
        self.programs, self.folder, self.seed, self.inferences = programs, folder, seed, inferences
        self.seconds, self.sweeps, self.limit_s, self.settle_s = seconds, sweeps, limit_s, settle_s

    def stem(self, row):
        return self.folder / f"{row.model}-{row.batch}"

    def profile(self, network, rows):
        """Returns a profile for all rows. `network`: the flags that select it."""
        file = self.stem(rows[0]).with_suffix(".profile.json")
        file.unlink(missing_ok=True)
        for ranks, threads in sorted({row.way for row in rows}):
            print(f"profiling {rows[0].model}, batch {rows[0].batch}: {ranks} x {threads} ...", file=sys.stderr, flush=True)
            objective = ["--objective", "throughput"] if ranks > 1 else []
            self.programs.run("hios-profile", *network, "--threads", threads, "--warmup", 3, "--iterations", self.sweeps,
                              "--settle", self.settle_s, "--stages", "none", *objective, "--seed", self.seed, "--output", file,
                              "--update", "-q",
                              ranks=ranks)
        return file

    def schedule(self, network, rows, profile, platform=None):
        """Writes a schedule for each algorithm. Plans for latency get the smallest `in_flight` that their period needs."""
        for row in rows:
            if row.algorithm == "sequential":
                continue
            objective = ["--objective", "throughput"] if row.algorithm in ("slice-graph", "best") else []
            devices = ["--platform", platform] if platform else ["--devices", row.ranks, "--threads", row.threads]
            plan = [*network, "--profile", profile, *devices, "--algorithm", row.algorithm, "--time-limit", self.limit_s]
            self.programs.run("hios-schedule", *plan, *objective, "--output", self.file(row), "--force", "-q")
            if not objective and row.in_flight is None:
                compared = self.programs.json("hios-schedule", *plan, "--objective", "throughput", "--compare")
                (answer,) = [each for each in compared["comparison"] if each["algorithm"] == row.algorithm]
                row.in_flight = answer["in_flight"]

    def file(self, row):
        return self.folder / f"{row.model}-{row.batch}.{row.algorithm}.json"

    def run(self, network, row, profile, verify):
        plan = [] if row.algorithm == "sequential" else ["--schedule", self.file(row)]
        if not plan:
            plan = ["--threads", row.threads]
        in_flight = ["--in-flight", row.in_flight] if row.in_flight else []
        copies = ["--copies", row.copies] if row.copies > 1 else []
        row.reports.append(self.programs.json(
            "hios-run", *network, *plan, *in_flight, *copies, "--profile", profile, "--seed", self.seed, "--inferences",
            self.inferences, "--duration", self.seconds, *(["--verify"] if verify else []), ranks=row.jobs_ranks))

    def turns(self, network, rows, profile, more):
        """Runs all rows once, and again while `more(turns, seconds of the last)` is true."""
        turn, round_s = 0, 0.0
        while turn == 0 or more(turn, round_s):
            print(f"{rows[0].model}, batch {rows[0].batch}: round {turn + 1} ...", file=sys.stderr, flush=True)
            before = time.monotonic()
            for row in rows:
                self.run(network, row, profile, verify=turn == 0)
            turn, round_s = turn + 1, time.monotonic() - before


def write_platform(file, devices, threads, memory_bytes):
    """Writes a platform of equal devices with this memory each."""
    file.write_text(json.dumps({"format": "hios-platform", "version": 1, "devices": [
        {"name": f"cpu{i}", "kind": "cpu", "threads": threads, "memory_bytes": memory_bytes} for i in range(devices)]}))
    return file

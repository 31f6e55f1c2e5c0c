"""Starts the three programs; one that fails ends the study with its error."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path


class Programs:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.environment = dict(os.environ)
        if os.geteuid() == 0:  # Open MPI requires both
            self.environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            self.environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        if not (self.folder / "hios-schedule").exists():
            raise SystemExit(f"no hios-schedule in {self.folder}: build the preset release first")

    def run(self, program, *flags, ranks=0):
        command = [str(self.folder / program), *map(str, flags)]
        if ranks:
            command = ["mpirun", "-np", str(ranks), "--bind-to", "none", "--oversubscribe",
                       "--mca", "btl", "self,vader", "--mca", "oob_tcp_if_include", "lo", *command]
        done = subprocess.run(command, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\nended with status {done.returncode}: {done.stderr}")
        return done.stdout

    def json(self, program, *flags, ranks=0):
        """Runs a program and returns the content of its --json file."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "results.json"
            self.run(program, *flags, "-q", "--json", file, ranks=ranks)
            return json.loads(file.read_text())

    def algorithms(self):
        """The names of the schedulers for latency."""
        listed = self.json("hios-schedule", "--list-algorithms")["algorithms"]
        return [each for each in listed if "latency" in each["objectives"]]


class Deadline:
    """The time after which no step is started; none without seconds."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds if seconds is not None else None

    def passed(self):
        return self.end is not None and time.monotonic() >= self.end

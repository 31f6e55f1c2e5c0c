"""Runs the three programs and returns what they wrote; one that fails ends the caller with its error."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hios.errors import InputError
from hios.launch import mpirun


def programs_folder():
    """The folder of the programs: HIOS_PROGRAMS, or the command's own, or in PATH."""
    named = os.environ.get("HIOS_PROGRAMS")
    if named:
        candidates = [Path(named)]
    else:
        own, in_path = Path(sys.argv[0]).resolve().parent, shutil.which("hios-schedule")
        candidates = [own, *([Path(in_path).resolve().parent] if in_path else [])]
    for folder in candidates:
        if (folder / "hios-schedule").exists():
            return folder
    raise InputError(f"no hios-schedule in {candidates[0]}: build it (cmake --preset release && cmake --build --preset "
                     "release), or name its folder in HIOS_PROGRAMS")


class ProgramFailed(SystemExit):
    """A program that ended with another status than 0; uncaught, it ends the caller with its error."""

    def __init__(self, command, returncode, errors):
        super().__init__(f"{' '.join(command)}\nended with status {returncode}: {errors}")
        self.returncode, self.errors = returncode, errors

    @property
    def status(self):
        """The exit status for the caller: the program's own, where the programs give it a meaning that is not a check's."""
        return self.returncode if self.returncode == 2 else 3

    def words(self):
        """Returns the program's own error line, or everything that was printed where it has none."""
        own = [line for line in self.errors.splitlines() if line.startswith("error:")]
        return own[0] if own else str(self)


def ended(command, environment):
    """Runs a command to its end, and returns its status, output and errors. An exception ends the command, too: mpirun passes
    the signal on to its ranks. Signals wait until it has started."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGHUP})
    try:
        child = subprocess.Popen(command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE,
                                 preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before))
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise
    with child:
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            output, errors = child.communicate()
        except BaseException:
            child.terminate()
            raise
    return child.returncode, output, errors


class Programs:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.environment = mpirun.environment()
        if not (self.folder / "hios-schedule").exists():
            raise SystemExit(f"no hios-schedule in {self.folder}: build the preset release first")

    def run(self, program, *flags, ranks=0):
        command = mpirun.command(ranks or 1, [str(self.folder / program), *map(str, flags)])
        status, output, errors = ended(command, self.environment)
        if status != 0:
            raise ProgramFailed(command, status, errors)
        return output

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

"""Runs commands that may fail, hang or run out of time, and continues.

Every step has a time limit and ends before the end of its part: time on a machine with a GPU is short, and existing
measurements are worth more than missing ones.
"""

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

TAIL_LINES = 12
REASON_LINES = 4
GRACE_S = 3  # between SIGTERM and SIGKILL


class Deadline:
    """The time after which no step is started."""

    def __init__(self, seconds, clock=time.monotonic):
        self.clock, self.end = clock, clock() + seconds

    def left(self):
        return self.end - self.clock()


@dataclass
class Outcome:
    """`status`: the exit status, 128 + n after signal n, None if the step was not started."""

    name: str
    status: int | None
    seconds: float
    out: str = ""
    err: str = ""
    why: str = ""  # the reason of a failure

    @property
    def passed(self):
        return self.status == 0 and not self.why

    def record(self):
        return {"name": self.name, "passed": self.passed, "status": self.status, "seconds": round(self.seconds, 1),
                **({"why": self.why} if self.why else {})}


def tail(text, lines=TAIL_LINES):
    return "\n".join(text.strip().splitlines()[-lines:])


def kill_group(process):
    """Ends the process and its children; mpirun gets SIGTERM first, so that it cleans up."""
    for number, patience in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    try:
        os.killpg(process.pid, signal.SIGKILL)  # children that the process left
    except ProcessLookupError:
        pass


class RunLimits:
    """Time limits of runs that are alike. The first may take `first_s`. A later one may take several times as long as the
    longest so far: one that hangs costs little then, and a slow GPU's are not ended."""
    TIMES, LEAST_S = 5, 15

    def __init__(self, first_s):
        self.first_s, self.longest_s = first_s, None

    def limit_s(self):
        return self.first_s if self.longest_s is None else max(self.LEAST_S, self.TIMES * self.longest_s)

    def saw(self, outcome):
        if outcome.passed:
            self.longest_s = max(self.longest_s or 0, outcome.seconds)


class Steps:
    """`log`: a file for every command with its output. `say`: prints progress. `short`: {folder: word}, replacements in
    reasons, because these go into files that outlast the machine."""

    def __init__(self, log, deadline, environment, say, short=None):
        self.log, self.deadline, self.environment, self.say = log, deadline, environment, say
        self.short = short or {}

    def run(self, name, command, limit_s, environment=None, least_s=5):
        """Runs a command; never raises because of it. A step is not started with less than `least_s` left."""
        left = self.deadline.left()
        if left < least_s:
            self.note(f"{name}: not started, the part's time is up")
            return Outcome(name, None, 0, why="not started: the part's time is up")
        limit_s = min(limit_s, left)
        started = time.monotonic()
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            try:
                process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                           env={**self.environment, **(environment or {})}, start_new_session=True)
            except OSError as error:
                return self.finish(Outcome(name, None, 0, why=f"could not be started: {error}"), command)
            timed_out = False
            try:
                process.wait(limit_s)
            except subprocess.TimeoutExpired:
                timed_out = True
            kill_group(process)
            seconds = time.monotonic() - started
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read())
        status = process.returncode
        if status is not None and status < 0:
            status = 128 - status
        why = ""
        if timed_out:
            why = f"ended by us after {limit_s:.0f} s"
        elif status != 0:
            why = f"status {status}: {self.last_words(texts[1] or texts[0])}"
        return self.finish(Outcome(name, status, seconds, *texts, why), command)

    def last_words(self, text):
        """The last line of an output, without mpirun's frames."""
        words = tail("\n".join(line for line in text.splitlines() if line.strip("-= \t")), REASON_LINES)
        for folder, word in self.short.items():
            words = words.replace(str(folder), word)
        return words

    def finish(self, outcome, command):
        self.note(f"$ {' '.join(map(str, command))}\n{outcome.out}{outcome.err}"
                  f"-- {outcome.name}: status {outcome.status}, {outcome.seconds:.1f} s {outcome.why}\n")
        self.say(f"{outcome.name}: {'ok' if outcome.passed else 'FAILED, ' + outcome.why} ({outcome.seconds:.1f} s)")
        return outcome

    def note(self, text):
        with self.log.open("a") as file:
            file.write(text + "\n")

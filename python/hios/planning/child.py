"""A Python scheduler runs in a process of its own: one that takes forever, ends the process or crashes harms nobody."""

import contextlib
import json
import os
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any, Union

from hios.errors import InputError
from hios.planning.core import core
from hios.planning.problem import Problem
from hios.planning.stages import Indices, indices_of
from hios.words import printable

GRACE_S = 1.0  # the time beyond its limit after which a function is ended
LOOK_S = 0.05  # between two looks at a stop request
LAST_S = 0.5  # for the end of a process that has answered

Answer = Union[Indices, str]


def answer_of(function: Callable[[Problem], Any], problem: Problem, seconds: float, stop: core.StopRequest) -> Answer:
    """The stages that the function returns, or the reason why there are none, in words."""
    problem.seconds_left = seconds
    sys.stdout.flush()
    sys.stderr.flush()
    read_end, write_end = os.pipe()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other threads stay with the parent, as they shall
            child = os.fork()
    except OSError as error:
        os.close(read_end)
        os.close(write_end)
        return f"cannot be started in a process of its own: {error.strerror}"
    if child == 0:
        os.close(read_end)
        _run(function, problem, write_end)
    with contextlib.suppress(OSError):  # it may have done so, or have ended
        os.setpgid(child, child)
    os.close(write_end)
    text, reason, status = b"", "was ended", 0
    try:
        text, reason = _read(read_end, time.monotonic() + seconds + GRACE_S, stop)
    finally:
        os.close(read_end)
        status = _ended(child, at_once=bool(reason))
    if reason:
        return reason if stop.asked else f"took more than its {seconds:.3g} s, and was ended"
    if text:
        kind, value = json.loads(text)
        return value if kind == "stages" else str(value)
    if os.WIFSIGNALED(status):
        return f"ended with {signal.Signals(os.WTERMSIG(status)).name}"
    return "ended its process without a schedule"


def _ended(child: int, at_once: bool) -> int:
    """The status of a process that has ended, or is ended; those that it started are ended, too."""
    until = time.monotonic() + (0 if at_once else LAST_S)
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found or time.monotonic() >= until:
            with contextlib.suppress(OSError):
                os.killpg(child, signal.SIGKILL)
            until = float("inf")
        if found:
            return status
        time.sleep(0.001)


def _read(pipe: int, until: float, stop: core.StopRequest) -> tuple[bytes, str]:
    """The line that comes, nothing where there is no whole one, or the reason why reading was ended."""
    parts: list[bytes] = []
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    while True:
        left = until - time.monotonic()
        if stop.asked:
            return b"", "was interrupted"
        if left <= 0:
            return b"", "takes too long"
        if not waiting.poll(1000 * min(left, LOOK_S)):
            continue
        part = os.read(pipe, 1 << 16)
        parts.append(part)
        if part.endswith(b"\n"):  # processes that the function started may keep the pipe open
            return b"".join(parts), ""
        if not part:
            return b"", ""


def _run(function: Callable[[Problem], Any], problem: Problem, pipe: int) -> None:
    """Writes the function's answer into the pipe, and ends the process."""
    status = 1
    try:
        os.setpgid(0, 0)  # Ctrl-C is for the parent, which decides
        try:
            answer: tuple[str, Answer] = ("stages", indices_of(function(problem), problem.graph))
        except InputError as error:
            answer = ("reason", f"returned no schedule: {error}")
        except BaseException as error:
            answer = ("reason", _raised(error))
        sys.stdout.flush()
        sys.stderr.flush()
        content = memoryview(json.dumps(answer).encode() + b"\n")
        while content:
            content = content[os.write(pipe, content):]
        status = 0
    finally:
        os._exit(status)


def _raised(error: BaseException) -> str:
    """The exception on one line, with the place in the user's file that raised it."""
    text = printable(str(error).splitlines()[0])[:200] if str(error) else ""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename != __file__]
    where = f" ({os.path.basename(frames[0].filename)}:{frames[0].lineno})" if frames else ""
    return f"raised {type(error).__name__}{': ' + text if text else ''}{where}"

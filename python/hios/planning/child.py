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
    _flush()
    try:
        read_end, write_end = os.pipe()
    except OSError as error:
        return f"cannot be started in a process of its own: {error.strerror}"
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
        return _answer(text)
    if os.WIFSIGNALED(status):
        return f"ended with {signal.Signals(os.WTERMSIG(status)).name}"
    return "ended its process without a schedule"


def _flush() -> None:
    """Writes what is printed so far, where there is somewhere to write it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()


def _answer(line: bytes) -> Answer:
    """The stages or the reason in a line, which a function may have written over."""
    try:
        kind, value = json.loads(line)
        whole = kind == "reason" or all(isinstance(op, int) for device in value for stage in device for group in stage for op in group)
    except (ValueError, TypeError):
        whole = False
    if not whole:
        return "wrote into the pipe of its answer"
    return value if kind == "stages" else str(value)


def _ended(child: int, at_once: bool) -> int:
    """The status of a process that has ended, or is ended; those that it started are ended, too."""
    until = time.monotonic() + (0 if at_once else LAST_S)
    while True:
        try:
            found, status = os.waitpid(child, os.WNOHANG)
        except ChildProcessError:  # the caller ignores SIGCHLD, so nobody keeps its status
            found, status = child, 0
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
        answer = _answered(function, problem)
        _flush()
        content = memoryview(json.dumps(answer).encode() + b"\n")
        while content:
            content = content[os.write(pipe, content):]
        status = 0
    finally:
        os._exit(status)


def _answered(function: Callable[[Problem], Any], problem: Problem) -> tuple[str, Answer]:
    try:
        stages = function(problem)
    except BaseException as error:
        return "reason", _raised(error)
    try:
        return "stages", indices_of(stages, problem.graph)
    except InputError as error:
        return "reason", f"returned no schedule: {error}"
    except BaseException as error:  # of an object that is no list
        return "reason", _raised(error)


def _raised(error: BaseException) -> str:
    """The exception on one line, with the place in the user's file that raised it."""
    text = printable(str(error).splitlines()[0])[:200] if str(error) else ""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename != __file__]
    where = f" ({os.path.basename(frames[0].filename)}:{frames[0].lineno})" if frames else ""
    return f"raised {type(error).__name__}{': ' + text if text else ''}{where}"

"""Long work in C++, during which Python's other threads run, and which Ctrl-C ends with the best result so far."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from hios.planning.caution import warn
from hios.planning.core import core

Result = TypeVar("Result")


class _Outcome:
    """The result of a thread, or its exception."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.values: list[Any] = []
        self.error: BaseException | None = None

    def of(self, work: Callable[[core.StopRequest], Result], stop: core.StopRequest) -> None:
        try:
            self.values.append(work(stop))
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


def interruptible(work: Callable[[core.StopRequest], Result]) -> tuple[Result, bool]:
    """Runs work(stop) to its end. Returns its result, and True if Ctrl-C asked it to stop.

    Signals arrive in the main thread alone, between two steps of Python, and C++ has none: there, the work is another
    thread's. A second Ctrl-C raises KeyboardInterrupt at once; the work then ends on its own, soon."""
    stop = core.StopRequest()
    if threading.current_thread() is not threading.main_thread():
        return work(stop), False
    outcome = _Outcome()
    thread = threading.Thread(target=outcome.of, args=(work, stop), name="hios search")
    waits = False
    while True:
        try:
            if not waits:
                waits = True
                thread.start()
            outcome.done.wait()
            break
        except KeyboardInterrupt:
            again = stop.asked
            stop.ask()
            if again or thread.ident is None:  # that thread has not started
                raise
    if outcome.error is not None:
        if stop.asked:
            raise KeyboardInterrupt from outcome.error  # it had no result yet
        raise outcome.error
    if stop.asked:
        warn("interrupted: this is the best result so far")
    result: Result = outcome.values[0]
    return result, stop.asked

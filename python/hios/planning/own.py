"""Schedulers that are Python functions, next to the built-in ones."""

from collections.abc import Callable
from typing import Any, TypeVar

from hios.errors import InputError
from hios.planning.core import core
from hios.planning.numbers import quoted, short
from hios.planning.problem import Problem
from hios.words import did_you_mean

Function = TypeVar("Function", bound=Callable[[Problem], Any])

_own: dict[str, Callable[[Problem], Any]] = {}


def scheduler(name: str) -> Callable[[Function], Function]:
    """Makes a function a scheduler of this name, for schedule(), compare() and `hios schedule --scheduler FILE`.

    The function gets a Problem and returns the stages of each device:

        @hios.scheduler("mine")
        def mine(problem):
            return [problem.topological()] + [[] for _ in problem.devices[1:]]

    Its result is judged as those of built-in schedulers are. It runs in a process of its own, a copy of this one, and so
    leaves no traces here; it is ended where it takes longer than the time limit. A name may be given again, to another
    function."""
    if not isinstance(name, str) or not name or name == "all" or any(each in " ,/" or not each.isprintable() for each in name):
        raise InputError(f"a scheduler's name is a word without commas and slashes, not {short(name)}")
    if name in built_in():
        raise InputError(f"a built-in scheduler is named {quoted(name)}: take another name")

    def added(function: Function) -> Function:
        if not callable(function):
            raise InputError(f"hios.scheduler({name!r}) takes a function, not {short(function)}")
        _own[name] = function
        return function

    return added


def built_in() -> list[str]:
    """The names of the built-in schedulers for latency."""
    return [name for name, _, _ in core.algorithms()]


def own() -> dict[str, Callable[[Problem], Any]]:
    """The functions by their names."""
    return _own


def function_of(name: str) -> Callable[[Problem], Any] | None:
    """The function of that name, or None for a built-in scheduler. Throws InputError for an unknown name."""
    known = [*_own, *built_in()]
    if not isinstance(name, str) or name not in known:
        meant = did_you_mean(name, known) if isinstance(name, str) else ""
        raise InputError(f"no scheduler is named {quoted(name)}{meant}: hios.algorithms() lists them")
    return _own.get(name)

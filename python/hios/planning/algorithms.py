"""The list of schedulers."""

from hios.planning.core import core
from hios.planning.own import own


def algorithms() -> dict[str, str]:
    """The schedulers' names, each with a line about it; `hios-schedule --list-algorithms` has their options."""
    built_in = {name: description for name, description, _ in core.algorithms()}
    return built_in | {name: (function.__doc__ or "a Python function").strip().splitlines()[0] for name, function in own().items()}

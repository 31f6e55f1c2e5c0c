"""Warnings that name the caller's line, not ours."""

import sys
import warnings


class HiosWarning(UserWarning):
    """Input that was taken in another form than it was given, or a search that was ended early."""


def warn(message: str) -> None:
    """Warns at the line that called this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "hios":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, HiosWarning, stacklevel=level)

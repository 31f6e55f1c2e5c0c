"""Errors that end the command, with the exit status of the three programs."""


class HiosError(Exception):
    """One line for the user: what, where, and what to do."""
    status = 3


class InputError(HiosError):
    """Bad usage or bad input; nothing ran."""
    status = 2


class CheckFailed(HiosError):
    """It ran, but a check failed."""
    status = 1

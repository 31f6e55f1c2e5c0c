"""hios schedule: hios-schedule, which needs no ranks. --plot FILE draws the table, --scheduler FILE plans by a Python function."""

from hios.errors import InputError
from hios.launch.start import become, take


def main(words):
    file, rest = take(words, "--plot")
    own, rest = take(rest, "--scheduler")
    if own is not None and file is not None:
        raise InputError("--scheduler and --plot exclude each other: hios.compare(…) has the rows of both for a plot")
    if own is not None:
        from hios.launch.own_scheduler import plan  # needs the library
        return plan(own, rest)
    if file is None:
        become("hios-schedule", rest)
    from hios.plots.schedule import plan_and_draw  # the other commands need none of it
    return plan_and_draw(rest, file)

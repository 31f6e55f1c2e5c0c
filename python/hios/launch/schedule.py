"""hios schedule: hios-schedule, which needs no ranks. --plot FILE draws the table."""

from hios.launch.start import become, take


def main(words):
    file, rest = take(words, "--plot")
    if file is None:
        become("hios-schedule", rest)
    from hios.plots.schedule import plan_and_draw  # the other commands need none of it
    return plan_and_draw(rest, file)

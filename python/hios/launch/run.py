"""hios run: hios-run on as many ranks as the schedule has devices, or --ranks N."""

from hios.launch.start import become, count, devices_of, take


def main(words):
    ranks, rest = take(words, "--ranks")
    schedule, _ = take(rest, "--schedule")
    become("hios-run", rest, count(ranks, "--ranks") if ranks else devices_of(schedule) if schedule else 1)

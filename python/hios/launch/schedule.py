"""hios schedule: hios-schedule, which needs no ranks."""

from hios.launch.start import become


def main(words):
    become("hios-schedule", words)

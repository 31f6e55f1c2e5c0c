"""hios check SCHEDULE …: hios-schedule --check SCHEDULE …"""

from hios.launch.start import become


def main(words):
    become("hios-schedule", ["--check", *words] if words and not words[0].startswith("-") else words or ["--help"])

"""hios check SCHEDULE …: hios-schedule --check SCHEDULE …"""

from hios.launch.start import become


def main(words):
    named = words and (words[0] == "-" or not words[0].startswith("-"))  # - is standard input
    become("hios-schedule", ["--check", *words] if named else words or ["--help"])

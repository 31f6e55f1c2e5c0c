"""hios explain RECORDS …: hios-run --explain RECORDS …"""

from hios.launch.start import become


def main(words):
    become("hios-run", ["--explain", *words] if words and not words[0].startswith("-") else words or ["--help"])

"""hios profile: hios-profile on --ranks N ranks (1)."""

from hios.launch.start import become, count, take


def main(words):
    ranks, rest = take(words, "--ranks")
    become("hios-profile", rest, count(ranks or "1", "--ranks"))

"""Command lines of the exchange: an error is one line, and the help is as wide as the terminal."""

import argparse
import shutil
import textwrap

from hios.errors import InputError
from hios.words import meant_flag


class Parser(argparse.ArgumentParser):
    def __init__(self, prog, text, examples):
        """`text`: paragraphs, of which the first names the command."""
        width = min(shutil.get_terminal_size().columns, 100)
        paragraphs = [textwrap.fill(" ".join(each.split()), width) for each in text.split("\n\n")]
        lines = "\n".join(f"  {each}" for each in examples)
        super().__init__(prog=prog, description="\n\n".join(paragraphs), epilog=f"examples:\n{lines}", allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message):
        raise InputError(f"{message}{meant_flag(message, self._option_string_actions)}: see {self.prog} --help")


def number(text):
    """A whole number of at least 1."""
    if not text.isdecimal() or not 0 < int(text) < 1 << 20:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number is wanted, at least 1")
    return int(text)

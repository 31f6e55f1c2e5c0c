"""The names of classes: a text file with one per line."""

from hios.errors import InputError
from hios.files import read_at_most
from hios.words import printable

LARGEST_FILE = 64 << 20


def read(file):
    """The labels in order, without empty lines at the end."""
    try:
        lines = read_at_most(file, LARGEST_FILE).decode("utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"--labels {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: is no text in UTF-8 (byte {error.start}): a label per line is wanted") from None
    lines = [line.removesuffix("\r") for line in lines]
    while lines and not lines[-1].strip():
        lines.pop()
    return [printable(line.strip()) for line in lines]


def labels_for(file, count):
    """The labels of an output with so many values."""
    found = read(file)
    if len(found) != count:
        raise InputError(f"{file}: has {len(found)} labels, and the output {count} values: give one per line, in the output's "
                         "order")
    return found

"""Words for people: what a mistyped word was meant to be, and texts that stay on their line."""

import difflib
from collections.abc import Iterable
from pathlib import Path


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """" (did you mean …?)", or nothing where no known word is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""


def meant_flag(message, flags):
    """The same for the first flag that argparse says it does not know."""
    unknown = message.removeprefix("unrecognized arguments: ")
    return did_you_mean(unknown.split()[0].partition("=")[0], flags) if unknown != message else ""


def printable(text: str) -> str:
    """The text with invisible characters escaped, so that it stays on its line and changes no terminal."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def split_name(text: str) -> tuple[str, str]:
    """The name and the file of NAME:FILE, as hios-run splits it."""
    if Path(text).exists() or ":" not in text:
        return "", text
    parts = text.split(":")
    for i in range(1, len(parts)):
        if Path(":".join(parts[i:])).exists():
            return ":".join(parts[:i]), ":".join(parts[i:])
    return ":".join(parts[:-1]), parts[-1]

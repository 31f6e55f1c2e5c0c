"""Times, bytes, names and files that other people give, each refused with its place."""

import math
import os
import re
from numbers import Integral, Real
from typing import Any

from hios.errors import InputError
from hios.words import printable

MOST_MS = 1e9
MOST_BYTES = 1 << 53
LONGEST_BYTES = 1 << 16  # of a name in files of HIOS
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f]")


def quoted(name: Any) -> str:
    """The name in quotes, on one line and not too long."""
    text = printable(str(name))
    return f"'{text if len(text) <= 60 else text[:59] + '…'}'"


def short(value: Any) -> str:
    """The value as Python writes it, on one line and not too long."""
    text = printable(repr(value))
    return text if len(text) <= 60 else text[:59] + "…"


def text(value: Any, what: str) -> str:
    """The value, which must be a text that can be written."""
    if not isinstance(value, str):
        raise InputError(f"{what}: {short(value)}: a text is wanted")
    if not is_writable(value):
        raise InputError(f"{what}: {short(value)}: has a character that cannot be written, as line breaks and other control characters cannot")
    return value


def named(value: Any, what: str) -> str:
    """The value, which must be a name that our files can have: a text that can be written, neither empty nor very long."""
    name = text(value, what)
    if not name or len(name.encode()) > LONGEST_BYTES:
        raise InputError(f"{what}: {short(name)}: a name of 1 to {LONGEST_BYTES} bytes is wanted")
    return name


def is_writable(value: str) -> bool:
    """True for a text that our files can have: of UTF-8, without line breaks and other control characters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return not _CONTROL.search(value)


def file_name(value: Any) -> str:
    """The name of a file that a caller names by a text or a path."""
    return text(os.fspath(value) if isinstance(value, os.PathLike) else value, "the file")


def count(value: Any, what: str, least: int, most: int) -> int:
    """The value as a whole number in a range; integers of other libraries count."""
    found = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else least - 1
    if not least <= found <= most:
        raise InputError(f"{what}: {short(value)}: a whole number from {least} to {most} is wanted")
    return found


def number(value: Any, where: str, what: str, most: float = MOST_MS) -> float:
    """The value as a number from 0 to `most`. Texts count as the numbers in them, since DOT has no others."""
    try:
        if isinstance(value, str):
            found = float(value.strip().strip('"'))
        elif isinstance(value, Real) and not isinstance(value, bool):
            found = float(value)
        else:
            raise ValueError
    except (ValueError, OverflowError):
        raise InputError(f"{where}: its {what} is {short(value)}, which is no number") from None
    if math.isnan(found) or not 0 <= found <= most:
        raise InputError(f"{where}: its {what} is {found:g}: a number from 0 to {most:g} is wanted")
    return found


def whole(value: Any, where: str, what: str, most: int = MOST_BYTES) -> int:
    """The value as a whole number from 0 to `most`."""
    found = number(value, where, what, most)
    if found != int(found):
        raise InputError(f"{where}: its {what} is {found:g}: a whole number is wanted")
    return int(value) if isinstance(value, int) else int(found)

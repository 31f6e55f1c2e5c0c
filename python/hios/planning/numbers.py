"""Times, bytes and names out of other people's graphs, each refused with its place."""

import math
from numbers import Real
from typing import Any

from hios.errors import InputError
from hios.words import printable

MOST_MS = 1e9
MOST_BYTES = 1 << 53


def quoted(name: Any) -> str:
    """The name in quotes, on one line and not too long."""
    text = printable(str(name))
    return f"'{text if len(text) <= 60 else text[:59] + '…'}'"


def short(value: Any) -> str:
    """The value as Python writes it, on one line and not too long."""
    text = printable(repr(value))
    return text if len(text) <= 60 else text[:59] + "…"


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

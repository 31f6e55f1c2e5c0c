"""Files of the command: JSON as strict as the programs read it, and files that are written whole or not at all."""

import contextlib
import json
import math
import os
from pathlib import Path

from hios.errors import InputError

LARGEST_JSON = 32 << 20  # bytes; the default of the programs' --max-input


def refuse_twice(pairs):
    keys = dict(pairs)
    if len(keys) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise ValueError(f"has the key {json.dumps(twice)} twice")
    return keys


def finite(text):
    if not math.isfinite(float(text)):
        raise ValueError(f"has a number out of range: {text[:40]}")
    return float(text)


def whole(text):
    finite(text)
    return int(text)


def strict_json(text):
    """The content of a text or of bytes. Raises ValueError, for a key twice, a number out of range and half a surrogate pair
    too, and RecursionError."""
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    content = json.loads(text, object_pairs_hook=refuse_twice, parse_float=finite, parse_int=whole, parse_constant=finite)
    if "\\u" in text:
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("has half of a surrogate pair (\\ud800 to \\udfff), which is no character") from None
    return content


def read_at_most(file, most):
    """The bytes of a file, a device or a pipe. Raises OSError, and InputError where there are more than so many."""
    with open(file, "rb") as source:
        content = source.read(most + 1)
    if len(content) > most:
        raise InputError(f"{file}: larger than the {most} bytes that such a file may have")
    return content


@contextlib.contextmanager
def written_whole(file, put=None):
    """The path of a file next to this one, which takes its place in the end: others see the old file or the new one.
    `put(part, file)` (os.replace) may leave the part, which goes."""
    path = Path(file)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield part
        (put or os.replace)(part, path)
    finally:
        part.unlink(missing_ok=True)

"""Files of the command: JSON as strict as the programs read it, and files that are written whole or not at all."""

import contextlib
import json
import math
import os
from pathlib import Path

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


def strict_json(text):
    """The content of a text or of bytes. Raises ValueError, for a key twice or a number out of range too, and
    RecursionError."""
    return json.loads(text, object_pairs_hook=refuse_twice, parse_float=finite, parse_constant=finite)


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

"""Files that the exchange reads and writes: every error names the file and a remedy; an existing file stays."""

import json
import os
import shlex
import tempfile
from pathlib import Path

from hios.errors import InputError

MOST_JSON_BYTES = 32 << 20


def read_bytes(file, most=None):
    try:
        if most is not None and Path(file).stat().st_size > most:
            raise InputError(f"{file}: larger than {most} bytes")
        return Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error


def no_key_twice(pairs):
    for i, (key, _) in enumerate(pairs):
        if any(key == other for other, _ in pairs[:i]):
            raise ValueError(f"the key {key!r} is there twice")
    return dict(pairs)


def refuse_constant(word):
    raise ValueError(f"{word} is no number of JSON")


def read_json(file):
    text = read_bytes(file, MOST_JSON_BYTES)
    try:
        return json.loads(text, object_pairs_hook=no_key_twice, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: no JSON file: {error}") from error


def check_writable(file, force):
    """Refuses, before anything runs, a file that exists and one whose folder does not."""
    if Path(file).exists() and not force:
        raise InputError(f"{file}: exists; choose another name or replace it with --force")
    if not Path(file).resolve().parent.is_dir():
        raise InputError(f"{file}: its folder is missing: mkdir -p {shlex.quote(str(Path(file).resolve().parent))}")


def write_bytes(file, content, force):
    """Writes the whole file or nothing: under another name first, then renamed."""
    check_writable(file, force)
    folder = Path(file).resolve().parent
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{Path(file).name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        if force:
            os.replace(name, file)
        else:
            os.link(name, file)
            os.unlink(name)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise InputError(f"{file}: {error.strerror}; choose another name") from error

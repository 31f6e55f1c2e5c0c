"""Files that the exchange reads and writes: every error names the file and a remedy; an existing file stays."""

import os
import shlex
from pathlib import Path

from hios.errors import InputError
from hios.files import LARGEST_JSON, read_at_most, strict_json, written_whole


def read_bytes(file, most=None):
    try:
        return Path(file).read_bytes() if most is None else read_at_most(file, most)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error


def read_json(file):
    text = read_bytes(file, LARGEST_JSON)
    try:
        return strict_json(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: no JSON file: {error}") from error


def check_writable(file, force):
    """Refuses, before anything runs, a file that exists and one whose folder does not."""
    if Path(file).exists() and not force:
        raise InputError(f"{file}: exists; choose another name or replace it with --force")
    if not Path(file).resolve().parent.is_dir():
        raise InputError(f"{file}: its folder is missing: mkdir -p {shlex.quote(str(Path(file).resolve().parent))}")


def write_bytes(file, content, force):
    """Writes the whole file or nothing. Without `force`, a file that appears meanwhile stays."""
    check_writable(file, force)
    try:
        with written_whole(file, os.replace if force else os.link) as part:
            part.write_bytes(content)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}; choose another name") from error

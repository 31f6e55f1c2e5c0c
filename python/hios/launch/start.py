"""Becomes a program, on as many ranks as it needs: signals and the exit status are the program's own."""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

from hios.errors import InputError
from hios.launch import mpirun
from hios.launch.programs import programs_folder


def take(words, flag):
    """Removes a flag with its value from the words. Returns the value (None without the flag) and the other words."""
    values, rest = take_all(words, flag)
    return values[-1] if values else None, rest


def take_all(words, flag):
    """Removes a repeatable flag with its values from the words. Returns the values and the other words."""
    rest, values, words = [], [], list(words)
    while words:
        word = words.pop(0)
        if word == flag and not words:
            raise InputError(f"{flag} needs a value")
        if word == flag:
            values.append(words.pop(0))
        elif word.startswith(flag + "="):
            values.append(word.removeprefix(flag + "="))
        else:
            rest.append(word)
    return values, rest


def with_model_flag(words):
    """The words, where a model as the first one has its flag."""
    return ["--model", *words] if words and not words[0].startswith("-") else list(words)


def count(text, flag):
    """The number of ranks that a word says."""
    if not re.fullmatch("0*[1-9][0-9]{0,5}", text):
        raise InputError(f"{flag} {text}: a number of ranks is wanted, such as 2")
    return int(text)


def kept_standard_input():
    """The text of standard input, which the program that this process becomes reads once more."""
    text = sys.stdin.buffer.read()
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.seek(0)
        os.dup2(file.fileno(), 0)
    return text


def devices_of(schedule):
    """The number of devices in a schedule file (- is standard input); 1 where it cannot be read, since the program will say
    why. A pipe with a name is not read: it would be empty for the program, which refuses it."""
    try:
        if schedule != "-" and not Path(schedule).is_file():
            return 1
        text = kept_standard_input() if schedule == "-" else Path(schedule).read_text()
        return max(1, len(json.loads(text)["devices"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return 1


def become(program, words, ranks=1):
    line = mpirun.command(ranks, [str(programs_folder() / program), *words])
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(line[0], line, mpirun.environment())

"""hios bench as a function: every way that this machine has, measured."""

import contextlib
import io
import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from hios.errors import HiosError, InputError
from hios.planning.numbers import short


@dataclass(frozen=True)
class Bench:
    """The result of a bench: the printed page, and the numbers in it."""
    text: str
    """The words that `hios bench` prints."""
    folder: Path
    """The reports, schedules and traces."""
    results: dict[str, Any]
    """The content of summary.json, or of throughput.json."""
    verified: bool
    """True if every row gave the right values."""

    def __str__(self) -> str:
        return self.text


def bench(model: "str | PathLike[str]", *, throughput: bool = False, **flags: Any) -> Bench:
    """Measures a built-in network, an ONNX file or a hios-model file, as the command `hios bench` does.

    flags: the command's, with underscores: bench("net.onnx", cores=4, budget=120, all_rows=True). The three programs must be
    in PATH, or in the folder that HIOS_PROGRAMS names. Throws InputError for bad input, and HiosError where a program fails."""
    from hios.benchmark import command
    from hios.launch.programs import ProgramFailed

    words = [str(model), *(["--throughput"] if throughput else []), *_words(flags)]
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            status, folder = command.measured(words)
    except ProgramFailed as failed:
        kind = InputError if failed.status == InputError.status else HiosError
        raise kind(failed.words().removeprefix("error: ")) from None
    except SystemExit as error:
        if not error.code:
            raise InputError("--help prints a text and measures nothing: help(hios.bench), or `hios bench --help`") from None
        raise InputError(str(error)) from None
    results = json.loads((folder / ("throughput.json" if throughput else "summary.json")).read_text())
    return Bench(printed.getvalue(), folder, results, status == 0)


def _words(flags: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            words += [f"{flag}={each}" for each in value]
        elif isinstance(value, (int, float, str, Path)) and value is not False:
            words.append(f"{flag}={value}")
        elif value not in (None, False):
            raise InputError(f"{flag} is {short(value)}: a number, a text, a list or True is wanted")
    return words

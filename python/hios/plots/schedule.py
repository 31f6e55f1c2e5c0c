"""hios schedule … --plot FILE: runs hios-schedule, whose table goes where it always goes, and draws the comparison."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from hios.errors import HiosError, InputError
from hios.launch.programs import programs_folder
from hios.launch.start import take
from hios.plots.comparison import draw

ENDINGS = (".pdf", ".svg", ".png")
# Flags with which hios-schedule compares nothing.
WITHOUT_ROWS = ("--help", "-h", "--version", "--list-algorithms", "--list-models", "--list-operators")
KEPT = tuple(128 + number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))


def has(words, flag):
    return any(word == flag or word.startswith(flag + "=") for word in words)


def check(file, words):
    """Refuses, before anything runs, a picture that could not be drawn or written."""
    if has(words, "--plot"):
        raise InputError("--plot is given twice: draw one file")
    if file.suffix not in ENDINGS:
        raise InputError(f"--plot {file}: the name must end in .pdf, .svg or .png, which says the format")
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("--plot draws by Matplotlib, which is not installed: apt-get install python3-matplotlib")
    if any(word.split("=", 1)[-1] == str(file) for word in words):
        raise InputError(f"--plot and another flag name the same file, {file}")
    if file.is_dir():
        raise InputError(f"--plot {file}: is a folder: name a file, such as {file / 'plot.pdf'}")
    if file.exists() and not has(words, "--force"):
        raise InputError(f"{file}: exists; name another file or replace it with --force")
    if not os.access(file.parent, os.W_OK):
        raise InputError(f"{file}: cannot be written: there is no folder '{file.parent}' that can be written to")
    for flag in WITHOUT_ROWS:
        if has(words, flag):
            raise InputError(f"--plot draws the table of schedules, and {flag} has none: leave one of them out")
    if has(words, "--check") and not has(words, "--compare"):
        raise InputError("--plot draws the table of schedules, which --check has with --compare")


def run(line, **options):
    """Runs the program to its end. Returns its exit status, 128 + n for signal n, and its output, if that is caught. Signals to
    this process are its business: it keeps its best schedules, and they are drawn."""
    started, early = [], []

    def pass_on(number, _):
        if started:
            started[0].send_signal(number)
        else:
            early.append(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)  # a terminal sends it to both
    try:
        started.append(subprocess.Popen(line, text=True, **options))
        for number in early:
            started[0].send_signal(number)
        out, _ = started[0].communicate()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    status = started[0].returncode
    return (status if status >= 0 else 128 - status), out


def planned(words):
    """Runs hios-schedule. Returns its exit status and the text of its JSON, which also goes where --json says."""
    program = str(programs_folder() / "hios-schedule")
    json_file, rest = take(words, "--json")
    if json_file == "-":
        status, text = run([program, *rest, "--json", "-"], stdout=subprocess.PIPE)
        sys.stdout.write(text)
        sys.stdout.flush()
        return status, text
    with tempfile.TemporaryDirectory() as folder:
        file = Path(json_file) if json_file else Path(folder) / "comparison.json"
        status, _ = run([program, *rest, "--json", str(file)])
        wrote = status == 0 or status in KEPT
        return status, file.read_text() if wrote and file.exists() else ""


def plan_and_draw(words, name):
    file = Path(name)
    check(file, words)
    status, text = planned(words)
    if text and (status == 0 or status in KEPT):
        try:
            draw(json.loads(text), file)
        except OSError as error:
            raise HiosError(f"{file} cannot be written: {error.strerror}") from None
    return status

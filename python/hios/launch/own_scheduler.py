"""hios schedule … --scheduler FILE.py: a scheduler that is a Python function (hios.scheduler) next to the built-in ones.

The program writes out the graph and the devices; the library calls the function and judges its schedule; the program then
checks that schedule with the costs of this command, or compares it (--check), and prints what it prints for any other."""

import contextlib
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

from hios.errors import HiosError, InputError
from hios.launch import refused_row
from hios.launch.programs import programs_folder
from hios.launch.start import take, take_all
from hios.words import did_you_mean, printable

ANSWERS = ("--help", "-h", "--version", "--list-algorithms")  # flags that plan nothing
RESULTS = ("--json", "--csv", "--timeline")  # flags of results, which belong to the last call


def functions_in(file):
    """Runs the file and returns the names of the schedulers that it adds, in order."""
    from hios.planning.own import own
    if not Path(file).is_file():
        raise InputError(f"--scheduler {file}: there is no such file")
    before = dict(own())
    try:
        sys.path.insert(0, str(Path(file).resolve().parent))
        with contextlib.redirect_stdout(sys.stderr):
            runpy.run_path(str(file))
    except HiosError:
        raise
    except BaseException as error:
        raise InputError(f"--scheduler {file}: raised {type(error).__name__}: {printable(str(error))[:200]}") from None
    finally:
        sys.path.pop(0)
    names = [name for name, function in own().items() if before.get(name) is not function]
    if not names:
        raise InputError(f"--scheduler {file}: adds no scheduler: put @hios.scheduler(\"mine\") before a function")
    return names


def without(words, flag):
    return [word for word in words if word != flag]


def program(words):
    """Runs hios-schedule with this terminal. Returns its exit status."""
    sys.stdout.flush()
    return subprocess.run([str(programs_folder() / "hios-schedule"), *words]).returncode


def problem_of(words, folder):
    """The graph and the platform that the words describe, by the program."""
    import hios
    line = [str(programs_folder() / "hios-schedule"), *words, "-q", "--export-graph", str(folder / "graph.json"),
            "--export-platform", str(folder / "platform.json")]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        own = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        kind = InputError if done.returncode == InputError.status else HiosError
        raise kind(own[0].removeprefix("error: ") if own else f"hios-schedule ended with status {done.returncode}")
    return hios.read(folder / "graph.json"), hios.read(folder / "platform.json")


def plan(file, words):
    """Returns the exit status."""
    if answers := [each for each in words if each in ANSWERS]:
        return program(answers[:1])
    names = functions_in(file)
    objective, words = take(words, "--objective")
    if objective not in (None, "latency"):
        raise InputError(f"--objective {objective}: Python functions plan for the latency: leave it out")
    asked, words = take(words, "--algorithm")
    asked = [each for each in (asked or "").split(",") if each]
    mine = [each for each in asked if each in names] or names[:1]
    if len(mine) > 1 or (not asked and len(names) > 1):
        raise InputError(f"--scheduler {file}: has several ({', '.join(names)}): name one in --algorithm")
    if asked and not set(asked) & set(names):
        raise InputError(f"--algorithm {','.join(asked)}: names no scheduler of {file}{did_you_mean(asked[0], names)}: "
                         f"add {names[0]}")
    return planned(mine[0], asked, words)


def planned(name, asked, words):
    """Plans by the function of this name, and checks its schedule, or compares it with those of one device and of the others
    that are asked for, by default of all. Returns the exit status."""
    import hios
    results, rest, others = [], list(words), [each for each in asked if each != name]
    for flag in RESULTS:
        value, rest = take(rest, flag)
        results += [flag, value] if value is not None else []
    options, rest = take_all(rest, "--option")  # of the built-in schedulers
    output, rest = take(rest, "--output")
    limit, rest = take(rest, "--time-limit")
    compares = "--compare" in rest or bool(others)
    if compares and asked and not others:
        others = ["sequential"]  # the program adds ios, the other one for one device
    styles = [each for each in ("--markdown", "--latex", "--force", "-q", "--quiet") if each in rest]
    for each in ("--compare", *styles):
        rest = without(rest, each)
    if compares and output:
        raise InputError("--output is the file of one schedule: leave --compare out")
    with tempfile.TemporaryDirectory() as folder:
        graph, platform = problem_of(rest, Path(folder))
        file = Path(output) if output else Path(folder) / "own.json"
        again = [*rest, *results, *styles]
        if compares:
            again += [f"--option={each}" for each in options] + ([f"--time-limit={limit}"] if limit is not None else [])
        elif options:
            raise InputError(f"--option {options[0]}: {name} is a Python function and has no options")
        try:
            schedule = hios.schedule(graph, platform, name, seconds_of(limit))
        except InputError as error:
            if not compares:
                raise
            status = program([*again, "--compare", *algorithms(others)])
            reason = str(error).removeprefix(f"{name}: ")
            if status == 0:  # or else the files are those of an earlier call
                refused_row.add(results, name, len(platform), reason)
            print(f"{name} refused: {reason}", file=sys.stderr)
            return status
        schedule.save(file, force="--force" in styles)
        if compares:
            return program([*again, "--check", str(file), "--compare", *algorithms(others)])
        return program([*again, "--check", str(file)])


def algorithms(others):
    return ["--algorithm", ",".join(others)] if others else []


def seconds_of(limit):
    try:
        return 10 if limit is None else float(limit)
    except ValueError:
        raise InputError(f"--time-limit {limit}: seconds are wanted") from None

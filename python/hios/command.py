"""The command `hios`: the first word names what is wanted, and the module that answers it gets the other words."""

import contextlib
import importlib
import os
import signal
import sys

from hios.errors import HiosError, InputError
from hios.words import did_you_mean, printable

# word: (module, what it does)
COMMANDS = {
    "bench": ("hios.benchmark.command", "every way that this machine has, measured: what is fastest, and why"),
    "report": ("hios.page.command", "reports, schedules and comparisons on one page"),
    "run": ("hios.launch.run", "runs a network, on the ranks of its schedule (hios-run)"),
    "profile": ("hios.launch.profile", "measures a network's operators (hios-profile)"),
    "schedule": ("hios.launch.schedule", "plans which device runs what and when (hios-schedule)"),
    "check": ("hios.launch.check", "lists every rule that a schedule breaks, and simulates it"),
    "import": ("hios.exchange.imports", "makes a schedule here of one that IOS published"),
    "export": ("hios.exchange.exports", "gives a schedule to ONNX Runtime, or writes it into an ONNX file"),
    "explain": ("hios.launch.explain", "says from flight records what stopped a job"),
}

FLAGS = ("--help", "--version")
USAGE = """usage: hios COMMAND …

  hios bench inception_v3         what is fastest here, why, and a page of it
  hios run net.onnx --verify      one rank, compared with plain loops

{commands}

hios COMMAND --help explains a command.
Exit status: 0 done, 1 a check failed, 2 bad usage or input, 3 failure,
128 + n signal n."""


def usage():
    width = max(map(len, COMMANDS)) + 2
    return USAGE.format(commands="\n".join(f"  {name:{width}}{what}" for name, (_, what) in COMMANDS.items()))


def answer(words):
    if not words or words[0] in ("-h", "--help") or words == ["help"]:
        print(usage())
        return 0 if words else 2
    if words[0] == "help":
        words = [*words[1:], "--help"]
    name, *rest = words
    if name == "--version":
        name, rest = "schedule", ["--version"]
    if name not in COMMANDS:
        raise InputError(f"hios knows no command '{name}'{did_you_mean(name, [*COMMANDS, *FLAGS])}: see hios --help")
    return importlib.import_module(COMMANDS[name][0]).main(rest) or 0


class Stopped(BaseException):
    """A signal that ends the command, and what it has started."""


def stop(number, _):
    raise Stopped(number)


@contextlib.contextmanager
def stopped_by_signals():
    """Raises Stopped at signals that would end the process alone; those that are ignored, as under nohup, stay so."""
    default = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) == signal.SIG_DFL]
    for each in default:
        signal.signal(each, stop)
    try:
        yield
    finally:
        for each in default:
            signal.signal(each, signal.SIG_DFL)


def main(words):
    try:
        with stopped_by_signals():
            return answer(words)
    except HiosError as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Stopped as stopped:
        return 128 + stopped.args[0]
    except BrokenPipeError:  # as `hios … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE

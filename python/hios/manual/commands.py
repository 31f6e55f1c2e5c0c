"""The page of the command hios, from the table of its commands. A command that starts a program has that program's flags; the
flags of another are those of its argparse parser."""

import argparse
import importlib
import re
from unittest import mock

from hios.answers import running
from hios.command import COMMANDS
from hios.manual.pages import Command, Flag, Page

HELP = Flag("help", "h", text="print this text and end")


def flags_in(text):
    """The flags in a help text, each with its explanation after or below it."""
    flags = []
    for line in text.splitlines():
        if found := re.match(r"  --([a-z-]+) (\S+)(?:  +(.*))?$", line):
            name, argument, explanation = found.groups()
            flags.append([name, argument, explanation or ""])
        elif flags and (found := re.match(r" {8,}(\S.*)$", line)):
            flags[-1][2] += f" {found[1]}"
        elif flags:
            break
    return tuple(Flag(name, argument=argument, text=" ".join(explanation.split()), file="input" if "FILE" in argument else "",
                      values=tuple(re.findall(r"\b[a-z]+\b(?![.])", argument))) for name, argument, explanation in flags)


# command: (program, flags that hios reads itself)
STARTS = {
    "run": ("hios-run", flags_in(running.HELP)),
    "profile": ("hios-profile", (Flag("ranks", argument="N", text="so many ranks (1)"),)),
    "schedule": ("hios-schedule", (Flag("plot", argument="FILE", text="draw the comparison as .pdf, .svg or .png",
                                        file="output"),
                                   Flag("scheduler", argument="FILE", text="plan by the Python function that this file adds "
                                        "(docs/python.md)", file="input"))),
    "check": ("hios-schedule", ()),
    "explain": ("hios-run", ()),
}
TAKE_MODEL = ("bench", "run", "profile", "schedule")
TAKE_FILES = (*TAKE_MODEL, "report", "check", "import", "export", "explain")


class _Parsing(BaseException):
    """Ends a command where it would parse its words."""


def parser_of(module):
    """The argparse parser of a command; None if it has none, or cannot be imported here (Jinja2 is missing)."""
    def parse(parser, *_, **__):
        raise _Parsing(parser)

    with mock.patch.object(argparse.ArgumentParser, "parse_args", parse), \
            mock.patch.object(argparse.ArgumentParser, "parse_known_args", parse):
        try:
            importlib.import_module(module).main(["--help"])
        except _Parsing as found:
            return found.args[0]
        except ImportError:
            return None
    return None


def flag_of(parser, action):
    """An argparse action as a Flag; None for one that is no long flag, or has no help."""
    names = [name[2:] for name in action.option_strings if name.startswith("--")]
    if not names or action.help is argparse.SUPPRESS:
        return None
    letters = [name[1:] for name in action.option_strings if re.fullmatch("-[a-zA-Z]", name)]
    argument = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    text = (action.help or "") % {**vars(action), "prog": parser.prog}
    is_file = re.search("FILE|PATH|FOLDER", argument) or "Path" in str(action.type)
    return Flag(names[0], "".join(letters[:1]), argument=argument, text=text, optional=action.nargs == "?",
                repeatable="Append" in type(action).__name__, values=tuple(map(str, action.choices or ())),
                file="input" if is_file else "")


def own_flags(module):
    parser = parser_of(module)
    flags = [flag_of(parser, action) for action in parser._actions] if parser else []
    flags = [flag for flag in flags if flag]
    return tuple(flags if not flags or any(flag.name == "help" for flag in flags) else [*flags, HELP])


def command_of(name, module, text, programs):
    program, read_here = STARTS.get(name, ("", ()))
    names = {flag.name for flag in read_here}
    others = [flag for flag in programs[program].flags if flag.name not in names] if program else own_flags(module)
    flags = (*read_here, *others)
    return Command(name, text, flags, program, words=programs["hios-run"].models if name in TAKE_MODEL else (),
                   files=name in TAKE_FILES)


def command_page(pages):
    programs = {page.name: page for page in pages}
    commands = tuple(command_of(name, module, text, programs) for name, (module, text) in COMMANDS.items())
    first = pages[0]
    return Page(
        name="hios", purpose="measure, schedule and run neural networks on several devices", usage="COMMAND ...",
        examples=(("hios bench squeezenet", "what is fastest here, and why"),
                  ("hios run --model squeezenet --verify", "one rank, compared with plain loops")),
        note="", version=first.version, date=first.date, commands=commands,
        flags=(Flag("help", "h", text="print the commands and end"),
               Flag("version", text="print version, commit and build, and end")),
        see=tuple(programs))

"""The text of a program and its flags. Programs describe themselves, so that no flag is listed twice."""

import json
import re
import subprocess
from dataclasses import dataclass

from hios.errors import HiosError

PROGRAMS = ("hios-profile", "hios-schedule", "hios-run")


@dataclass(frozen=True)
class Flag:
    """A flag as the JSON of --describe-flags has it (cli/flags/describe.h)."""

    name: str
    letter: str = ""
    group: str = ""
    argument: str = ""  # empty: takes no value
    optional: bool = False
    default: str = ""
    text: str = ""
    daily: bool = False
    repeatable: bool = False
    file: str = ""  # "input", "output" or "folder"
    values: tuple = ()

    @property
    def spellings(self):
        return [*([f"-{self.letter}"] if self.letter else []), f"--{self.name}"]

    @property
    def is_list(self):
        """True if the value may be several words with commas between them."""
        return "[," in self.argument


@dataclass(frozen=True)
class Command:
    """A command of hios: its flags are those of a program, or its own."""

    name: str
    text: str
    flags: tuple = ()
    program: str = ""    # the program that it starts; empty: none
    words: tuple = ()    # words that it takes besides flags
    files: bool = False  # it takes names of files besides flags


@dataclass(frozen=True)
class Page:
    name: str
    purpose: str
    usage: str
    examples: tuple  # of (command, result)
    note: str
    version: str
    date: str
    flags: tuple = ()
    commands: tuple = ()
    see: tuple = ()

    @property
    def models(self):
        """The words that --model takes; they may stand without it."""
        return next((flag.values for flag in self.flags if flag.name == "model"), ())

    def groups(self):
        """The flags by group, in the order of the groups' first flags."""
        groups = {}
        for flag in self.flags:
            groups.setdefault(flag.group, []).append(flag)
        return groups


def describe(program):
    """The description that a program prints of itself."""
    done = subprocess.run([program, "--describe-flags"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise HiosError(f"{program} --describe-flags ended with status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def page_of(description):
    name = description["program"]
    return Page(
        name=name, purpose=description["purpose"], usage=description["usage"],
        examples=tuple((each["command"], each["result"]) for each in description["examples"]),
        note=description["note"], version=description["version"], date=description["date"],
        flags=tuple(Flag(**{**flag, "values": tuple(flag["values"])}) for flag in description["flags"]),
        see=("hios", *(each for each in PROGRAMS if each != name)))


def brief(text, most=72):
    """The first part of a text, for a line of a menu."""
    first = re.split(r"; |\. |: | \(", text, maxsplit=1)[0].rstrip(".")
    return first if len(first) <= most else first[:most - 1].rsplit(" ", 1)[0] + "…"

"""Shared by the tests of the benches: temporary folders, and fake programs."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path


def flag(flags, name):
    """The word after a flag; None without that flag."""
    words = list(map(str, flags))
    return words[words.index(name) + 1] if name in words else None


class FolderTest(unittest.TestCase):
    """Each test has an empty folder, and output of the code to the terminal is captured."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.said = self.enterContext(contextlib.redirect_stderr(io.StringIO()))


def algorithm(name, many_devices=True, options=()):
    """Returns an algorithm as hios-schedule --list-algorithms describes it."""
    return {"name": name, "many_devices": many_devices, "options": [{"name": option} for option in options]}


class FakePrograms:
    """Records every call as (program, flags, ranks). `answer(program, flags, ranks)` writes what the program
    would have written."""

    def __init__(self, algorithms=(), answer=None):
        self.listed, self.answer = list(algorithms), answer
        self.calls = []

    def run(self, program, *flags, ranks=0):
        self.calls.append((program, tuple(map(str, flags)), ranks))
        return self.answer(program, flags, ranks) or ""

    def algorithms(self):
        return self.listed

    def asked(self, program):
        return [flags for name, flags, _ in self.calls if name == program]


class DeadlineAfter:
    """Passes when it has been asked that often."""

    def __init__(self, questions):
        self.left = questions

    def passed(self):
        self.left -= 1
        return self.left < 0


NEVER = DeadlineAfter(10**9)

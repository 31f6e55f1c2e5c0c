"""The needs of several tests of the Python module: the C++ programs next to it, and input that is refused by one line."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import hios

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = os.environ.get("HIOS_PROGRAMS")


def diamond():
    return hios.Graph.from_lists([("a", 1.0), ("b", 3.0), ("c", 2.5), ("d", 1.0)],
                                 [("a", "b", 0.4), ("a", "c", 0.4), ("b", "d", 0.4), ("c", "d", 0.4)], name="diamond")


def program(*words):
    """The content of the --json file of hios-schedule."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        done = subprocess.run([Path(PROGRAMS) / "hios-schedule", *map(str, words), "-q", "--json", file], capture_output=True,
                              text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return json.loads(file.read_text())


class Refusals(unittest.TestCase):
    def refused(self, text, call, *arguments, error=hios.InputError, **options):
        """Expects an error on one line with the text in it."""
        with self.assertRaises(error) as caught:
            call(*arguments, **options)
        self.assertIn(text, str(caught.exception))
        self.assertEqual(len(str(caught.exception).splitlines()), 1)

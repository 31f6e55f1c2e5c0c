"""The programs and the command hios, run on the small network in a folder of their own."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from exchange_fixtures import small_model, write

PROGRAMS = Path(os.environ["HIOS_BIN_DIR"])


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.model = write(cls.folder, "small.json", small_model())

    def file(self, name):
        return str(self.folder / name)

    def run_words(self, words, status):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def hios(self, *words, status=0):
        return self.run_words([sys.executable, "-B", "-m", "hios", *words], status)

    def program(self, name, *words, status=0):
        return self.run_words([PROGRAMS / name, *words], status)

    def profile(self, merge, streams, to):
        self.program("hios-profile", "--model", self.model, *merge, "--streams", streams, "--stages", "none", "--warmup", 1,
                     "--iterations", 2, "--output", self.file(to), "--force")

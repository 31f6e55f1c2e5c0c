"""bench/gpu/mps.py: start, reasons of failure, and end."""

import unittest
from pathlib import Path

from fake_steps import FakeSteps
from mps import CONTROL, Mps
from installations import Installation
from support import FolderTest
from target import REHEARSAL, Target


class MpsTest(FolderTest):
    def mps(self, script="exit 0", trial="", target=Target()):
        """A control program that records its commands, then runs `script`."""
        control = self.folder / "control"
        control.write_text(f'#!/bin/sh\necho "$*:$(cat)" >> {self.folder}/commands\n{script}\n')
        control.chmod(0o755)
        self.steps = FakeSteps(lambda words: trial)
        installation = Installation(self.folder, Path("/programs"), True, "/mpirun", manifest={"tests": []})
        return Mps(installation, target, self.steps, self.folder, lambda name: str(control) if script else None)

    def commands(self):
        file = self.folder / "commands"
        return file.read_text().splitlines() if file.exists() else []

    def test_serves_where_two_ranks_could_use_it_and_is_ended(self):
        mps = self.mps().start()
        self.assertEqual(mps.word, "yes")
        self.assertIn("CUDA_MPS_PIPE_DIRECTORY", mps.environment())
        self.assertEqual(self.steps.commands[0][:3], ["/mpirun", "-np", "2"])
        mps.stop()
        self.assertEqual(self.commands(), ["-d:", ":quit"])
        self.assertEqual(mps.environment(), {})

    def test_gives_the_reason_why_it_does_not_serve(self):
        self.assertIn("out of luck", self.mps("echo out of luck; exit 1").start().word)
        mps = self.mps(trial="no server").start()
        self.assertEqual((mps.word, mps.environment()), ("no (no server)", {}))
        self.assertEqual(self.commands()[-1], ":quit", "the daemon is ended")
        self.assertIn(CONTROL, self.mps(script="").start().word)
        self.assertIn("rehearsal", self.mps(target=REHEARSAL).start().word)

    def test_is_not_started_by_default(self):
        self.mps().stop()
        self.assertEqual(self.commands(), [])


if __name__ == "__main__":
    unittest.main()

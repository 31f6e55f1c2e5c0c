"""bench/gpu/steps.py: steps that fail, hang or come too late are recorded, and no process is left running."""

import sys
import time
import unittest
from pathlib import Path

from steps import Deadline, Outcome, RunLimits, Steps
from support import FolderTest


def python(code):
    return [sys.executable, "-c", code]


def lives(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class StepsTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.lines = []
        self.log = self.folder / "log"

    def steps(self, seconds=60, **environment):
        return Steps(self.log, Deadline(seconds), environment, self.lines.append)

    def test_a_step_that_passes(self):
        outcome = self.steps(WORD="x").run("hello", python("import os; print(os.environ['WORD'])"), 20)
        self.assertTrue(outcome.passed)
        self.assertEqual((outcome.status, outcome.out, outcome.why), (0, "x\n", ""))
        self.assertIn("hello: ok", self.lines[0])
        self.assertIn("x\n", self.log.read_text())

    def test_a_step_that_fails_shows_its_last_line(self):
        outcome = self.steps().run("bad", python("import sys; print('first', file=sys.stderr); sys.exit('last')"), 20)
        self.assertFalse(outcome.passed)
        self.assertEqual(outcome.status, 1)
        self.assertIn("last", outcome.why)
        self.assertEqual(outcome.record()["passed"], False)

    def test_reasons_name_no_folder_of_the_machine_and_no_boxes(self):
        steps = self.steps()
        steps.short = {self.folder: "TREE"}
        outcome = steps.run("bad", python(f"import sys; sys.exit('-----\\n\\n{self.folder}/bin: unwell\\n-----\\n')"), 20)
        self.assertEqual(outcome.why, "status 1: TREE/bin: unwell")

    def test_a_signal_is_128_and_its_number(self):
        outcome = self.steps().run("killed", python("import os; os.kill(os.getpid(), 9)"), 20)
        self.assertEqual(outcome.status, 137)

    def test_a_step_that_hangs_is_ended_with_all_that_it_started(self):
        mark = self.folder / "mark"
        child = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
        code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(100)"
        began = time.monotonic()
        outcome = self.steps().run("hangs", python(code), 1)
        self.assertIn("ended by us after 1 s", outcome.why)
        self.assertLess(time.monotonic() - began, 300)
        number = mark.read_text() if mark.exists() else ""  # it may not have come so far
        while number and lives(number):
            self.assertLess(time.monotonic() - began, 300, "its child goes on")
            time.sleep(0.1)

    def test_later_runs_have_limits_of_the_first_ones(self):
        limits = RunLimits(120)
        limits.saw(Outcome("hangs", 143, 120, why="ended by us after 120 s"))
        self.assertEqual(limits.limit_s(), 120, "a run that failed says nothing")
        limits.saw(Outcome("quick", 0, 0.5))
        self.assertEqual(limits.limit_s(), 15)
        for seconds in (40, 10):
            limits.saw(Outcome("slow", 0, seconds))
        self.assertEqual(limits.limit_s(), 200)

    def test_no_step_outlasts_its_part(self):
        outcome = self.steps(seconds=2).run("long", python("import time; time.sleep(100)"), 90, least_s=1)
        self.assertIn("ended by us after 2 s", outcome.why)

    def test_nothing_is_started_when_the_time_is_up(self):
        outcome = self.steps(seconds=2).run("late", python("open('never', 'w')"), 90)
        self.assertIsNone(outcome.status)
        self.assertIn("time is up", outcome.why)

    def test_a_program_that_cannot_be_started(self):
        outcome = self.steps().run("nothing", [self.folder / "no-such-program"], 5)
        self.assertFalse(outcome.passed)
        self.assertIn("could not be started", outcome.why)


if __name__ == "__main__":
    unittest.main()

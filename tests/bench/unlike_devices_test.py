"""bench/unlike_devices.py: both groups, another build, repeated computations, and the table."""

import contextlib
import io
import json
import sys
import unittest
from pathlib import Path
from unittest import mock

import unlike_devices
from support import FakePrograms, FolderTest, flag


def answer(folder):
    """hios-schedule; that of the folder `old` has a gap of 50 %, the other of 5 %."""
    class Fake(FakePrograms):
        def json(self, program, *flags, ranks=0):
            self.calls.append((program, tuple(map(str, flags)), ranks))
            return {"comparison": [{"latency_ms": 150.0 if folder == Path("old") else 105.0, "lower_bound_ms": 100.0,
                                    "bound": "placement"}]}
    return Fake()


class UnlikeDevicesTest(FolderTest):
    def run_it(self, *words):
        made = {}
        said = io.StringIO()
        with mock.patch.object(unlike_devices, "Programs", lambda folder: made.setdefault(folder, answer(folder))), \
                mock.patch.object(sys, "argv", ["unlike_devices.py", "--seconds", "2", "--out", str(self.folder), *words]), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()), \
                self.assertRaises(SystemExit) as end:
            unlike_devices.main()
        return list(made.values()), said.getvalue(), end.exception.code

    def test_both_builds_on_each_problem(self):
        programs, said, status = self.run_it("--before", "old")
        problems = len(unlike_devices.UNLIKE) + len(unlike_devices.CORES)
        self.assertEqual([status, *(len(each.calls) for each in programs)], [0, problems, problems])
        call = programs[0].asked("hios-schedule")[0]
        self.assertEqual(flag(call, "--random"), f"family={unlike_devices.UNLIKE[0]},seed=1")
        self.assertEqual(flag(call, "--time-limit"), "2.0")
        self.assertIn("| 105.0 | 100.0 | placement | 5.0 | 150.0 | 100.0 | 50.0 |", said)
        self.assertIn("| 12 unlike, 8 problems: mean (largest) | | | | 5.0 (5.0) | | | 50.0 (50.0) |", said)
        groups = json.loads((self.folder / "unlike-devices.json").read_text())["groups"]
        self.assertEqual(groups["accelerators with cores"]["problems"], len(unlike_devices.CORES))
        programs, again, status = self.run_it("--before", "old")
        self.assertEqual([status, again, *(each.calls for each in programs)], [0, said, [], []])

    def test_moves_in_place_of_seconds(self):
        programs, _, _ = self.run_it("--moves", "7")
        call = programs[0].asked("hios-schedule")[0]
        self.assertEqual((flag(call, "--option"), flag(call, "--time-limit")), ("iterations=7", "600"))
        self.assertIn("best with 7 moves an island", (self.folder / "unlike-devices.md").read_text())

    def test_without_another_build_and_a_run_that_was_cut(self):
        _, said, status = self.run_it()
        self.assertEqual(status, 0)
        self.assertIn("| 105.0 | 100.0 | placement | 5.0 | - | - | - |", said)
        programs, said, status = self.run_it("--seconds", "3", "--time-limit", "0")
        self.assertEqual([status, said, programs[0].calls], [1, "", []])


if __name__ == "__main__":
    unittest.main()

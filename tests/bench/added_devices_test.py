"""bench/added_devices.py: the pairs, repeated computations, and the table."""

import contextlib
import io
import json
import sys
import unittest
from unittest import mock

import added_devices
from support import FakePrograms, FolderTest, flag


def answer(with_ms):
    """hios-schedule, by whose schedules the fast devices alone take 8 ms."""
    class Fake(FakePrograms):
        def json(self, program, *flags, ranks=0):
            self.calls.append((program, tuple(map(str, flags)), ranks))
            slow = ":" in flag(flags, "--random")
            return {"comparison": [{"algorithm": "best", "latency_ms": with_ms if slow else 8.0, "lower_bound_ms": 7.0}]}
    return Fake()


class AddedDevicesTest(FolderTest):
    def run_it(self, with_ms, *words):
        programs = answer(with_ms)
        said = io.StringIO()
        with mock.patch.object(added_devices, "Programs", lambda folder: programs), mock.patch.object(
                sys, "argv", ["added_devices.py", "--seconds", "2", "--out", str(self.folder), *words]), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()), \
                self.assertRaises(SystemExit) as end:
            added_devices.main()
        return programs, said.getvalue(), end.exception.code

    def test_twenty_pairs_with_and_without(self):
        programs, said, status = self.run_it(7.6)
        calls = programs.asked("hios-schedule")
        self.assertEqual((status, len(calls)), (0, 40))
        self.assertEqual({flag(call, "--time-limit") for call in calls}, {"2.0"})
        self.assertIn("family=tree,n=150,seed=1,speeds=1x4:0.05x8", {flag(call, "--random") for call in calls})
        self.assertIn("| tree | 150 | 1x4 | 0.05x8 | 8.00 | 7.60 | 0.9500 |", said)
        self.assertIn("mean 0.9500, largest 0.9500", said)
        self.assertEqual(len(json.loads((self.folder / "added-devices.json").read_text())["pairs"]), 20)
        programs, again, _ = self.run_it(9)
        self.assertEqual((programs.calls, again), ([], said))

    def test_a_later_end_and_a_run_that_was_cut_set_the_status(self):
        self.assertEqual(self.run_it(8.03)[2], 0)
        programs, said, status = self.run_it(8.05, "--seconds", "3")
        self.assertEqual(status, 1)
        programs, said, status = self.run_it(8, "--seconds", "4", "--time-limit", "0")
        self.assertEqual((programs.calls, said, status), ([], "", 1))


if __name__ == "__main__":
    unittest.main()

"""bench/milp: the problems, repeated computations, and the table."""

import contextlib
import io
import sys
from unittest import mock

import milp
from support import FakePrograms, FolderTest, flag


class Fake(FakePrograms):
    def json(self, program, *flags, ranks=0):
        self.calls.append((program, tuple(map(str, flags)), ranks))
        solved = "milp" in flags or "milp-split" in flags
        spread = "spread" in " ".join(map(str, flags))
        bound = 10.0 if solved and spread else 9.0 if solved else 8.0
        return {"comparison": [{"algorithm": "any", "latency_ms": 10.0, "lower_bound_ms": bound, "seconds": 3.0}]}


class MilpTest(FolderTest):
    def run_it(self, *words):
        programs, said = Fake(), io.StringIO()
        with mock.patch.object(milp, "Programs", lambda folder: programs), mock.patch.object(
                sys, "argv", ["milp", "--seeds", "2", "--out", str(self.folder), *words]), \
                contextlib.redirect_stdout(said), self.assertRaises(SystemExit) as end:
            milp.main()
        return programs, said.getvalue(), end.exception.code

    def test_all_kinds_of_devices_at_both_sizes(self):
        programs, said, status = self.run_it()
        self.assertEqual(status, 0)
        calls = programs.asked("hios-schedule")
        modules = 2 * 3 + 2 * 3 + 1 + 2
        self.assertEqual(len(calls), 2 * 2 * (2 * 3 + 3 * len(milp.FAMILIES)) + 2 * modules)
        self.assertIn("family=layered,n=20,seed=1,layers=4,spread=0.5", {flag(call, "--random") for call in calls})
        self.assertEqual({float(flag(call, "--time-limit")) for call in calls if flag(call, "--algorithm") == "milp"}, {10, 60})
        self.assertIn("| spread, 2 to 4, 20 operators | 6 | 10 | 6 | 3.0 | 1.250 | 1.000 |", said)
        self.assertIn("| 2 speeds, tight, 30 operators | 6 | 60 | 0 | 3.0 | 1.250 | 1.111 |", said)

    def test_modules_are_for_milp_split(self):
        programs, said, status = self.run_it("--only", "modules, 2 to 4 channels")
        self.assertEqual(status, 0)
        calls = programs.asked("hios-schedule")
        self.assertEqual(len(calls), 2 * 2 * 3)
        self.assertIn("modules=10,nodes=10,channels=3,ends=weak,seed=0", {flag(call, "--random") for call in calls})
        self.assertEqual({flag(call, "--algorithm") for call in calls}, {"heft", "milp-split"})
        self.assertIn("| modules, 2 to 4 channels, 100 operators | 6 | 120 |", said)

    def test_existing_results_are_not_computed_again(self):
        self.run_it()
        programs, _, _ = self.run_it()
        self.assertEqual(programs.calls, [])

    def test_a_run_that_was_cut_sets_the_status(self):
        programs, _, status = self.run_it("--time-limit", "0")
        self.assertEqual(status, 1)
        self.assertEqual(programs.calls, [])


if __name__ == "__main__":
    import unittest
    unittest.main()

"""bench/quality: the problems, repeated computations, and the table."""

import contextlib
import io
import json
import sys
import unittest
from unittest import mock

import quality
from support import FakePrograms, FolderTest, flag


def answer(latency):
    """hios-schedule whose latencies are by algorithm; None: refused."""
    class Fake(FakePrograms):
        def json(self, program, *flags, ranks=0):
            self.calls.append((program, tuple(map(str, flags)), ranks))
            return {"comparison": [{"algorithm": name, **({} if ms is None else {"latency_ms": ms}), "lower_bound_ms": 8.0,
                                    "bound": "work"} for name, ms in latency.items()]}
    return Fake()


LATENCY = {"hios-lp": 12.0, "hios-mr": 15.0, "heft": 10.0, "peft": None, "cluster": 11.0, "hios": 9.5, "best": 9.0}


class QualityTest(FolderTest):
    def run_it(self, latency=LATENCY, *words):
        programs = answer(latency)
        said = io.StringIO()
        with mock.patch.object(quality, "Programs", lambda folder: programs), mock.patch.object(
                sys, "argv", ["quality", "--seeds", "1", "--seconds", "2", "--out", str(self.folder), *words]), \
                contextlib.redirect_stdout(said), self.assertRaises(SystemExit) as end:
            quality.main()
        return programs, said.getvalue(), end.exception.code

    def test_every_family_on_all_devices_and_some_large_ones(self):
        programs, said, status = self.run_it()
        self.assertEqual(status, 0)
        calls = programs.asked("hios-schedule")
        self.assertEqual(len(calls), len(quality.FAMILIES) * len(quality.DEVICES) + len(quality.LARGE) + len(quality.EXPENSIVE))
        self.assertIn("family=tree,n=200,seed=0,speeds=1x2:0.1", {flag(call, "--random") for call in calls})
        self.assertEqual({flag(call, "--time-limit") for call in calls}, {"2.0"})
        alike = next(call for call in calls if flag(call, "--random") == "family=dense,n=80,seed=0")
        self.assertIn(flag(alike, "--devices"), {"4", "12"})
        self.assertRegex(said, r"\| all \| 42 \| 1\.200 \(1\.20\) \| 1\.500 \(1\.50\) \| - \| 1\.100 \(1\.10\) \| "
                               r"0\.950 \(0\.95\) \| 0\.900 \(0\.90\) \| 1\.125 \(1\.12\) \| 0 \|")
        self.assertIn("5000 layered, 4 alike", said)
        self.assertIn("| 1200 stencil,width=40,p=30, 8 alike | 1 |", said)
        self.assertIn("| all expensive | 5 |", said)

    def test_existing_results_are_not_computed_again(self):
        self.run_it()
        programs, _, _ = self.run_it()
        self.assertEqual(programs.calls, [])
        programs, _, _ = self.run_it(LATENCY, "--seconds", "3")
        self.assertNotEqual(programs.calls, [])

    def test_best_above_a_rule_and_a_run_that_was_cut_set_the_status(self):
        _, said, status = self.run_it({**LATENCY, "hios": 10.5, "best": 10.5})
        self.assertEqual(status, 1)
        self.assertRegex(said, r"\| all \| 42 .* \| 42 \|")
        programs, _, status = self.run_it(LATENCY, "--time-limit", "0", "--seconds", "4")
        self.assertEqual((programs.calls, status), ([], 1))

    def test_changes_are_against_what_is_kept(self):
        now = {"tree": {"best/bound": (1.05, 1.1)}, "chain": {"best/bound": (1.05, 1.1)}, "dense": {"best/bound": None}}
        kept = {"groups": {"tree": {"best/bound": [1.02, 1.1]}, "chain": {"best/bound": [1.0499, 1.1]}}}
        self.assertEqual(list(quality.changes(now, kept)), ["tree: best over the bound was 1.020, is 1.050"])

    def test_files(self):
        self.run_it()
        self.assertEqual(json.loads((self.folder / "quality.json").read_text())["groups"]["all"]["problems"], 42)
        self.assertTrue((self.folder / "quality.md").read_text().startswith("# Quality of schedules"))


if __name__ == "__main__":
    unittest.main()

"""bench/mixed: its jobs, their order, and the table."""

import contextlib
import io
import json
import sys
from pathlib import Path
from unittest import mock

import mixed
from support import FakePrograms, FolderTest, flag


def planned(program, flags, _ranks):
    """Writes a schedule: the restricted rank alone takes three times as long."""
    if program == "hios-schedule":
        slow = "profile-cpu-avx2-" in flag(flags, "--profile")
        Path(flag(flags, "--output")).write_text(json.dumps({"predicted": {"latency_ms": 30 if slow else 10}}))


class Fake(FakePrograms):
    """Each run of a row takes a millisecond more than the one before it; alone is twice as long."""

    def __init__(self):
        super().__init__(answer=planned)

    def json(self, program, *flags, ranks=0):
        self.calls.append((program, tuple(map(str, flags)), ranks))
        took = (20.0 if ranks == 1 else 10.0) + len(self.asked("hios-run"))
        verified = {"passed": True, "bitwise": ranks == 1 or None} if "--verify" in flags else None
        return {"predicted_ms": 19.0, "iterations_ms": [took], "latency_ms": {"disturbed": 1}, "verified": verified,
                "ranks": [{"held_bytes": 5_000_000}] * ranks, "versions": {"hios": "1"}}


class MixedTest(FolderTest):
    def run_it(self, *words):
        programs, said = Fake(), io.StringIO()
        with mock.patch.object(mixed, "Programs", lambda folder: programs), mock.patch.object(
                sys, "argv", ["mixed", "--out", str(self.folder), *words]), \
                contextlib.redirect_stdout(said), self.assertRaises(SystemExit) as end:
            mixed.main()
        self.assertEqual(end.exception.code, 0)
        return programs, said.getvalue()

    def test_rows_run_in_turns_and_are_verified_once(self):
        programs, _ = self.run_it("--rounds", "2", "--cap", "sse41")
        runs = programs.asked("hios-run")
        rows = 2 + len(mixed.TOGETHER) + len(mixed.WITH_CUTS)
        self.assertEqual(len(runs), 2 * rows)
        self.assertEqual([flag(run, "--backend") for run in runs[:rows]], ["cpu", "cpu:sse41"] + ["cpu,cpu:sse41"] * (rows - 2))
        self.assertEqual([flag(run, "--schedule") for run in runs[:rows]], [flag(run, "--schedule") for run in runs[rows:]])
        self.assertEqual(["--verify" in run for run in runs], [True] * rows + [False] * rows)

    def test_schedules_are_made_for_the_ranks_kinds(self):
        programs, _ = self.run_it("--rounds", "1")
        last = programs.asked("hios-schedule")[-1]
        with open(flag(last, "--platform"), encoding="utf-8") as file:
            self.assertEqual([device["kind"] for device in json.load(file)["devices"]], ["cpu", "cpu-avx2"])
        self.assertEqual(flag(last, "--algorithm"), "best")

    def test_one_input_is_cut_by_the_speeds_of_the_ranks(self):
        programs, _ = self.run_it("--rounds", "1")
        cut = [flag(call, "--cut") for call in programs.asked("hios-profile") + programs.asked("hios-schedule") if "--cut" in call]
        self.assertEqual(set(cut), {"auto:75:25"})
        self.assertIn("profile-cpu+cpu-avx2-cut-1.json", flag(programs.asked("hios-profile")[-1], "--output"))
        programs, _ = self.run_it("--rounds", "1", "--shares", "2:1")
        self.assertEqual(flag(programs.asked("hios-schedule")[-1], "--cut"), "auto:2:1")
        programs, _ = self.run_it("--rounds", "1", "--inputs", "4")
        self.assertFalse(any("--cut" in call for call in programs.asked("hios-schedule")))

    def test_the_table_has_predicted_next_to_measured(self):
        _, said = self.run_it("--rounds", "1")
        self.assertIn("| cpu alone | 21.00 | 21.00 | 21.00 | 1.00x | 19.00 | +9.5 % | 5.0 |", said)
        self.assertIn("| together, sequential | 13.00 | 13.00 | 13.00 | 1.62x | 19.00 | -46.2 % | 5.0, 5.0 |", said)
        self.assertIn("8 of 8 runs were disturbed", said)
        kept = json.loads((self.folder / "mixed.json").read_text())
        self.assertEqual([row["bitwise"] for row in kept["rows"]], [True, True] + 6 * [None])


if __name__ == "__main__":
    import unittest
    unittest.main()

"""bench/study/cuts: profiles and calls that are made once, platforms and profiles of machines that are not there, and the
table. One test asks the real programs, whose folder comes in HIOS_BIN_DIR."""

import json
import os
import unittest
import unittest.mock
from pathlib import Path

import cut_calls
import cut_tables
from hios.launch.programs import Programs
from markdown_tables import RESULTS
from support import NEVER, DeadlineAfter, FakePrograms, FolderTest, flag

PROFILES = len(cut_calls.NETWORKS) * (1 + len(cut_calls.DEVICES))
CALLS = list(cut_calls.all_calls())


class CutPrograms(FakePrograms):
    """One device takes 40 ms; whole operators gain nothing, cut ones twice that on any devices."""

    def json(self, program, *flags, ranks=0):
        self.run(program, *flags, ranks=ranks)
        row = {"latency_ms": 20.0, "cut_operators": 3} if flag(flags, "--cut") else {"latency_ms": 40.0}
        return {"comparison": [{**row, "lower_bound_ms": 16.0, "outcome": "feasible"}]}


class CutStudyTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.work = self.folder / "work"
        self.enterContext(unittest.mock.patch.object(cut_calls, "WORK", self.work))
        self.programs = CutPrograms(answer=self.answer)

    def answer(self, program, flags, _ranks):
        if program == "hios-profile":
            configuration = {"ranks": 1, "transfers": [{"from": 0}], "shards": flag(flags, "--cut")}
            Path(flag(flags, "--output")).write_text(json.dumps({"configurations": [configuration]}))

    def planned(self):
        return [flags for flags in self.programs.asked("hios-schedule") if flag(flags, "--platform")]

    def test_profiles_are_measured_by_one_rank_for_all_numbers_of_shards(self):
        self.assertFalse(cut_calls.measure_all(self.programs, DeadlineAfter(3)))
        self.assertEqual([(flag(flags, "--model"), flag(flags, "--cut")) for flags in self.programs.asked("hios-profile")],
                         [("squeezenet", cut) for cut in (None, "auto:2", "auto:4")])
        for _ in range(2):
            self.assertTrue(cut_calls.measure_all(self.programs, NEVER))
        self.assertEqual(len(self.programs.calls), PROFILES)
        self.assertEqual({ranks for _, _, ranks in self.programs.calls}, {1})

    def test_no_row_is_computed_twice(self):
        self.assertFalse(cut_calls.run(self.programs, self.folder, DeadlineAfter(PROFILES + 5)))
        self.assertEqual(len(self.planned()), 5)
        for _ in range(2):
            self.assertTrue(cut_calls.run(self.programs, self.folder, NEVER))
        self.assertEqual(len(self.planned()), len(CALLS))
        self.assertEqual(len(cut_calls.open_store(self.folder).rows), len(CALLS))

    def test_cut_operators_have_the_profile_of_as_many_shards_as_devices(self):
        cut_calls.run(self.programs, self.folder, DeadlineAfter(PROFILES + 9))
        for flags in self.planned():
            machine = json.loads(Path(flag(flags, "--platform")).read_text())
            (measured,) = json.loads(Path(flag(flags, "--profile")).read_text())["configurations"]
            devices = len(machine["devices"])
            self.assertEqual((measured["ranks"], measured["transfers"]), (devices, []))
            self.assertEqual(measured["shards"], f"auto:{devices}" if flag(flags, "--cut") else None)

    def test_the_table_takes_the_shortest_schedule_and_leaves_out_what_is_missing(self):
        store = cut_calls.open_store(self.folder)
        for algorithm, latency_ms in (("hios-lp", 40), ("best", 32)):
            store.add([{**cut_calls.Call("squeezenet", 2, *cut_calls.NODES["NVLink"], "whole", algorithm).key(),
                        "one_device_ms": 40, "latency_ms": latency_ms, "lower_bound_ms": 30}])
        store.add([{**cut_calls.Call("squeezenet", 2, *cut_calls.NODES["NVLink"], "cut", "heft").key(),
                    "one_device_ms": 40, "latency_ms": 22, "lower_bound_ms": 20, "cut_operators": 7}])
        lines = cut_tables.table(self.folder)
        self.assertEqual(lines[2], "| squeezenet | 2 |  /  |  /  | 1.25 / 1.82 |  /  |  /  | 7 | 10.0 % |")
        store.add([{**cut_calls.Call("squeezenet", 2, *cut_calls.NODES["NVLink"], "whole", "best").key(),
                    "one_device_ms": 40, "latency_ms": 20, "lower_bound_ms": 20, "cut_operators": 0}])
        self.assertIn("2.00 / 2.00 |  /  |  /  | 0 | 0.0 % |", cut_tables.table(self.folder)[2])  # cutting nothing is best
        self.assertEqual(len(lines), 2 + len(cut_calls.NETWORKS) * len(cut_calls.DEVICES))


class KeptRowsTest(unittest.TestCase):
    def test_all_calls_have_a_row_and_speedups_are_possible(self):
        gains, store = cut_tables.Gains(RESULTS / "study"), cut_calls.open_store(RESULTS / "study")
        self.assertEqual([call for call in CALLS if not store.has(**call.key())][:3], [])
        self.assertEqual(len(store.rows), len(CALLS))
        for call in CALLS:
            key = call.network, call.devices, (call.gb_per_s, call.latency_us)
            self.assertLessEqual(gains.speedup(*key, "cut"), 1.02 * call.devices, key)  # profiles differ by 2 %


class RealProgramsTest(FolderTest):
    def test_four_devices_stand_for_one_measured_rank(self):
        folder = os.environ.get("HIOS_BIN_DIR")
        if not folder:
            self.skipTest("HIOS_BIN_DIR is not set to the programs' folder")
        programs, model = Programs(folder), ("--model", "squeezenet", "--height", 64)
        measured, profile, machine = (self.folder / f"{name}.json" for name in ("measured", "profile", "platform"))
        programs.run("hios-profile", *model, "--cut", "auto:4", "--backend", "reference", "--warmup", 1,
                     "--iterations", 1, "--settle", 0, "--output", measured, "-q", ranks=1)
        profile.write_text(json.dumps(cut_calls.standing_for(json.loads(measured.read_text()), 4)))
        machine.write_text(json.dumps(cut_calls.platform(4, 100, 1)))
        (row,) = programs.json("hios-schedule", *model, "--cut", "auto", "--platform", machine, "--profile", profile,
                               "--algorithm", "heft")["comparison"]
        self.assertGreater(row["cut_operators"], 0)
        self.assertLess(row["latency_ms"], row["latency_without_cuts_ms"])


if __name__ == "__main__":
    unittest.main()

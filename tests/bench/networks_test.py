"""bench/study/hios/networks.py: which profiles, schedules and runs are asked for, in which order."""

import json
import unittest
from pathlib import Path
from unittest import mock

import networks
from networks import Case, Row, run_case
from support import NEVER, DeadlineAfter, FakePrograms, FolderTest, algorithm, flag

ALGORITHMS = [algorithm("sequential", many_devices=False), algorithm("ios", many_devices=False), algorithm("hios-lp")]
ROWS = ["sequential 1x1", "ios 1x1", "hios-lp 2x1", "sequential 1x2", "ios 1x2"]


def profile(flags, ranks):
    """Profiles like --update: other configurations stay."""
    file, threads = Path(flag(flags, "--output")), int(flag(flags, "--threads"))
    known = json.loads(file.read_text())["configurations"] if file.exists() else []
    known.append({"ranks": ranks, "threads": threads, "seconds": 10 * ranks + threads})
    file.write_text(json.dumps({"configurations": known}))


def answer(program, flags, ranks):
    if program == "hios-profile":
        profile(flags, ranks)
    elif program == "hios-schedule":
        Path(flag(flags, "--output")).write_text(json.dumps({"seconds": 0.5, "predicted": {
            "latency_ms": 7, "lower_bound_ms": 5, "gap": 0.4, "estimated_stages": 0}}))
    else:
        Path(flag(flags, "--json")).write_text(json.dumps({
            "iterations_ms": [1.5] * int(flag(flags, "--iterations")), "verified": {"passed": True}}))


class NetworksTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(networks, "WORK", self.folder / "work"))
        self.programs = FakePrograms(ALGORITHMS, answer)

    def run_one(self, deadline=NEVER, runs=36, network="inception_v3", pixels=299):
        """Runs one case; returns whether it is complete, and the programs that it started."""
        self.programs.calls.clear()
        complete = run_case(Case(self.programs, network, pixels), list(networks.rows(self.programs)),
                            networks.open_stores(self.folder), runs, deadline)
        return complete, list(self.programs.calls)

    def ran(self):
        """Rows in the order in which hios-run measured them."""
        return [Path(flag(flags, "--schedule")).stem.removeprefix("schedule-")
                for flags in self.programs.asked("hios-run")]

    def test_a_row_an_algorithm_and_rows_with_both_cores_on_one_rank(self):
        rows = list(networks.rows(self.programs))
        self.assertEqual(rows, [Row("sequential", 1, 1, 1), Row("ios", 1, 1, 1), Row("hios-lp", 2, 1, 1),
                                Row("sequential", 1, 2, 1), Row("ios", 1, 2, 2)])
        self.assertEqual([row.name for row in rows], ROWS)

    def test_sizes_are_the_default_and_powers_of_two(self):
        self.assertEqual(networks.sizes("inception_v3", 1024), [299, 512, 1024])
        self.assertEqual(networks.sizes("nasnet_large", 2048), [331, 512, 1024, 2048])
        self.assertEqual(networks.sizes("nasnet_large", 1023), [331, 512])
        self.assertEqual(networks.sizes("inception_v3", 100), [299])

    def test_cheap_cases_come_first(self):
        order = []
        with mock.patch.object(networks, "run_case",
                               lambda case, *_: order.append((case.network, case.pixels)) or True):
            self.assertTrue(networks.run(self.programs, self.folder, 1024, 36, NEVER))
        self.assertEqual(order, [("inception_v3", 299), ("inception_v3", 512), ("nasnet_large", 331),
                                 ("inception_v3", 1024), ("nasnet_large", 512), ("nasnet_large", 1024)])

    def test_one_incomplete_case_is_reported_and_others_still_run(self):
        seen = []
        with mock.patch.object(networks, "run_case", lambda case, *_: seen.append(case) or len(seen) != 2):
            self.assertFalse(networks.run(self.programs, self.folder, 512, 36, NEVER))
        self.assertEqual(len(seen), 4)

    def test_a_configuration_is_profiled_once(self):
        self.assertTrue(self.run_one()[0])
        asked = [(ranks, flag(flags, "--threads"), flag(flags, "--stages"))
                 for program, flags, ranks in self.programs.calls if program == "hios-profile"]
        self.assertEqual(asked, [(1, "1", None), (2, "1", None), (1, "2", "ios")])

    def test_every_row_is_planned_once_from_its_machine(self):
        self.run_one()
        asked = [(flag(f, "--algorithm"), flag(f, "--devices"), flag(f, "--threads"), flag(f, "--streams"))
                 for f in self.programs.asked("hios-schedule")]
        self.assertEqual(asked, [("sequential", "1", "1", "1"), ("ios", "1", "1", "1"), ("hios-lp", "2", "1", "1"),
                                 ("sequential", "1", "2", "1"), ("ios", "1", "2", "2")])

    def test_measuring_counts_where_it_was_needed(self):
        self.run_one()
        schedules, _ = networks.open_stores(self.folder)
        seconds = {row: schedules.get(network="inception_v3", pixels=299, row=row)["measuring_s"] for row in ROWS}
        # 10 x ranks + threads; sequential on both cores needs none of the stages that ios had measured.
        self.assertEqual(seconds, {"sequential 1x1": "11", "ios 1x1": "11", "hios-lp 2x1": "21",
                                   "sequential 1x2": "", "ios 1x2": "12"})

    def test_36_runs_are_6_rounds_of_6_in_turns(self):
        self.run_one()
        self.assertEqual(self.ran(), [row.replace(" ", "-") for row in ROWS] * 6)
        self.assertEqual({flag(f, "--iterations") for f in self.programs.asked("hios-run")}, {"6"})
        self.assertEqual([ranks for program, _, ranks in self.programs.calls if program == "hios-run"],
                         [1, 1, 2, 1, 1] * 6)
        _, runs = networks.open_stores(self.folder)
        self.assertEqual(len(runs.rows), 30)
        self.assertEqual(runs.rows["inception_v3", "299", "ios 1x2", "6"]["runs_ms"], " ".join(["1.5000"] * 6))

    def test_rounds_are_rounded_up(self):
        self.run_one(runs=13)
        self.assertEqual({flag(f, "--iterations") for f in self.programs.asked("hios-run")}, {"3"})

    def test_the_first_round_is_verified_where_that_is_cheap(self):
        self.run_one()
        verified = ["--verify" in flags for flags in self.programs.asked("hios-run")]
        self.assertEqual(verified, [True] * 5 + [False] * 25)
        self.run_one(network="nasnet_large", pixels=331)
        self.assertFalse(any("--verify" in flags for flags in self.programs.asked("hios-run")))
        _, runs = networks.open_stores(self.folder)
        cases = (("inception_v3", 299, 1), ("inception_v3", 299, 2), ("nasnet_large", 331, 1))
        self.assertEqual([runs.get(network=n, pixels=p, row="ios 1x1", round=r)["verified"] for n, p, r in cases],
                         ["True", "", ""])

    def test_a_second_run_computes_nothing(self):
        self.run_one()
        self.assertEqual(self.run_one(), (True, []))

    def test_results_alone_are_enough_for_that(self):
        self.run_one()
        for file in (self.folder / "work").rglob("*.json"):
            file.unlink()
        self.assertEqual(self.run_one(), (True, []))

    def test_stops_at_the_deadline_anywhere_and_ends_with_the_same_results(self):
        self.run_one()
        whole = {path.name: path.read_text() for path in self.folder.glob("*.csv")}
        steps = len(self.programs.calls)
        self.assertEqual(steps, 3 + 5 + 30)
        for stop in range(steps):
            with self.subTest(stop=stop):
                for path in [*self.folder.glob("*.csv"), *(self.folder / "work").rglob("*.json")]:
                    path.unlink()
                complete, first = self.run_one(DeadlineAfter(stop))
                self.assertEqual((complete, len(first)), (False, stop))
                complete, second = self.run_one()
                self.assertEqual((complete, len(second)), (True, steps - stop))
                self.assertEqual({path.name: path.read_text() for path in self.folder.glob("*.csv")}, whole)

    def test_a_new_algorithm_adds_its_own_row_only(self):
        self.run_one()
        self.programs.listed = [*ALGORITHMS, algorithm("newest")]
        complete, calls = self.run_one()
        self.assertTrue(complete)
        self.assertEqual([program for program, _, _ in calls], ["hios-schedule"] + ["hios-run"] * 6)
        self.assertEqual(self.ran(), ["newest-2x1"] * 6)


if __name__ == "__main__":
    unittest.main()

"""bench/study/hios/simulated.py: which processes are started for which cells."""

import csv
import unittest
from unittest import mock

import simulated
from settings import Setting
from support import NEVER, DeadlineAfter, FakePrograms, FolderTest, algorithm, flag

ONE_DEVICE = [algorithm("sequential", many_devices=False), algorithm("ios", many_devices=False)]
MANY_DEVICES = [algorithm("hios-lp"), algorithm("hios-mr")]
SEARCH = algorithm("best", options=("threads",))
SETTINGS = [Setting(devices=2), Setting(devices=4), Setting(devices=4, p=0.4), Setting(n=100, edges=200)]


def write_table(program, flags, ranks):
    """A row an algorithm, with more columns than the study keeps."""
    names = flag(flags, "--algorithm").split(",")
    with open(flag(flags, "--csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, ("algorithm", *simulated.VALUES, "refused"), restval="1")
        writer.writeheader()
        writer.writerows({"algorithm": name, "latency_ms": 100 + int(flag(flags, "--seed"))} for name in names)


class SimulatedTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(simulated, "all_settings", lambda: sorted(SETTINGS)))

    def run_study(self, algorithms, seeds=2, deadline=NEVER):
        programs = FakePrograms(algorithms, write_table)
        complete = simulated.run(programs, self.folder, seeds, deadline)
        return complete, programs.asked("hios-schedule")

    def stored(self):
        return simulated.open_store(self.folder).rows

    def test_one_process_a_setting_and_seed(self):
        complete, calls = self.run_study(MANY_DEVICES)
        self.assertTrue(complete)
        asked = sorted((flag(c, "--devices"), flag(c, "--random"), flag(c, "--seed")) for c in calls)
        self.assertEqual(asked, sorted((str(s.devices), s.random_keys(seed), str(seed))
                                       for s in SETTINGS for seed in (0, 1)))
        self.assertEqual({flag(c, "--algorithm") for c in calls}, {"hios-lp,hios-mr"})
        self.assertEqual({(flag(c, "--kind"), flag(c, "--streams")) for c in calls}, {("gpu", "8")})

    def test_a_cell_keeps_what_the_program_said(self):
        self.run_study(MANY_DEVICES)
        self.assertEqual(len(self.stored()), len(SETTINGS) * 2 * 2)
        row = self.stored()["4", "200", "400", "14", "0.4", "1", "hios-mr"]
        self.assertEqual((row["latency_ms"], row["outcome"]), ("101", "1"))

    def test_one_device_needs_no_other_devices_and_no_transfers(self):
        _, calls = self.run_study(ONE_DEVICE)
        self.assertEqual({flag(c, "--devices") for c in calls}, {"1"})
        self.assertEqual(sorted(flag(c, "--random") for c in calls),
                         sorted(s.random_keys(seed) for s in (Setting(), Setting(n=100, edges=200)) for seed in (0, 1)))
        self.assertEqual({key[0] for key in self.stored()}, {"1"})

    def test_a_second_run_computes_nothing(self):
        algorithms = ONE_DEVICE + MANY_DEVICES + [SEARCH]
        self.run_study(algorithms)
        before = (self.folder / "simulated.csv").read_text()
        self.assertEqual(self.run_study(algorithms), (True, []))
        self.assertEqual((self.folder / "simulated.csv").read_text(), before)

    def test_a_new_algorithm_adds_its_own_cells_only(self):
        self.run_study(ONE_DEVICE + MANY_DEVICES)
        before = (self.folder / "simulated.csv").read_text()
        _, calls = self.run_study(ONE_DEVICE + MANY_DEVICES + [algorithm("newest")])
        self.assertEqual({flag(c, "--algorithm") for c in calls}, {"newest"})
        self.assertEqual(len(calls), len(SETTINGS) * 2)
        self.assertTrue((self.folder / "simulated.csv").read_text().startswith(before))

    def test_more_seeds_add_their_own_cells_only(self):
        self.run_study(MANY_DEVICES, seeds=2)
        _, calls = self.run_study(MANY_DEVICES, seeds=3)
        self.assertEqual([flag(c, "--seed") for c in calls], ["2"] * len(SETTINGS))

    def test_a_lost_cell_is_computed_alone(self):
        self.run_study(MANY_DEVICES)
        file = self.folder / "simulated.csv"
        lines = file.read_text().splitlines(keepends=True)
        lost = next(line for line in lines if line.startswith("2,200,400,14,0.8,1,hios-mr,"))
        file.write_text("".join(line for line in lines if line != lost))
        _, calls = self.run_study(MANY_DEVICES)
        self.assertEqual([(flag(c, "--devices"), flag(c, "--seed"), flag(c, "--algorithm")) for c in calls],
                         [("2", "1", "hios-mr")])

    def change_a_bound(self, algorithm, by_ms):
        file = self.folder / "simulated.csv"
        lines = file.read_text().splitlines(keepends=True)
        changed = next(i for i, line in enumerate(lines) if f",{algorithm}," in line)
        cells = lines[changed].split(",")
        column = lines[0].rstrip().split(",").index("lower_bound_ms")
        cells[column] = str(float(cells[column]) + by_ms)
        lines[changed] = ",".join(cells)
        file.write_text("".join(lines))

    def test_rows_of_programs_with_other_bounds_are_not_mixed(self):
        self.run_study(MANY_DEVICES)
        self.change_a_bound("hios-lp", +1)
        with self.assertRaisesRegex(SystemExit, "two lower bounds of one network.*remove it"):
            self.run_study(MANY_DEVICES)

    def test_a_search_may_end_before_its_bound_is_the_networks(self):
        algorithms = [SEARCH, *MANY_DEVICES]
        self.run_study(algorithms)
        self.change_a_bound("best", -0.5)
        self.assertEqual(self.run_study(algorithms), (True, []))
        self.change_a_bound("best", +1)
        with self.assertRaisesRegex(SystemExit, "two lower bounds of one network.*remove it"):
            self.run_study(algorithms)

    def test_a_search_has_a_process_and_a_time_of_its_own_and_comes_last(self):
        with mock.patch.object(simulated.os, "sched_getaffinity", return_value={0}):
            _, calls = self.run_study(MANY_DEVICES + [SEARCH])
        names = [flag(c, "--algorithm") for c in calls]
        self.assertEqual(names, ["hios-lp,hios-mr"] * 8 + ["best"] * 8)
        self.assertEqual({flag(c, "--time-limit") for c in calls[:8]}, {None})
        self.assertEqual({flag(c, "--time-limit") for c in calls[8:]}, {"1.5"})
        self.assertEqual({flag(c, "--option") for c in calls[8:]}, {"threads=1"})

    def test_ios_may_try_so_many_endings(self):
        _, calls = self.run_study(ONE_DEVICE)
        self.assertEqual({flag(c, "--option") for c in calls}, {"max_endings=200000"})

    def test_early_seeds_come_first(self):
        with mock.patch.object(simulated.os, "sched_getaffinity", return_value={0}):
            _, calls = self.run_study(MANY_DEVICES, seeds=3)
        self.assertEqual([flag(c, "--seed") for c in calls], ["0"] * 4 + ["1"] * 4 + ["2"] * 4)

    def test_starts_nothing_after_the_deadline_and_continues_later(self):
        with mock.patch.object(simulated.os, "sched_getaffinity", return_value={0}):
            complete, calls = self.run_study(MANY_DEVICES, deadline=DeadlineAfter(3))
        self.assertFalse(complete)
        self.assertEqual(len(calls), 3)
        self.assertEqual(len(self.stored()), 3 * 2)
        complete, calls = self.run_study(MANY_DEVICES)
        self.assertTrue(complete)
        self.assertEqual(len(calls), len(SETTINGS) * 2 - 3)


if __name__ == "__main__":
    unittest.main()

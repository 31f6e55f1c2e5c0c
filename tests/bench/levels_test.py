"""bench/study/hios/levels.py on the real hios-schedule: small networks, two seeds. The folder of the programs comes in
HIOS_BIN_DIR."""

import os
import unittest
from unittest import mock

import levels
from hios.launch.programs import Deadline, Programs
from rebuilt import map_longest_paths
from rules import PAPER, PUBLISHED, members
from settings import Setting
from support import DeadlineAfter, FolderTest

SMALL = Setting(devices=2, n=24, edges=44, layers=6)
WIDER = Setting(devices=3, n=24, edges=44, layers=6)
SEEDS = 2


def device_of(stages):
    return {v: device for device, groups in stages for v in members(groups)}


class LevelsTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.programs = Programs(os.environ["HIOS_BIN_DIR"])
        self.enterContext(mock.patch.object(levels, "DEFAULT", SMALL))
        self.enterContext(mock.patch.object(levels, "SETTINGS", (WIDER, SMALL)))

    def rows(self):
        return levels.open_store(self.folder).rows

    def test_all_schedules_by_both_rules_once(self):
        self.assertTrue(levels.run(self.programs, self.folder, SEEDS, Deadline(None)))
        by_both = {(name, PAPER) for name in (*levels.ALGORITHMS, levels.ANY_PATH)}
        by_published = {(name, PUBLISHED) for name in ("hios-mr", levels.ANY_PATH, "hios-lp")}
        wanted = {("2", str(seed), *each) for seed in range(SEEDS)
                  for each in by_both | by_published | {("inter-lp", PUBLISHED)}}
        wanted |= {("3", str(seed), *each) for seed in range(SEEDS) for each in by_published | {("inter-mr", PAPER)}}
        self.assertEqual(set(self.rows()), wanted)
        for (_, _, name, _), row in self.rows().items():
            if name in ("sequential", "ios"):
                self.assertEqual(row["paper_ms"], row["published_ms"], "one device")

        before = (self.folder / "levels.csv").read_text()
        without_algorithms = mock.Mock(algorithms=lambda: [])
        self.assertTrue(levels.run(without_algorithms, self.folder, SEEDS, Deadline(None)))
        without_algorithms.run.assert_not_called()
        self.assertEqual((self.folder / "levels.csv").read_text(), before)

    def test_alg_1_by_the_papers_rule_is_that_of_hios_schedule(self):
        inter_lp = next(each for each in self.programs.algorithms() if each["name"] == "inter-lp")
        for setting in (SMALL, WIDER):
            for seed in range(5):
                network, stages = levels.planned(self.programs, inter_lp, setting, seed)
                rebuilt = map_longest_paths(network, setting.devices, PAPER, any_paths=False)
                self.assertEqual(device_of(rebuilt), device_of(stages), f"{setting}, seed {seed}")

    def test_starts_nothing_after_the_deadline(self):
        programs = mock.Mock(algorithms=lambda: [])
        self.assertFalse(levels.run(programs, self.folder, SEEDS, DeadlineAfter(0)))
        programs.run.assert_not_called()
        self.assertEqual(self.rows(), {})

    def test_a_program_with_another_rule_is_an_error(self):
        inter_mr = next(each for each in self.programs.algorithms() if each["name"] == "inter-mr")
        with mock.patch.object(levels, "latency_ms", return_value=1), \
                self.assertRaisesRegex(SystemExit, "inter-mr, --random family=two-terminal.*1 ms by .*departs from"):
            levels.planned(self.programs, inter_mr, SMALL, 0)


if __name__ == "__main__":
    unittest.main()

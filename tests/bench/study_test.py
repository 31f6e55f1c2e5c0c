"""The simulated part of the study on the real hios-schedule: small networks, two seeds. The folder of the
programs comes in HIOS_BIN_DIR."""

import os
import unittest
from unittest import mock

import cells
import networks
import simulated
from hios.launch.programs import Deadline, Programs
from settings import Figure, Setting
from support import FolderTest

SEEDS = 2


class SmallFigure(Figure):
    def settings(self):
        return (Setting(devices=devices, n=16, edges=28, layers=4) for devices in self.values)


SMALL = SmallFigure(7, "devices", "devices", (2, 3))


class StudyTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.programs = Programs(os.environ["HIOS_BIN_DIR"])
        self.enterContext(mock.patch.object(simulated, "all_settings", lambda: list(SMALL.settings())))
        self.enterContext(mock.patch.object(simulated, "SECONDS_OF_A_SEARCH", {"best": 0.05}))

    def study(self):
        self.assertTrue(simulated.run(self.programs, self.folder, SEEDS, Deadline(None)))
        return simulated.open_store(self.folder).rows

    def test_simulated_part_and_its_table(self):
        algorithms = {a["name"]: a["many_devices"] for a in self.programs.algorithms()}
        rows = self.study()
        self.assertEqual(len(rows), SEEDS * sum(len(SMALL.values) if many else 1 for many in algorithms.values()))
        for row in rows.values():
            latency, bound = float(row["latency_ms"]), float(row["lower_bound_ms"])
            self.assertGreater(bound, 0)
            self.assertGreaterEqual(latency, bound * (1 - 1e-9))
            self.assertAlmostEqual(float(row["gap"]), (latency - bound) / bound)
            self.assertIn(row["outcome"], ("optimal", "feasible", "time_limit"))
            self.assertGreaterEqual(float(row["seconds"]), 0)

        table = cells.figure_rows(cells.Cells(simulated.open_store(self.folder)), SMALL)
        self.assertEqual({(row["algorithm"], row["value"]) for row in table},
                         {(name, devices) for name in algorithms for devices in SMALL.values})
        for row in table:
            self.assertEqual(row["seeds"], SEEDS)
            self.assertGreaterEqual(row["gap_to_bound"], -1e-9)
        by_name = {row["algorithm"]: row for row in table}
        self.assertEqual(by_name["sequential"]["speedup_over_sequential"], 1)
        self.assertEqual(by_name["hios-lp"]["latency_over_hios_lp"], 1)
        self.assertGreaterEqual(by_name["ios"]["speedup_over_sequential"], 1 - 1e-9)

        before = (self.folder / "simulated.csv").read_text()
        with mock.patch.object(self.programs, "run", side_effect=AssertionError("computed again")) as run, \
                mock.patch.object(self.programs, "algorithms", lambda: [
                    {"name": name, "many_devices": many, "options": []} for name, many in algorithms.items()]):
            self.study()
        run.assert_not_called()
        self.assertEqual((self.folder / "simulated.csv").read_text(), before)

    def test_the_study_knows_the_programs_algorithms(self):
        """The algorithms and options that the study names exist."""
        algorithms = {a["name"]: a for a in self.programs.algorithms()}
        for name in ("sequential", "ios", "hios-lp", "inter-lp", "hios-mr", "inter-mr", *simulated.SECONDS_OF_A_SEARCH):
            self.assertIn(name, algorithms)
        for name, words in simulated.OPTIONS.items():
            known = {option["name"] for option in algorithms[name]["options"]}
            self.assertLessEqual({word.split("=")[0] for word in words}, known)
        names = [row.name for row in networks.rows(self.programs)]
        self.assertEqual(len(names), len(algorithms) + 2)
        for name in ("sequential 1x1", "ios 1x1", "hios-lp 2x1", "inter-lp 2x1", "sequential 1x2", "ios 1x2"):
            self.assertIn(name, names)


if __name__ == "__main__":
    unittest.main()

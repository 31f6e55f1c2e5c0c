"""bench/study/hios/cells.py against the formulas written out plainly."""

import math
import unittest

import simulated
from cells import (COLUMNS, Cells, figure_rows, mean_bounds, mean_ratio, read_figures, summary,
                   write_figures)
from settings import FIGURES, Setting
from support import FolderTest

DEVICES_FIGURE = next(figure for figure in FIGURES if figure.axis == "devices")
P_FIGURE = next(figure for figure in FIGURES if figure.axis == "p")
LATENCY = {"sequential": (100.0, 120.0, 80.0), "ios": (90.0, 96.0, 80.0), "hios-lp": (50.0, 48.0, 40.0),
           "hios-mr": (55.0, 60.0, 44.0)}
BOUND = {"sequential": (99.0, 99.0, 99.0), "ios": (99.0, 99.0, 99.0), "hios-lp": (40.0, 30.0, 36.0),
         "hios-mr": (32.0, 40.0, 32.0)}
WAITING = {"sequential": 0.0, "ios": 0.0, "hios-lp": 0.25, "hios-mr": 0.5}


def mean(numbers):
    return sum(numbers) / len(numbers)


class CellsTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.store = simulated.open_store(self.folder)
        for name in LATENCY:
            self.add(name, Setting(), range(3))

    def add(self, name, setting, seeds):
        described = {"name": name, "many_devices": name.startswith("hios")}
        self.store.add([{**simulated.cell_key(setting, described, seed), "latency_ms": LATENCY[name][seed],
                         "lower_bound_ms": BOUND[name][seed], "waiting_share": WAITING[name] + seed * 0.03125}
                        for seed in seeds])

    def summary(self, name, figure=DEVICES_FIGURE, setting=Setting()):
        return summary(Cells(self.store), figure, setting, name)

    def test_which_point_it_is(self):
        row = self.summary("hios-lp")
        self.assertEqual(tuple(row), COLUMNS)
        self.assertEqual((row["figure"], row["axis"], row["value"], row["algorithm"], row["seeds"]),
                         (7, "devices", 4, "hios-lp", 3))
        row = self.summary("hios-lp", P_FIGURE)
        self.assertEqual((row["figure"], row["axis"], row["value"]), (11, "p", 0.8))

    def test_rows_of_more_networks_stay(self):
        write_figures(self.folder)
        file = self.folder / "figures.csv"
        before = file.read_text()
        (self.folder / "simulated.csv").unlink()
        self.store = simulated.open_store(self.folder)
        self.add("hios-lp", Setting(), range(1))
        write_figures(self.folder)
        self.assertEqual(file.read_text(), before)
        file.write_text(before.replace("48", "49"))
        for name in LATENCY:
            self.add(name, Setting(), range(3))
        write_figures(self.folder)
        self.assertEqual(file.read_text(), before)

    def test_mean_and_deviation_of_a_sample(self):
        row, latency = self.summary("hios-mr"), LATENCY["hios-mr"]
        middle = mean(latency)
        self.assertAlmostEqual(row["latency_ms_mean"], middle)
        self.assertAlmostEqual(row["latency_ms_std"], math.sqrt(sum((ms - middle) ** 2 for ms in latency) / 2))

    def test_ratios_are_means_of_the_networks_own(self):
        row = self.summary("hios-mr")
        self.assertAlmostEqual(row["speedup_over_sequential"], mean([100 / 55, 120 / 60, 80 / 44]))
        self.assertAlmostEqual(row["speedup_over_ios"], mean([90 / 55, 96 / 60, 80 / 44]))
        self.assertAlmostEqual(row["latency_over_hios_lp"], mean([55 / 50, 60 / 48, 44 / 40]))
        # Not the ratio of the means, which differs for these numbers.
        self.assertNotAlmostEqual(row["speedup_over_sequential"], mean(LATENCY["sequential"]) / mean([55, 60, 44]))

    def test_waiting_is_a_mean(self):
        self.assertAlmostEqual(self.summary("hios-mr")["waiting_share"], 0.5 + 0.03125)

    def test_the_gap_is_to_the_best_bound_that_any_row_proves_there(self):
        # Bounds for four devices: 40, 40 and 36; that of 99 holds for one device only.
        self.assertAlmostEqual(self.summary("hios-lp")["gap_to_bound"], mean([50 / 40, 48 / 40, 40 / 36]) - 1)
        self.assertAlmostEqual(self.summary("hios-mr")["gap_to_bound"], mean([55 / 40, 60 / 40, 44 / 36]) - 1)
        self.assertEqual(mean_bounds([self.summary("hios-lp"), self.summary("ios")]), [(4, mean([40, 40, 36]))])

    def test_one_device_stands_for_every_number_of_devices_and_every_p(self):
        for setting in (Setting(devices=12), Setting(p=0.4)):
            self.assertEqual(Cells(self.store).latencies(setting, "ios"), {0: 90, 1: 96, 2: 80})
            self.assertEqual(Cells(self.store).latencies(setting, "hios-lp"), {})

    def test_only_networks_that_both_have_count(self):
        self.add("hios-lp", Setting(devices=2), [1])
        self.add("hios-mr", Setting(devices=2), [1, 2])
        row = self.summary("hios-mr", setting=Setting(devices=2))
        self.assertEqual(row["seeds"], 2)
        self.assertAlmostEqual(row["latency_over_hios_lp"], 60 / 48)
        self.assertAlmostEqual(row["speedup_over_sequential"], mean([120 / 60, 80 / 44]))
        self.assertAlmostEqual(row["gap_to_bound"], mean([60 / 40, 44 / 32]) - 1)

    def test_one_network_has_no_deviation(self):
        self.add("hios-lp", Setting(devices=2), [1])
        self.assertEqual(self.summary("hios-lp", setting=Setting(devices=2))["latency_ms_std"], 0)

    def test_without_anything_to_compare_with_the_ratio_is_left_out(self):
        self.assertEqual(mean_ratio({}, {0: 1.0}), "")
        self.assertEqual(mean_ratio({0: 1.0}, {1: 1.0}), "")

    def test_a_figure_has_rows_where_there_are_results_in_the_order_of_algorithms(self):
        self.add("hios-lp", Setting(devices=2), [1])
        rows = [(row["algorithm"], row["value"]) for row in figure_rows(Cells(self.store), DEVICES_FIGURE)]
        everywhere = list(DEVICES_FIGURE.values)
        self.assertEqual(rows, [("sequential", m) for m in everywhere] + [("ios", m) for m in everywhere]
                         + [("hios-mr", 4), ("hios-lp", 2), ("hios-lp", 4)])

    def test_figures_are_drawn_from_the_means_alone(self):
        write_figures(self.folder)
        (self.folder / "simulated.csv").unlink()
        write_figures(self.folder)
        rows = {(row["algorithm"], row["value"]): row for row in read_figures(self.folder)[DEVICES_FIGURE.number]}
        row = rows["hios-lp", 4]
        self.assertEqual(tuple(row), COLUMNS)
        self.assertEqual((row["seeds"], row["lower_bound_ms_mean"]), (3, 38.66667))
        self.assertAlmostEqual(row["gap_to_bound"], self.summary("hios-lp")["gap_to_bound"], places=6)
        self.assertEqual(mean_bounds(rows.values()), [(4, 38.66667)])


if __name__ == "__main__":
    unittest.main()

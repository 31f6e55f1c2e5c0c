"""bench/study/hios/measured.py against the formulas written out plainly."""

import math
import unittest

import networks
from measured import COLUMNS, Measured, table
from support import FolderTest

# Six rounds of two runs each; the median of twelve is the mean of the sixth and the seventh.
BASE_MS = {"sequential 1x1": 100.0, "ios 1x1": 90.0, "inter-lp 2x1": 70.0, "hios-lp 2x1": 60.0, "sequential 1x2": 55.0,
           "ios 1x2": 50.0}


def samples(row):
    return [BASE_MS[row] + step for step in (0, 20, 1, 14, 2, 9, 3, 8, 4, 7, 5, 30)]


def median(row):
    return BASE_MS[row] + 6.0  # 0 1 2 3 4 5 | 7 8 9 14 20 30


class MeasuredTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.schedules, self.runs = networks.open_stores(self.folder)

    def add(self, network="inception_v3", pixels=299, rows=BASE_MS, rounds=networks.ROUNDS):
        for row in rows:
            key = {"network": network, "pixels": pixels, "row": row}
            self.schedules.add([{**key, "predicted_ms": 61.5, "lower_bound_ms": 50, "gap": 0.25, "estimated_stages": 0,
                                 "measuring_s": "" if row == "sequential 1x2" else 2.5, "scheduling_s": 0.5}])
            self.runs.add([{**key, "round": i + 1, "runs_ms": " ".join(map(str, samples(row)[2 * i:2 * i + 2]))}
                           for i in range(rounds)])

    def row(self, name):
        return next(row for row in table(Measured(self.folder)) if row["row"] == name)

    def test_median_and_quartiles_over_all_rounds(self):
        self.add()
        measured = Measured(self.folder)
        self.assertEqual(measured.median("inception_v3", 299, "ios 1x1"), 96.0)
        low, high = measured.quartiles_off("inception_v3", 299, "ios 1x1")
        # Twelve samples: the quartiles lie at positions 2.75 and 8.25 of 0 to 11.
        self.assertAlmostEqual(low, 6.0 - 2.75)
        self.assertAlmostEqual(high, 10.25 - 6.0)

    def test_rows_of_one_core_in_the_order_of_algorithms_then_those_of_both(self):
        self.add()
        self.assertEqual(Measured(self.folder).rows("inception_v3"),
                         ["sequential 1x1", "ios 1x1", "inter-lp 2x1", "hios-lp 2x1", "ios 1x2", "sequential 1x2"])

    def test_a_difference_is_in_per_cent_of_the_other_rows_median(self):
        self.add()
        self.add(pixels=512)
        points = Measured(self.folder).difference("inception_v3", "inter-lp 2x1", "hios-lp 2x1")
        self.assertEqual(len(points), 2)
        for above, low, high in points:
            self.assertAlmostEqual(above, 100 * 10 / 66)
            self.assertAlmostEqual(low, 100 * 3.25 / 66)
            self.assertAlmostEqual(high, 100 * 4.25 / 66)

    def test_figure_12_is_relative_to_sequential(self):
        self.add()
        self.add(pixels=512)
        points = Measured(self.folder).relative("inception_v3", "hios-lp 2x1")
        self.assertEqual(len(points), 2)
        for middle, low, high in points:
            self.assertAlmostEqual(middle, 66 / 106)
            self.assertAlmostEqual(low, 3.25 / 106)
            self.assertAlmostEqual(high, 4.25 / 106)

    def test_figure_13_has_the_smallest_and_the_largest(self):
        for pixels in (1024, 299, 512):
            self.add(pixels=pixels)
        self.add("nasnet_large", 331)
        self.assertEqual(Measured(self.folder).extremes(),
                         [("inception_v3", 299), ("inception_v3", 1024), ("nasnet_large", 331)])

    def test_figure_14_adds_measuring_and_scheduling(self):
        self.add()
        measured = Measured(self.folder)
        self.assertEqual(measured.cost_s("inception_v3", "hios-lp 2x1"), [3.0])
        self.assertIsNone(measured.cost_s("inception_v3", "sequential 1x2"))

    def test_the_table(self):
        self.add()
        row, ms = self.row("hios-lp 2x1"), samples("hios-lp 2x1")
        mean = sum(ms) / 12
        self.assertEqual(tuple(row), COLUMNS)
        self.assertEqual((row["network"], row["pixels"], row["runs"]), ("inception_v3", 299, 12))
        self.assertAlmostEqual(row["latency_ms_mean"], mean)
        self.assertAlmostEqual(row["latency_ms_std"], math.sqrt(sum((each - mean) ** 2 for each in ms) / 11))
        self.assertEqual(row["latency_ms_median"], median("hios-lp 2x1"))
        self.assertAlmostEqual(row["speedup_over_sequential"], 106 / 66)
        self.assertAlmostEqual(row["speedup_over_ios"], 96 / 66)
        self.assertEqual((row["predicted_ms"], row["gap"], row["measuring_s"], row["scheduling_s"]),
                         (61.5, 0.25, 2.5, 0.5))
        self.assertEqual(self.row("sequential 1x2")["measuring_s"], "")

    def test_the_share_of_the_gain_by_mapping(self):
        self.add()
        self.assertAlmostEqual(self.row("hios-lp 2x1")["share_of_gain_by_mapping"], (106 - 76) / (106 - 66))
        for other in ("sequential 1x1", "inter-lp 2x1", "ios 1x2"):
            self.assertEqual(self.row(other)["share_of_gain_by_mapping"], "", other)

    def test_no_share_of_no_gain(self):
        self.add(rows=["sequential 1x1", "ios 1x1", "inter-lp 2x1"])
        for row, ms in (("hios-lp 2x1", 106), ("hios-mr 2x1", 107)):  # as slow as sequential, and slower
            key = {"network": "inception_v3", "pixels": 299, "row": row}
            self.schedules.add([{**key, "predicted_ms": 1, "gap": 0, "measuring_s": 1, "scheduling_s": 1}])
            self.runs.add([{**key, "round": i + 1, "runs_ms": f"{ms} {ms}"} for i in range(networks.ROUNDS)])
        self.assertEqual(self.row("hios-lp 2x1")["share_of_gain_by_mapping"], "")
        self.assertEqual(self.row("hios-mr 2x1")["share_of_gain_by_mapping"], "")

    def test_a_size_counts_when_all_its_rows_have_all_their_rounds(self):
        self.add()
        self.add(pixels=512, rounds=networks.ROUNDS - 1)
        self.assertEqual(Measured(self.folder).sizes("inception_v3"), [299])

    def test_a_row_that_another_size_lacks_keeps_that_size_away(self):
        self.add()
        self.add(pixels=512, rows=[row for row in BASE_MS if row != "hios-lp 2x1"])
        self.add("nasnet_large", 331, rows=[row for row in BASE_MS if row != "hios-lp 2x1"])
        measured = Measured(self.folder)
        self.assertEqual(measured.sizes("inception_v3"), [299])
        self.assertEqual(measured.sizes("nasnet_large"), [331])
        self.assertEqual(len(table(measured)), 6 + 5)

    def test_without_results_there_is_no_network(self):
        self.assertEqual(Measured(self.folder).networks, [])


if __name__ == "__main__":
    unittest.main()

"""Draws every figure from small made-up results. Runs only where there is matplotlib."""

import csv
import shutil
import unittest

import contention
import networks
import plot_trace
import plots
import plots_cold
import plots_cuts
import simulated
from markdown_tables import RESULTS
from measured import COLUMNS
from settings import Setting
from support import FolderTest

PNG = b"\x89PNG"


class PlotsTest(FolderTest):
    def fill_simulated(self):
        store = simulated.open_store(self.folder)
        for setting in (Setting(devices=2), Setting(devices=4)):
            for name in ("sequential", "ios", "hios-lp"):
                described = {"name": name, "many_devices": name == "hios-lp"}
                store.add([{**simulated.cell_key(setting, described, seed), "latency_ms": 50 + seed,
                            "lower_bound_ms": 40, "waiting_share": 0} for seed in range(2)])

    def fill_contention(self):
        together, sent = contention.open_stores(self.folder)
        together.add([{"pixels": pixels, "ratio": ratio} for pixels, ratio in ((8, 0.7), (16, 1.1))])
        sent.add([{"pixels": pixels, "ratio": 0.1, "beyond_measured_sizes": int(pixels > 8)} for pixels in (8, 16)])

    def fill_networks(self):
        schedules, runs = networks.open_stores(self.folder)
        for network, pixels in (("inception_v3", 299), ("inception_v3", 512), ("nasnet_large", 331)):
            for row in ("sequential 1x1", "ios 1x1", "inter-lp 2x1", "hios-lp 2x1", "sequential 1x2", "ios 1x2"):
                key = {"network": network, "pixels": pixels, "row": row}
                schedules.add([{**key, "predicted_ms": 1, "gap": 0, "scheduling_s": 1,
                                "measuring_s": "" if row == "sequential 1x2" else 1}])
                runs.add([{**key, "round": i, "runs_ms": "5 6"} for i in range(1, networks.ROUNDS + 1)])

    def drawn(self):
        pictures = list(self.folder.glob("*.png"))
        for file in pictures:
            self.assertTrue(file.read_bytes().startswith(PNG), file.name)
        return {file.stem for file in pictures}

    def test_draws_what_is_there(self):
        plots.draw_all(self.folder)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.fill_contention()
        plots.draw_all(self.folder)
        self.assertEqual(self.drawn(), {"figure-01-contention", "figure-02-transfer"})
        self.fill_simulated()
        self.fill_networks()
        plots.draw_all(self.folder)
        # Inception-v3 has two sizes, NASNet-A large no second one to draw a line to.
        self.assertEqual(self.drawn(), {
            "figure-01-contention", "figure-02-transfer", "figure-07-devices", "figure-08-n", "figure-09-edges",
            "figure-10-layers", "figure-11-p", "figure-12-inception_v3", "figure-13-gain", "figure-14-cost"})

    def test_labels_near_a_line_are_its_differences(self):
        from plots_measured import neighbour
        self.assertEqual(neighbour("best 2x1"), "hios-lp 2x1")
        self.assertEqual(neighbour("ios 1x1"), "sequential 1x1")
        self.assertEqual(neighbour("ios 1x2"), "sequential 1x2")
        self.assertIsNone(neighbour("hios-lp 2x1"))

    def test_lines_that_coincide_are_one(self):
        from plots_measured import coinciding
        lines = {"a": [10, 100], "b": [10.2, 99], "c": [10.2, 110], "d": [10.4, 100]}
        self.assertEqual(coinciding(lines), [["a", "b"], ["c"], ["d"]])

    def test_tables_are_next_to_the_figures(self):
        self.fill_simulated()
        self.fill_networks()
        plots.draw_all(self.folder)
        with (self.folder / "networks.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual((len(rows), tuple(rows[0])), (18, COLUMNS))
        with (self.folder / "figures.csv").open() as file:
            mean = {(row["axis"], row["value"], row["algorithm"]): row["latency_ms_mean"]
                    for row in csv.DictReader(file)}
        self.assertEqual(mean["devices", "2", "hios-lp"], "50.5")

    def test_the_same_results_give_the_same_bytes(self):
        self.fill_contention()
        plots.draw_all(self.folder)
        first = {file.name: file.read_bytes() for file in self.folder.iterdir()}
        plots.draw_all(self.folder)
        self.assertEqual({file.name: file.read_bytes() for file in self.folder.iterdir()}, first)

    def test_cold_starts(self):
        plots_cold.draw_all(self.folder)
        self.assertEqual(list(self.folder.iterdir()), [])
        for file in (RESULTS / "study").glob("cold-*.csv"):
            shutil.copy(file, self.folder)
        plots_cold.draw_all(self.folder)
        self.assertEqual(self.drawn(), {"figure-cold-starts", "figure-cold-p4d", "figure-cold-ablations"})

    def test_cuts(self):
        plots_cuts.draw_all(self.folder)
        self.assertEqual(list(self.folder.iterdir()), [])
        shutil.copy(RESULTS / "study" / "cuts.csv", self.folder)
        plots_cuts.draw_all(self.folder)
        self.assertEqual(self.drawn(), {"figure-cuts"})

    def test_a_trace(self):
        slices = [("planned", "device 0", "conv_1", 0.0, 1.0), ("planned", "device 1", "pool_1", 1.5, 0.5)]
        arrows = [(("planned", "device 0", 1.0), ("planned", "device 1", 1.5))]
        plot_trace.draw(slices, arrows, self.folder / "trace.png")
        self.assertTrue((self.folder / "trace.png").read_bytes().startswith(PNG))


if __name__ == "__main__":
    unittest.main()

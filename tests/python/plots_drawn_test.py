"""The pictures of comparisons, by Matplotlib. Runs only where it is installed."""

import tempfile
import unittest
from pathlib import Path

from hios.plots.comparison import draw

BEGINNINGS = {".pdf": b"%PDF", ".png": b"\x89PNG", ".svg": b"<?xml"}


def results(counts):
    rows = []
    for i, name in enumerate(("sequential", "hios-lp", "best")):
        rows += [{"algorithm": name, "devices": count, "latency_ms": 20 / count + i, "lower_bound_ms": 8 / count,
                  "bound": "critical_path"} for count in counts]
    rows.append({"algorithm": "milp", "devices": counts[0], "refused": "too large"})
    return {"objective": "latency", "graph": {"name": "a network"}, "comparison": rows}


class DrawnTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_each_format_of_bars_and_lines(self):
        for counts in ([2], [2, 4, 8]):
            for ending, beginning in BEGINNINGS.items():
                with self.subTest(counts=counts, ending=ending):
                    file = self.folder / f"plot{ending}"
                    draw(results(counts), file)
                    self.assertTrue(file.read_bytes().startswith(beginning))
                    self.assertEqual(list(self.folder.iterdir()), [file], "no part of it is left")
                    file.unlink()

    def test_names_and_the_bound_are_in_the_picture(self):
        file = self.folder / "plot.svg"
        draw(results([2]), file)
        text = file.read_text()
        for part in ("a network, 2 devices", "hios-lp", "lower bound", "refused: milp"):
            self.assertIn(f"<!-- {part}", text)

    def test_names_are_no_formulas(self):
        for counts in ([2], [2, 4]):
            data = results(counts)
            data["graph"]["name"] = "a $x_{"
            for row in data["comparison"]:
                row["algorithm"] += " $^{ $"
            file = self.folder / f"plot{len(counts)}.svg"
            draw(data, file)
            self.assertIn("<!-- a $x_{", file.read_text())
            self.assertIn("<!-- best $^{ $", file.read_text())

    def test_the_same_rows_are_the_same_picture(self):
        for name in ("a.svg", "b.svg"):
            draw(results([2, 4]), self.folder / name)
        self.assertEqual((self.folder / "a.svg").read_bytes(), (self.folder / "b.svg").read_bytes())


if __name__ == "__main__":
    unittest.main()

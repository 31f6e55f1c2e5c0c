"""bench/study/hios/page_tables.py: the tables of docs/study.md are those that its CSV files give."""

import shutil
import unittest
from pathlib import Path

import page_tables
from support import FolderTest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "study"


class PageTablesTest(FolderTest):
    def test_the_file_of_tables_is_that_of_the_results(self):
        for file in RESULTS.glob("*.csv"):
            shutil.copy(file, self.folder)
        page_tables.write(self.folder)
        self.assertEqual((self.folder / page_tables.FILE).read_text(), (RESULTS / page_tables.FILE).read_text())

    def test_a_table_follows_its_rows(self):
        shutil.copy(RESULTS / "levels.csv", self.folder)
        before = page_tables.levels_by_rule(self.folder)
        with (self.folder / "levels.csv").open("a") as file:
            file.write("4,0,inter-lp any path,published,133.0,500.6\n")  # of two rows with one key the later counts
        after = page_tables.levels_by_rule(self.folder)
        differ = [line for line, other in zip(before, after) if line != other]
        self.assertEqual(len(differ), 1)
        self.assertTrue(differ[0].startswith("| Alg. 1 by any path |"))

    def test_missing_results_leave_tables_out_or_cells_empty(self):
        self.assertEqual(page_tables.tables(self.folder), {})
        rows = (RESULTS / "levels.csv").read_text().splitlines()
        kept = [rows[0], *(row for row in rows if row.startswith("4,0,") and ",ios," not in row)]
        (self.folder / "levels.csv").write_text("\n".join(kept) + "\n")
        self.assertEqual(list(page_tables.tables(self.folder)), ["Latencies by both rules", "Speed-ups by the evaluator"])
        self.assertIn("| ios |  |  |  |  | 371 |", page_tables.levels_by_rule(self.folder))
        self.assertRegex(page_tables.speedups_by_rule(self.folder)[-1], r"^\| hios-lp \|  \| [\d.]+ \|  \|  \|  \|  \|$")

    def test_results_are_small(self):
        self.assertLess((RESULTS / "levels.csv").stat().st_size, 100_000)


if __name__ == "__main__":
    unittest.main()

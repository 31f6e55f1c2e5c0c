"""The pages' tables: each that shows figures is computed again from its results file, or is named here with the reason why
it has none."""

import json
import unittest
from collections import Counter

import tables_of_cold
import tables_of_cuts
import tables_of_hetero
import tables_of_pipelines
import tables_of_runs
import tables_of_study
from hios.benchmark import table as demo_table
from hios.benchmark import verdict
from markdown_tables import RESULTS, ROOT, Numbers, differences, tables_in, tables_of

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("*/README.md")), *sorted((ROOT / "docs").glob("*.md")),
         *sorted(RESULTS.rglob("*.md"))]
RECOMPUTED = {**tables_of_cold.RECOMPUTED, **tables_of_cuts.RECOMPUTED, **tables_of_hetero.RECOMPUTED, **tables_of_pipelines.RECOMPUTED,
              **tables_of_runs.RECOMPUTED, **tables_of_study.RECOMPUTED}
WITHOUT_FILE = {
    ("docs/usage.md", "exit status | "): "numbers of the interface, no measurement",
    ("docs/architecture.md", "floor | folder | rooms, from the ground up"): "floors, no measurement",
    ("docs/arithmetic.md", " | atol | rtol"): "tolerances are in the code; the errors were seen once, when they were chosen",
    ("docs/cold-start.md", "assumed | "): "rates that are in the code (hios/discovery), no measurement",
    ("docs/formats.md", " | from ms | to ms"): "an example, which tests/hios/evaluate/cold/worked_example_test.cpp has",
    ("docs/fusion.md", "network | sets | operators"): "counts, which tests/hios/graph/fusion/merge_siblings_test.cpp has",
    ("docs/hetero.md", "the paper's Table I | one device, ms | MET"): "the paper's figures",
    ("docs/reliability.md", "environment | tests | seconds"): "bench/worlds.sh prints them, and keeps no file",
    ("docs/reliability.md", "chroot | tests | seconds with the build"): "bench/worlds.sh prints them, and keeps no file",
    ("docs/throughput.md", "network | pipeline / copies | "): "ranges of two sessions of hios bench --throughput, whose files were not kept",
}


def by_key():
    """All tables of figures, and those that are computed again, as (page, title): [table, ...]."""
    found = {}
    for page in PAGES:
        for table in tables_of(page):
            if table.shows_figures() or table.key() in RECOMPUTED:
                found.setdefault(table.key(), []).append(table)
    return found


def edited(cell):
    """The cell with its last digit changed."""
    at = max(index for index, sign in enumerate(cell) if sign.isdigit())
    return cell[:at] + str((int(cell[at]) + 1) % 10) + cell[at + 1:]


class PagesTest(unittest.TestCase):
    def test_every_table_of_figures_is_computed_again_or_named(self):
        self.assertEqual(Counter({key: len(tables) for key, tables in by_key().items()}),
                         Counter({**{key: len(sources) for key, sources in RECOMPUTED.items()},
                                  **{key: 1 for key in WITHOUT_FILE}}))

    def test_tables_are_those_of_their_results(self):
        tables = by_key()
        for key, sources in RECOMPUTED.items():
            for table, source in zip(tables[key], sources):
                with self.subTest(page=table.page, line=table.line):
                    self.assertEqual(differences(table.rows, source()), [])

    def test_an_edited_figure_is_a_difference(self):
        for key, sources in RECOMPUTED.items():
            for source in sources:
                expected = [list(row) for row in source()]
                for line, row in enumerate(expected):
                    for column, cell in enumerate(row):
                        if cell is None or not any(map(str.isdigit, " ".join(cell))):
                            continue
                        shown = [["" if each is None else " ".join(each) if isinstance(each, Numbers) else each for each in one]
                                 for one in expected]
                        self.assertEqual(differences([shown[line]], [row]), [])
                        shown[line][column] = edited(shown[line][column])
                        self.assertEqual(len(differences([shown[line]], [row])), 1, (key, shown[line]))

    def test_latencies_are_those_of_the_file(self):
        (file,) = RESULTS.glob("latency-*.json")
        page = file.with_suffix(".md").read_text()
        for network, summary in json.loads(file.read_text())["networks"].items():
            block = page.partition(f"## {network}\n```\n")[2].partition("\n```")[0]
            _, table, notes = block.split("\n\n")[:3]
            self.assertEqual(table, demo_table.table(summary))
            self.assertEqual(notes, "\n".join(demo_table.folded(note, "  ") for note in demo_table.notes(summary)))
            self.assertEqual(len(summary["extra"]["yardsticks"]), notes.count("bare oneDNN loop"))
            if network == "inception_v3":
                for shown in (table, *self.verdict_of(summary)):
                    for name in ("README.md", "docs/usage.md"):
                        self.assertIn(f"\n{shown}\n", (ROOT / name).read_text())

    @staticmethod
    def verdict_of(summary):
        """The lines of the verdict that this older summary has the figures for; the network's batch is 1."""
        rows = summary["rows"]
        first = verdict.fastest(rows)
        ranks = verdict.fastest([row for row in rows if row["ranks"] > 1])
        limit = {**summary["extra"]["two_rank_limit"], "ranks": 2}
        lines = (verdict.fastest_line({**first, "extra": {"batch": 1}}), verdict.threads_line(rows[0], first, ranks, limit))
        return list(map(demo_table.folded_verdict, lines))


class ReadingTest(unittest.TestCase):
    TEXT = "| a | b |\n|---|---|\n| x | 1.5 \\| 2 |\n\n```\n| no | table |\n```\n  | c | |\n  |---|---|\n  | 3.1 %, 4 % | y |\n"

    def test_tables_are_found_outside_of_examples(self):
        first, second = tables_in(self.TEXT, "page")
        self.assertEqual((first.head, first.rows, first.line), (("a", "b"), (("x", "1.5 \\| 2"),), 1))
        self.assertEqual((second.key(), second.rows), (("page", "c | "), (("3.1 %, 4 %", "y"),)))
        self.assertEqual([first.shows_figures(), second.shows_figures()], [False, True])

    def test_differences_name_the_cell(self):
        self.assertEqual(differences([("a", "1")], [["a", "2"]]), ["'a': '1', from the results '2'"])
        self.assertEqual(differences([("a", "1")], [[None, "1"]]), [])
        self.assertEqual(differences([("a", "1")], []), ["1 rows, from the results 0"])
        self.assertEqual(differences([("a", "1")], [["a"]]), ["'a': 2 cells, from the results 1"])

    def test_numbers_of_a_sentence_are_in_order(self):
        self.assertEqual(Numbers("1.2", "12,640", "3"), "GPT-3: 1.2 to 12,640, on 3")
        self.assertFalse(Numbers("1.2") == "1.2 and 3")


if __name__ == "__main__":
    unittest.main()

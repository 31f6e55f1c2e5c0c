"""bench/results: small files, each with the command that makes it and the page that shows it."""

import fnmatch
import re
import unittest

from markdown_tables import RESULTS, ROOT, tables_of

LARGEST_BYTES = 100_000
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_KEPT = ("README.md", "*.log", "study/simulated.csv")  # of .gitignore, but for the list itself


def kept():
    names = (file.relative_to(RESULTS).as_posix() for file in sorted(RESULTS.rglob("*")) if file.is_file())
    return [name for name in names if not any(fnmatch.fnmatch(name, pattern) for pattern in NOT_KEPT)]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


class ResultsTest(unittest.TestCase):
    def setUp(self):
        (self.table,) = tables_of(RESULTS / "README.md")

    def test_files_are_small(self):
        self.assertGreater(len(kept()), 40)
        large = [name for name in kept() if (RESULTS / name).stat().st_size > LARGEST_BYTES]
        self.assertEqual(large, [], "keep what pages and plots cite, and name the command that makes the rest again")

    def test_each_file_is_in_one_row_and_each_row_has_files(self):
        patterns = [pattern for files, _, _ in self.table.rows for pattern in quoted(files)]
        for name in kept():
            self.assertEqual(sum(fnmatch.fnmatch(name, pattern) for pattern in patterns), 1, name)
        for pattern in patterns:
            self.assertTrue(fnmatch.filter(kept(), pattern), pattern)

    def test_each_row_has_a_command_that_exists_and_a_page_of_its_own(self):
        for files, command, shown in self.table.rows:
            with self.subTest(files=files):
                self.assertTrue((ROOT / quoted(command)[0].split()[0]).is_file(), command)
                self.assertRegex(shown, r"\]\(\.\./\.\./docs/[\w-]+\.md")

    def test_pictures_are_shown(self):
        text = "\n".join(page.read_text() for page in PAGES)
        for name in kept():
            if name.endswith((".png", ".svg")):
                self.assertIn(f"bench/results/{name})", text)


if __name__ == "__main__":
    unittest.main()

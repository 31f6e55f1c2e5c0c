"""scripts/coverage.py: lines that no program of a build executed, from gcov's own answers about a small program."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import coverage

PROGRAM = """int twice(int x) {
  return 2 * x;
}
int never(int x) {
  int y = x;
  return y;
}
int main(int count, char**) {
  return count > 5 ? never(count) : twice(count) - 2 * count;
}
"""
SCRIPT = Path(__file__).resolve().parents[2] / "scripts/coverage.py"


class Coverage(unittest.TestCase):
    def test_names_the_lines_that_no_program_executed(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / "engine/cuda").mkdir(parents=True)
            source = root / "engine/cuda/one.cpp"
            source.write_text(PROGRAM)

            def report(*flags):
                return subprocess.run([sys.executable, "-B", SCRIPT, "--build", root, "--root", root, *flags],
                                      capture_output=True, text=True, check=False)

            empty = report()
            self.assertNotEqual(empty.returncode, 0)
            self.assertIn("has no counting objects", empty.stderr)
            subprocess.run(["g++", "--coverage", "-O0", source, "-o", root / "one"], cwd=root, check=True)
            self.assertIn("    7 of    7  engine/cuda/one.cpp: 1-2, 4-6, 8-9\n", report().stdout)
            subprocess.run([root / "one"], cwd=root, check=True)
            done = report("--most", "3")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("    3 of    7  engine/cuda/one.cpp: 4-6\n", done.stdout)
            self.assertEqual(report("--most", "2").returncode, 1)

    def test_a_line_counts_if_one_of_several_programs_executed_it(self):
        def answer(counts):
            return {"files": [{"file": "/r/engine/cuda/a.h",
                               "lines": [{"line_number": i + 1, "count": c} for i, c in enumerate(counts)]},
                              {"file": "/usr/include/b.h", "lines": [{"line_number": 1, "count": 0}]}]}
        files = coverage.counted([answer([1, 0, 0]), answer([0, 2, 0])], Path("/r"), ["engine/cuda"])
        self.assertEqual(files, {"engine/cuda/a.h": {1: True, 2: True, 3: False}})

    def test_neighbouring_lines_are_one_range(self):
        self.assertEqual(coverage.ranges([9, 3, 8, 7]), "3, 7-9")
        self.assertEqual(coverage.ranges([]), "")


if __name__ == "__main__":
    unittest.main()

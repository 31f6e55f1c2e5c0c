"""Every Python program of bench/, scripts/, slurm/ and python/ explains itself: --help says how it is used and does nothing else."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [file for folder in ("bench", "scripts", "slurm", "python") for file in sorted((ROOT / folder).rglob("*.py"))]
PROGRAMS = [file for file in SOURCES if "__main__" in file.read_text()]
NOT_OURS = r"No module named '(torch|numpy|matplotlib)'"


def for_people(program):
    """True if people start the script; other scripts get their arguments from a program."""
    return "import argparse" in program.read_text()


class HelpTest(unittest.TestCase):
    def test_programs_explain_themselves(self):
        programs = [program for program in PROGRAMS if for_people(program)]
        self.assertGreaterEqual(len(programs), 7)
        for program in programs:
            with self.subTest(program=str(program.relative_to(ROOT))):
                done = subprocess.run([sys.executable, "-B", program, "--help"], capture_output=True, text=True)
                if re.search(NOT_OURS, done.stderr):
                    continue  # a machine without it cannot run the program either
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout.startswith("usage: "), done.stdout)

    def test_programs_with_a_shebang_explain_themselves(self):
        for program in PROGRAMS:
            if program.read_text().startswith("#!"):
                self.assertTrue(for_people(program), program)

    def test_an_unknown_flag_is_refused_before_anything_runs(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "bench" / "latency.py", "--hlep"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()

"""Scripts, and test.sh: a failure hides no other, and the last line names what failed and what was not run."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from support import FolderTest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = "/usr/bin:/bin"
# ctest's own end, of a preset with a failure: its name is the word after --preset.
LIST = """
50% tests passed, 2 tests failed out of 4

Total Test time (real) =   0.06 sec

The following tests did not run:
\t  2 - Device.Gpu (Skipped)

The following tests FAILED:
\t  3 - Ring.Turns (Failed)
\t  4 - Names/Of.Values/4-byte (x)  # GetParam() = 4 (Timeout)
Errors while running CTest
"""


class Scripts(unittest.TestCase):
    # Bash reads a script line by line: what it cannot read at the end shows at the end of an hour.
    def test_bash_reads_every_script_to_its_end(self):
        folders = ("", ".ci", "bench", "examples", "packaging", "scripts", "slurm", "tests")
        files = {file for folder in folders for file in (ROOT / folder).glob("**/*" if folder else "*")
                 if file.is_file() and not file.is_symlink()}
        scripts = [file for file in files if file.read_bytes()[:64].split(b"\n")[0].endswith((b"bash", b"/sh"))]
        self.assertGreater(len(scripts), 15)
        for script in sorted(scripts):
            done = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class AllTests(FolderTest):
    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / "test.sh", self.folder)
        (self.folder / "list").write_text(LIST)
        for name in ("scripts/setup.sh", "tests/package/check.sh", "tests/wheel/check.sh", "bin/cmake", "bin/ctest"):
            self.fake(name, "exit 0")

    def fake(self, name, body):
        """A program that records its call and does no more than the lines of `body`."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{Path(name).name} $*" >>"{self.folder}/calls"\n{body}\n')
        path.chmod(0o755)

    def run_script(self, *presets):
        """The exit status, the last line, and the calls."""
        path = os.pathsep.join([str(self.folder / "bin"), TOOLS])
        done = subprocess.run(["bash", self.folder / "test.sh", *presets], env={**os.environ, "PATH": path},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout.splitlines()[-1], (self.folder / "calls").read_text()

    def test_success_names_only_what_was_left_out(self):
        self.assertEqual(self.run_script("asan")[:2], (0, "all tests passed"))
        status, line, calls = self.run_script()
        left_out = " | not run: the CUDA backend and its tests (no nvcc in PATH)"
        if shutil.which("nvcc", path=TOOLS):
            left_out = ""
        self.assertEqual((status, line), (0, "all tests passed" + left_out))
        for call in ("cmake --build --preset release", "ctest --preset release", "ctest --preset asan", "check.sh"):
            self.assertIn(call, calls)

    def test_a_new_tree_joins_most_sources_and_an_old_one_keeps_its_own(self):
        self.assertIn("cmake --preset asan -DHIOS_WERROR=ON -DHIOS_UNITY=ALL", self.run_script("asan")[2])
        self.assertNotIn("HIOS_UNITY", self.run_script("minimal")[2].splitlines()[-3])
        cache = self.folder / "build/asan/CMakeCache.txt"
        cache.parent.mkdir(parents=True)
        cache.write_text("HIOS_TESTS:BOOL=ON\nHIOS_UNITY:STRING=ON\n")
        self.assertIn("cmake --preset asan -DHIOS_WERROR=ON -DHIOS_UNITY=ON", self.run_script("asan")[2].splitlines()[-3])

    def test_failed_tests_are_named_and_hide_nothing(self):
        self.fake("bin/nvcc", "exit 0")
        self.fake("bin/ctest", f'case "$2" in release) cat "{self.folder}/list"; exit 8 ;; esac')
        status, line, calls = self.run_script()
        self.assertEqual((status, line), (1, "FAILED: release: Ring.Turns, Names/Of.Values/4-byte (x)  # GetParam() = 4"
                                             " | not run: release: Device.Gpu"))
        self.assertIn("ctest --preset asan", calls)
        self.assertIn("check.sh build/release", calls)

    def test_a_failed_build_hides_no_other_preset(self):
        self.fake("bin/nvcc", "exit 0")
        self.fake("bin/cmake", 'case "$*" in *--build*release*) exit 1 ;; esac')
        status, line, calls = self.run_script()
        self.assertEqual((status, line), (1, "FAILED: release: build | not run: release: tests; package; Python module"))
        self.assertIn("ctest --preset asan", calls)
        self.assertNotIn("ctest --preset release", calls)
        self.assertNotIn("check.sh", calls)

    def test_all_failures_together(self):
        self.fake("bin/nvcc", "exit 0")
        self.fake("bin/ctest", "exit 8")  # and lists nothing
        self.fake("tests/package/check.sh", "exit 1")
        self.assertEqual(self.run_script()[:2], (1, "FAILED: release: ctest; asan: ctest; package"))
        self.fake("tests/wheel/check.sh", "exit 1")
        self.assertTrue(self.run_script()[1].endswith("; package; Python module"))
        self.fake("bin/cmake", "exit 1")
        self.assertEqual(self.run_script("asan", "tsan")[:2],
                         (1, "FAILED: asan: build; tsan: build | not run: asan: tests; tsan: tests"))

    def test_a_module_whose_packages_cannot_be_fetched_is_not_run(self):
        self.fake("bin/nvcc", "exit 0")
        self.fake("tests/wheel/check.sh", "exit 77")
        self.assertEqual(self.run_script()[:2], (0, "all tests passed | not run: the Python module (its packages cannot be fetched)"))

    def test_many_failures_are_counted(self):
        names = "".join(f"\t{i} - Test.Number{i} (Failed)\n" for i in range(1, 26))
        (self.folder / "list").write_text("0% tests passed, 25 tests failed out of 25\n"
                                          f"The following tests FAILED:\n{names}")
        self.fake("bin/ctest", f'cat "{self.folder}/list"; exit 8')
        status, line, _ = self.run_script("asan")
        self.assertEqual(status, 1)
        self.assertTrue(line.endswith("Test.Number20 and 5 more"), line)

    def test_a_signal_is_no_success(self):
        self.fake("bin/ctest", "kill -TERM $PPID")
        status, line, _ = self.run_script("asan")
        self.assertNotEqual(status, 0)
        self.assertEqual(line, "FAILED: test.sh itself, by a signal, while it tests | not run: what follows")

    def test_lists_that_tests_print_are_not_those_of_the_end(self):
        (self.folder / "list").write_text(LIST.replace("Ring.Turns", "of.a.test") + LIST)
        self.fake("bin/ctest", f'cat "{self.folder}/list"; exit 8')
        _, line, _ = self.run_script("asan")
        self.assertTrue(line.startswith("FAILED: asan: Ring.Turns, Names/"), line)

    def test_packages_that_cannot_be_installed_end_it(self):
        self.fake("scripts/setup.sh", "exit 1")
        status, line, calls = self.run_script("asan")
        self.assertEqual(status, 1)
        self.assertEqual(line, "FAILED: test.sh itself, by status 1, while packages are installed"
                               " | not run: what follows")
        self.assertNotIn("cmake", calls)


if __name__ == "__main__":
    unittest.main()

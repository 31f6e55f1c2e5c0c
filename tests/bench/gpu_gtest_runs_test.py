"""bench/gpu/gtest_runs.py, with a program that prints like GoogleTest and crashes in given tests."""

import os
import textwrap
import unittest

import gtest_runs
from steps import Deadline, Steps
from support import FolderTest

LISTING = """Running main() from gtest_main.cc
Small.
  First
  Second
Kinds/Shape.
  Fits/0  # GetParam() = 4-byte object
  Fits/1  # GetParam() = 8-byte object
"""
NAMES = ["Small.First", "Small.Second", "Kinds/Shape.Fits/0", "Kinds/Shape.Fits/1"]

PROGRAM = """#!/usr/bin/env python3
import fnmatch, os, sys
names, status = {names!r}, 0
for word in sys.argv:
    if word.startswith("--gtest_filter="):
        chosen = word.split("=")[1].split(":")
        names = [name for name in names if any(fnmatch.fnmatch(name, one) for one in chosen)]
if "--gtest_list_tests" in sys.argv:
    print("Running main() from gtest_main.cc" if len(names) < 4 else {listing!r})
    for name in names if len(names) < 4 else []:
        print(name.split(".")[0] + ".\\n  " + name.split(".")[1])
    sys.exit(0)
for name in names:
    print("[ RUN      ]", name, flush=True)
    what = {behaviour!r}.get(name, "OK")
    if what == "crash":
        os.abort()
    if what == "FAILED":
        status = 1
    print("[  FAILED  ]" if what == "FAILED" else "[  SKIPPED ]" if what == "SKIPPED" else "[       OK ]", name, "(0 ms)", flush=True)
sys.exit(status)
"""


class GtestRunsTest(FolderTest):
    def run_with(self, names=None, arguments=(), **behaviour):
        """Behaviour by the test's last word: First, Second, Fits_0, Fits_1."""
        full = {name: behaviour[word] for name in NAMES
                if (word := name.split(".")[1].replace("/", "_")) in behaviour}
        program = self.folder / "program"
        program.write_text(textwrap.dedent(PROGRAM).format(listing=LISTING, names=NAMES, behaviour=full))
        program.chmod(0o755)

        steps = Steps(self.folder / "log", Deadline(60), dict(os.environ), lambda _: None)
        return gtest_runs.run_program(steps, "program", [program], 20, names=names,
                                      arguments=arguments)

    def test_names_are_read_off_the_list(self):
        self.assertEqual(gtest_runs.parse_list(LISTING), NAMES)

    def test_all_pass(self):
        tally = self.run_with()
        self.assertTrue(tally.all_well())
        self.assertEqual(tally.passed, set(NAMES))

    def test_a_failure_is_no_end(self):
        tally = self.run_with(Second="FAILED")
        self.assertEqual((tally.failed, len(tally.passed), tally.never_run), ({"Small.Second"}, 3, set()))
        self.assertFalse(tally.all_well())

    def test_a_crash_is_no_end_either(self):
        tally = self.run_with(First="crash", Fits_0="crash")
        self.assertEqual(set(tally.ended), {"Small.First", "Kinds/Shape.Fits/0"})
        self.assertEqual(tally.passed, {"Small.Second", "Kinds/Shape.Fits/1"})
        self.assertEqual(tally.never_run, set())
        self.assertFalse(tally.all_well())

    def test_a_skipped_test_did_not_pass(self):
        self.assertFalse(self.run_with(First="SKIPPED").all_well())

    def test_some_only(self):
        self.assertEqual(self.run_with(names={"Small.First"}).passed, {"Small.First"})

    def test_tests_that_the_arguments_exclude_are_not_missing(self):
        tally = self.run_with(arguments=["--gtest_filter=Kinds/*"])
        self.assertEqual(tally.passed, {"Kinds/Shape.Fits/0", "Kinds/Shape.Fits/1"})
        self.assertTrue(tally.all_well())

    def test_a_program_that_crashes_everywhere_is_left_after_some_attempts(self):
        tally = self.run_with(First="crash", Second="crash", Fits_0="crash", Fits_1="crash")
        self.assertEqual(len(tally.ended), gtest_runs.ATTEMPTS)

    def test_without_any_test_nothing_is_well(self):
        self.assertFalse(self.run_with(names={"Other.Test"}).all_well())


if __name__ == "__main__":
    unittest.main()

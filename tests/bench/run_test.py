"""bench/study/hios/run.py: the parts that run, and their arguments."""

import contextlib
import io
import unittest
from unittest import mock

import run
from support import FolderTest


class RunTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.parts = {part: self.enterContext(mock.patch.object(getattr(run, part), "run", return_value=True))
                      for part in ("simulated", "levels", "gaps", "contention", "networks")}
        self.parts["plots"] = self.enterContext(mock.patch.object(run.plots, "draw_all"))
        self.parts["tables"] = self.enterContext(mock.patch.object(run.page_tables, "write"))
        self.programs = self.enterContext(mock.patch.object(run, "Programs"))
        self.deadline = self.enterContext(mock.patch.object(run, "Deadline"))

    def study(self, *words):
        with mock.patch("sys.argv", ["run", "--results", str(self.folder), *words]):
            run.main()
        return [part for part, made in self.parts.items() if made.called]

    def test_all_parts_without_any(self):
        self.assertEqual(self.study(), list(run.PARTS))

    def test_only_the_parts_that_are_named(self):
        self.assertEqual(self.study("plots", "contention"), ["contention", "plots"])

    def test_parts_get_their_flags(self):
        self.study("--seeds", "3", "--largest", "512", "--runs", "12", "--max-seconds", "0")
        programs, deadline = self.programs.return_value, self.deadline.return_value
        self.deadline.assert_called_once_with(0)
        self.parts["simulated"].assert_called_once_with(programs, self.folder, 3, deadline)
        self.parts["levels"].assert_called_once_with(programs, self.folder, 3, deadline)
        self.parts["gaps"].assert_called_once_with(programs, self.folder, deadline)
        self.parts["contention"].assert_called_once_with(programs, self.folder, deadline)
        self.parts["networks"].assert_called_once_with(programs, self.folder, 512, 12, deadline)
        self.parts["plots"].assert_called_once_with(self.folder)
        self.parts["tables"].assert_called_once_with(self.folder)

    def test_defaults_are_those_of_the_paper(self):
        self.study()
        self.assertEqual(self.parts["simulated"].call_args.args[2], 30)
        self.assertEqual(self.parts["networks"].call_args.args[2:4], (1024, 36))
        self.deadline.assert_called_once_with(None)

    def test_an_incomplete_part_ends_it_with_the_remedy_after_the_others(self):
        self.parts["simulated"].return_value = False
        with self.assertRaisesRegex(SystemExit, "not complete yet: call it again"):
            self.study()
        self.assertTrue(self.parts["networks"].called and self.parts["plots"].called)

    def test_an_unknown_part_is_refused_before_anything_runs(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
            self.study("simulated", "plot")
        self.assertEqual(end.exception.code, 2)
        self.assertIn("no part is called plot; there are: simulated, levels, gaps, contention, networks, plots, tables", said.getvalue())
        self.assertFalse(self.parts["simulated"].called)


class PlotsTest(FolderTest):
    def test_without_matplotlib_it_ends_with_the_remedy(self):
        with mock.patch.dict("sys.modules", matplotlib=None), \
                self.assertRaisesRegex(SystemExit, "plots need matplotlib: scripts/setup.sh --bench"):
            run.plots.draw_all(self.folder)


if __name__ == "__main__":
    unittest.main()

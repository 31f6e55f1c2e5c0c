"""hios run, profile, schedule: how many ranks start, by which launcher, and what is said without one."""

import contextlib
import io
import json
import os
import unittest
from unittest import mock

from hios import command
from hios.errors import InputError
from hios.launch import mpirun, start
from support import FolderTest


class Started(BaseException):
    """Ends the command where it would become a program."""


class StartTest(FolderTest):
    def setUp(self):
        super().setUp()
        for program in ("hios-run", "hios-profile", "hios-schedule"):
            (self.folder / program).touch()
        self.enterContext(mock.patch.dict(os.environ, {"HIOS_PROGRAMS": str(self.folder)}))
        self.started = self.enterContext(mock.patch.object(start.os, "execvpe", side_effect=Started))
        self.enterContext(mock.patch.object(mpirun.shutil, "which", return_value="/usr/bin/mpirun"))
        self.open_mpi = self.enterContext(mock.patch.object(mpirun, "is_open_mpi", return_value=True))

    def line(self, *words):
        with self.assertRaises(Started):
            command.main(list(words))
        return self.started.call_args.args[1]

    def schedule(self, devices):
        file = self.folder / "plan.json"
        file.write_text(json.dumps({"devices": [{}] * devices}))
        return str(file)

    def test_one_rank_needs_no_launcher(self):
        self.assertEqual(self.line("run", "--model", "net"), [str(self.folder / "hios-run"), "--model", "net"])

    def test_a_schedule_has_as_many_ranks_as_devices(self):
        plan = self.schedule(3)
        self.assertEqual(self.line("run", "net", "--schedule", plan),
                         ["mpirun", "-np", "3", "--bind-to", "none", "--oversubscribe", str(self.folder / "hios-run"),
                          "--model", "net", "--schedule", plan])

    def test_ranks_are_as_many_as_the_flag_says(self):
        line = self.line("profile", "--ranks=2", "--model", "net")
        self.assertEqual((line[2], line[-3:]), ("2", [str(self.folder / "hios-profile"), "--model", "net"]))

    def test_other_launchers_get_no_flags_of_open_mpi(self):
        self.open_mpi.return_value = False
        self.assertEqual(self.line("profile", "--ranks", "2")[:5], ["mpirun", "-np", "2", "-bind-to", "none"])

    def test_a_schedule_that_cannot_be_read_is_left_to_the_program(self):
        self.assertEqual(self.line("run", "--schedule", "none.json")[0], str(self.folder / "hios-run"))

    def test_check_and_explain_are_flags(self):
        self.assertEqual(self.line("check", "plan.json", "--graph", "g.json")[1:], ["--check", "plan.json", "--graph", "g.json"])
        self.assertEqual(self.line("explain", "records")[1:], ["--explain", "records"])

    def test_wrong_numbers_of_ranks_are_refused(self):
        for words in (["run", "--ranks", "two"], ["run", "--ranks", "0"], ["profile", "--ranks"],
                      ["run", "--ranks", "9" * 5000]):
            with self.subTest(words=words):
                self.assertEqual(command.main(words), 2)
        self.assertIn("a number of ranks is wanted, such as 2", self.said.getvalue())
        self.started.assert_not_called()

    def test_ranks_that_would_stop_the_host_are_refused(self):
        with mock.patch.object(mpirun.os, "sched_getaffinity", return_value={0, 1}), mock.patch.dict(os.environ):
            for name in mpirun.JOBS_OF_CLUSTERS:
                os.environ.pop(name, None)
            self.assertEqual(mpirun.command(32, ["hios-run"])[2], "32")
            with self.assertRaisesRegex(InputError, "33 ranks on 2 cores: hios starts at most 16"):
                mpirun.command(33, ["hios-run"])
            os.environ["SLURM_JOB_ID"] = "1"
            self.assertEqual(mpirun.command(33, ["hios-run"])[2], "33")

    def test_schedules_that_only_the_program_can_refuse(self):
        deep = self.folder / "deep.json"
        deep.write_text("[" * 100_000)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)  # opening it would wait for a writer
        for file in (deep, pipe, self.folder):
            self.assertEqual(self.line("run", "net", "--schedule", str(file))[0], str(self.folder / "hios-run"))

    def test_ranks_without_a_launcher_are_refused_with_the_remedy(self):
        mpirun.shutil.which.return_value = None
        with self.assertRaisesRegex(InputError, "2 ranks need mpirun, .* apt-get install openmpi-bin"):
            mpirun.command(2, ["hios-run"])
        self.assertEqual(mpirun.command(1, ["hios-run"]), ["hios-run"])


class CommandTest(unittest.TestCase):
    def said(self, *words):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = command.main(list(words))
        return status, out.getvalue(), errors.getvalue()

    def test_help_names_every_command(self):
        status, out, _ = self.said("--help")
        self.assertEqual(status, 0)
        for name in command.COMMANDS:
            self.assertIn(f"\n  {name} ", out)
        self.assertTrue(all(len(line) <= 80 for line in out.splitlines()), out)

    def test_nothing_is_an_error_with_the_help(self):
        status, out, _ = self.said()
        self.assertEqual(status, 2)
        self.assertIn("hios bench", out)

    def test_help_of_a_command(self):
        with mock.patch.object(command.importlib, "import_module") as module:
            module().main.return_value = 0
            self.assertEqual(self.said("help", "bench")[0], 0)
            module().main.assert_called_once_with(["--help"])

    def test_a_mistyped_flag_is_refused_with_the_one_that_was_meant(self):
        for words, meant in ((["--versoin"], "--version"), (["bench", "net", "--buget", "10"], "--budget"),
                             (["bench", "net", "--outptu=x"], "--output"), (["report", "a.json", "-o", "b", "--comapre"], "--compare"),
                             (["import", "a.json", "--modle=net", "-o", "b", "--model", "net"], "--model")):
            status, _, errors = self.said(*words)
            self.assertEqual((status, errors.count("\n")), (2, 1), errors)
            self.assertIn(f"(did you mean '{meant}'?)", errors)

    def test_a_mistyped_command_is_refused_with_the_one_that_was_meant(self):
        self.assertEqual(self.said("bnech"), (2, "", "error: hios knows no command 'bnech' (did you mean 'bench'?): see hios --help\n"))


if __name__ == "__main__":
    unittest.main()

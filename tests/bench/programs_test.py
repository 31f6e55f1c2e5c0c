"""python/hios/launch/programs.py: how programs are called, and when nothing more is started."""

import os
import signal
import unittest
from unittest import mock

from hios import command
from hios.launch import programs
from hios.launch.programs import Deadline, ProgramFailed, Programs
from support import FolderTest


class ProgramsTest(FolderTest):
    def program(self, text):
        file = self.folder / "hios-schedule"
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(0o755)
        return Programs(self.folder)

    def test_a_folder_without_programs_is_refused_with_the_remedy(self):
        with self.assertRaisesRegex(SystemExit, "no hios-schedule in .*: build the preset release first"):
            Programs(self.folder)

    def test_run_returns_the_output_of_a_program(self):
        self.assertEqual(self.program('printf "%s|" "$@"').run("hios-schedule", "--devices", 3), "--devices|3|")

    def test_a_failing_program_ends_the_study_with_its_own_words(self):
        with self.assertRaisesRegex(SystemExit, "hios-schedule --bad 1\nended with status 2: no such flag"):
            self.program('echo "no such flag" >&2; exit 2').run("hios-schedule", "--bad", 1)

    def test_a_failure_is_the_program_s_line_with_a_status_of_ours(self):
        failed = ProgramFailed(["mpirun", "x"], 1, "mpirun noise\nerror: p.json: wrong kind\n---\n")
        self.assertEqual((failed.words(), failed.status), ("error: p.json: wrong kind", 3))
        self.assertEqual(ProgramFailed(["x"], 2, "").status, 2)
        self.assertEqual(ProgramFailed(["x", "y"], 139, "noise").words(), "x y\nended with status 139: noise")

    def test_algorithms_for_latency_come_from_the_json_file(self):
        # The last of `--list-algorithms -q --json FILE`.
        made = self.program('[ "$1 $2 $3" = "--list-algorithms -q --json" ] || exit 2\n'
                            'echo \'{"algorithms": [{"name": "best", "objectives": ["latency", "throughput"]},'
                            ' {"name": "slice-graph", "objectives": ["throughput"]}]}\' > "$4"')
        self.assertEqual([each["name"] for each in made.algorithms()], ["best"])

    def test_a_signal_ends_the_program_too(self):
        made = self.program('echo $$ > "$1"; kill -TERM $PPID; exec sleep 600')
        number = self.folder / "number"
        with mock.patch.object(command, "answer", lambda words: made.run("hios-schedule", *words)):
            self.assertEqual(command.main([str(number)]), 128 + signal.SIGTERM)
        with self.assertRaises(ProcessLookupError):  # it has ended, and was waited for
            os.kill(int(number.read_text()), 0)
        self.assertEqual(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)

    def test_ranks_are_started_unbound(self):
        made = self.program("")
        with (mock.patch.object(programs.mpirun, "is_open_mpi", return_value=True),
              mock.patch.object(programs, "ended", return_value=(0, "", "")) as start):
            made.run("hios-run", "--iterations", 6, ranks=2)
        command = start.call_args.args[0]
        self.assertEqual(command[:6], ["mpirun", "-np", "2", "--bind-to", "none", "--oversubscribe"])
        self.assertEqual(command[-3:], [str(self.folder / "hios-run"), "--iterations", "6"])
        self.assertTrue(all(isinstance(word, str) for word in command))


class DeadlineTest(unittest.TestCase):
    def test_passes_at_its_second(self):
        with mock.patch.object(programs.time, "monotonic", return_value=100.0) as now:
            deadline = Deadline(5)
            self.assertFalse(deadline.passed())
            now.return_value = 104.9
            self.assertFalse(deadline.passed())
            now.return_value = 105.0
            self.assertTrue(deadline.passed())

    def test_no_seconds_is_no_deadline_but_zero_is_one(self):
        self.assertFalse(Deadline(None).passed())
        self.assertTrue(Deadline(0).passed())


if __name__ == "__main__":
    unittest.main()

"""bench/gpu/worker.py: a PyTorch process that answers, refuses, hangs or dies."""

import os
import sys
import unittest

from support import FolderTest
from worker import Worker, WorkerError

PROGRAM = """
import json, os, sys, time
for line in sys.stdin:
    what = json.loads(line)["do"]
    if what == "die":
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)
    if what == "hang":
        time.sleep(100)
    print(json.dumps({"error": "no"} if what == "refuse" else {"ok": [what, os.getpid()]}), flush=True)
"""


class WorkerTest(FolderTest):
    def setUp(self):
        super().setUp()
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        self.worker = Worker(dict(os.environ), self.folder / "log", sys.executable, program)
        self.addCleanup(self.worker.stop)

    def ask(self, what, limit_s=20):
        return self.worker.ask({"do": what}, limit_s)

    def test_one_process_answers_many_times(self):
        first, second = self.ask("a"), self.ask("b")
        self.assertEqual((first[0], second[0]), ("a", "b"))
        self.assertEqual(first[1], second[1])

    def test_a_refusal_is_no_end(self):
        process = self.ask("a")[1]
        with self.assertRaisesRegex(WorkerError, "^no$"):
            self.ask("refuse")
        self.assertEqual(self.ask("a")[1], process)

    def test_a_worker_that_hangs_is_ended_and_restarted(self):
        process = self.ask("a")[1]
        with self.assertRaisesRegex(WorkerError, "after 1 s"):
            self.ask("hang", 1)
        self.assertNotEqual(self.ask("a")[1], process)

    def test_a_worker_that_dies_shows_its_last_line(self):
        with self.assertRaisesRegex(WorkerError, "last words"):
            self.ask("die")
        self.assertEqual(self.ask("a")[0], "a")


if __name__ == "__main__":
    unittest.main()

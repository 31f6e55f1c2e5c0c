"""Schedulers that are Python functions: judged as all others are; whatever they do, the others go on."""

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from support import PROGRAMS, Refusals, diamond

import hios

MINE = '''
import hios

@hios.scheduler("mine")
def mine(problem):
    """All on the first device."""
    return [problem.topological()] + [[] for _ in problem.devices[1:]]
'''


class OwnTest(Refusals):
    def row(self, function, graph=None, time_limit=300, devices=2):
        """The row of a function next to a built-in scheduler, whose row must be there."""
        hios.scheduler("mine")(function)
        table = hios.compare(graph or diamond(), ["mine", "heft"], devices, time_limit)
        self.assertIsNotNone(table.row("heft").schedule)
        return table.row("mine")

    def refusal(self, function, text, **options):
        refused = self.row(function, **options).refused
        self.assertIsNotNone(refused)
        self.assertIn(text, refused)
        self.assertEqual(len(refused.splitlines()), 1)

    def test_it_decides_by_the_problems_costs(self):
        def greedy(problem):
            ends, where, free = {}, {}, [0.0 for _ in problem.devices]
            stages = [[] for _ in problem.devices]
            for op in problem.topological():
                best = None
                for device in problem.devices:
                    ready = max([ends[p] + problem.transfer_ms(p, op, where[p], device) for p in problem.producers(op)], default=0)
                    end = max(ready, free[device]) + problem.time_ms(op, device)
                    if best is None or end < best[0]:
                        best = end, device
                ends[op], where[op] = best
                free[best[1]] = best[0]
                stages[best[1]].append(op)
            return stages

        row = self.row(greedy)
        self.assertEqual(row.schedule.latency_ms, 5.3)
        self.assertEqual(row.schedule.algorithm, "mine")
        self.assertEqual(row.schedule.gap, 0)
        self.assertEqual(hios.schedule(diamond(), 2, "mine").latency_ms, 5.3)

    def test_all_the_problem_can_be_asked(self):
        def asked(problem):
            assert list(problem.devices) == [0, 1] and problem.graph.name == "diamond" and len(problem.platform) == 2
            assert problem.consumers("a") == ["b", "c"] and problem.producers("d") == ["b", "c"]
            assert problem.time_ms("b") == 3 and problem.transfer_ms("a", "b", 0, 1) == 0.4 and problem.transfer_ms("a", "b", 1, 1) == 0
            assert 0 < problem.seconds_left <= 300
            for wrong in (lambda: problem.time_ms("x"), lambda: problem.time_ms("a", 2), lambda: problem.transfer_ms("a", "d", 0, 1)):
                try:
                    wrong()
                except hios.InputError:
                    continue
                raise AssertionError("no error")
            return [problem.topological(), []]

        self.assertIsNone(self.row(asked).refused)

    def test_a_function_that_raises_has_a_row_that_says_so(self):
        def raises(problem):
            raise ValueError("no\nidea")

        self.refusal(raises, "raised ValueError: no (own_test.py:")
        self.refusal(lambda problem: 1 / 0, "raised ZeroDivisionError: division by zero")
        self.refusal(lambda problem: sys.exit(3), "raised SystemExit: 3")

    def test_rubbish_has_a_row_that_says_so(self):
        for value, text in ((None, "the schedule is None: a list is wanted"), (7, "is 7"), ("abcd", "is 'abcd'"),
                            ([["a"], 3], "device 1 is 3"), ([[None], []], "device 0, stage 0 is None"),
                            ([[["a", 5]], []], "device 0, stage 0 is 5"), ([["x"], []], "no operator 'x'"),
                            ({"a": 0}, "a list is wanted")):
            with self.subTest(value=value):
                self.refusal(lambda problem, value=value: value, text)

    def test_broken_rules_have_a_row_that_says_so(self):
        for stages in ([["a", "b", "c"], []], [["a", "b", "c", "d", "d"], []], [["d", "b", "c", "a"], []], [["a", "b", "c", "d"]],
                       [["a", [["b"], ["c"]], "d"], []], [["a", [], "b", "c", "d"], []]):
            with self.subTest(stages=stages):
                self.refusal(lambda problem, stages=stages: stages, "the schedule breaks a rule: ")
        self.refused("mine: the schedule breaks a rule", hios.schedule, diamond(), 2, "mine")

    def test_it_is_ended_where_it_takes_forever(self):
        def forever(problem):
            while True:
                try:
                    time.sleep(60)
                except BaseException:
                    pass

        self.refusal(forever, "took more than its ", time_limit=0.05)

    def test_crashes_harm_nobody(self):
        self.refusal(lambda problem: os.kill(os.getpid(), signal.SIGSEGV), "ended with SIGSEGV")
        self.refusal(lambda problem: os._exit(0), "ended its process without a schedule")

    def test_it_leaves_no_traces(self):
        seen = []
        self.assertIsNone(self.row(lambda problem: seen.append(1) or [problem.topological(), []]).refused)
        self.assertEqual(seen, [])

    def test_processes_that_it_starts_keep_nobody_waiting(self):
        def starts(problem):
            if os.fork() == 0:
                time.sleep(600)
            return [problem.topological(), []]

        start = time.monotonic()
        self.assertIsNone(self.row(starts, time_limit=300).refused)
        self.assertLess(time.monotonic() - start, 250)

    def test_a_function_that_writes_into_its_answer_or_raises_our_error_harms_nobody(self):
        for said in (b"garbage\n", b'["stages", 3]\n', b"[1]\n"):
            def writes(problem, said=said):
                for descriptor in range(3, 64):
                    with contextlib.suppress(OSError):
                        os.write(descriptor, said)
                return [problem.topological(), []]
            self.refusal(writes, "wrote into the pipe of its answer")
        self.refusal(lambda problem: problem.time_ms("nope"), "raised InputError: the graph has no operator 'nope' (own_test.py:")
        self.refusal(lambda problem: [["nope"], []], "returned no schedule: device 0, stage 0: the graph has no operator 'nope'")

    def test_all_refuse(self):
        hios.scheduler("mine")(lambda problem: 1 / 0)
        hios.scheduler("other")(lambda problem: None)
        table = hios.compare(diamond(), ["mine", "other"], [2, 3])
        self.assertEqual([(row.algorithm, row.devices, bool(row.refused)) for row in table],
                         [("mine", 2, True), ("other", 2, True), ("mine", 3, True), ("other", 3, True)])

    def test_names_are_checked(self):
        for name in ("", "two words", "a,b", "all", 3, "../up", "\x1b[31m", "\ud800", "a\0b"):
            self.refused("a word without commas", hios.scheduler, name)
        self.refused("built-in", hios.scheduler, "heft")
        self.refused("takes a function", hios.scheduler("mine"), 3)

    def test_large_results_come_whole(self):
        g = hios.Graph.from_lists([(f"v{i}", 1.0) for i in range(20_000)], [])
        self.assertEqual(self.row(lambda problem: [problem.topological(), []], graph=g).schedule.latency_ms, 20_000)


@unittest.skipUnless(PROGRAMS, "needs the programs")
class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_command(self, *words, mine=MINE):
        (self.folder / "mine.py").write_text(mine)
        return subprocess.run([sys.executable, "-m", "hios", "schedule", "--random", "n=16,layers=4,seed=2", "--devices", "2",
                               "--scheduler", str(self.folder / "mine.py"), *words], capture_output=True, text=True)

    def test_its_schedule_is_checked_by_the_program(self):
        done = self.run_command("--output", str(self.folder / "schedule.json"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("valid, mine on 1 of 2 devices", done.stdout)
        self.assertTrue((self.folder / "schedule.json").exists())

    def test_it_is_compared_by_the_program(self):
        done = self.run_command("--compare", "--algorithm", "mine,heft", "--csv", str(self.folder / "table.csv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mine (given)", done.stdout)
        rows = (self.folder / "table.csv").read_text().splitlines()
        latency = {row.split(",")[0]: float(row.split(",")[1]) for row in rows[1:]}
        self.assertEqual(latency["mine"], latency["sequential"])
        self.assertLess(latency["heft"], latency["mine"])

    def test_named_alone_it_is_compared_with_those_of_one_device(self):
        done = self.run_command("--compare", "--algorithm", "mine", "--csv", str(self.folder / "table.csv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = (self.folder / "table.csv").read_text().splitlines()
        self.assertEqual([row.split(",")[0] for row in rows[1:]], ["sequential", "ios", "mine"])

    def test_one_that_refuses_leaves_the_others(self):
        csv_file, json_file = self.folder / "table.csv", self.folder / "table.json"
        done = self.run_command("--compare", "--algorithm", "mine,heft", "--csv", str(csv_file), "--json", str(json_file),
                                mine=MINE.replace("return", "return 1 / 0 and"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mine refused: raised ZeroDivisionError", done.stderr)
        self.assertIn("heft", done.stdout)
        row = json.loads(json_file.read_text())["comparison"][-1]
        self.assertEqual((row["algorithm"], row["devices"]), ("mine", 2))
        self.assertIn("raised ZeroDivisionError: division by zero (mine.py:", row["refused"])
        rows = list(csv.DictReader(csv_file.read_text().splitlines()))
        self.assertEqual((rows[-1]["algorithm"], rows[-1]["refused"]), ("mine", row["refused"]))
        self.assertEqual({each["graph_digest"] for each in rows}, {rows[0]["graph_digest"]})
        page = subprocess.run([sys.executable, "-m", "hios", "report", json_file, "-o", self.folder / "page.html"], capture_output=True,
                              text=True)
        self.assertEqual(page.returncode, 0, page.stderr)
        alone = self.run_command(mine=MINE.replace("return", "return 1 / 0 and"))
        self.assertEqual((alone.returncode, len(alone.stderr.splitlines())), (2, 1))

    def test_other_objectives_are_refused_and_lists_are_answered(self):
        done = self.run_command("--objective", "throughput")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
        self.assertIn("plan for the latency", done.stderr)
        self.assertIn("heft", self.run_command("--list-algorithms").stdout)

    def test_bad_files_are_refused(self):
        for mine, text in (("x = ", "raised SyntaxError"), ("x = 1", "adds no scheduler"),
                           (MINE + MINE.replace('"mine"', '"other"'), "has several (mine, other)")):
            with self.subTest(text):
                done = self.run_command(mine=mine)
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
                self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()

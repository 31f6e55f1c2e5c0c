"""bench/gpu/tests_part.py: the output of compute-sanitizer, and the selection of its tests."""

import unittest
from pathlib import Path

import tests_part
from bench_case import IOS, SEQUENTIAL
from fake_steps import FakeSteps
from gtest_runs import Tally
from installations import Installation
from steps import Outcome
from support import FolderTest, flag
from target import Target


def checked(out, status=0, passed=("A.b",)):
    why = "" if status == 0 else f"status {status}: "
    return tests_part.checked(Outcome("x", status, 1.0, out=out, why=why), Tally(passed=set(passed)), 3)


class CheckedTest(unittest.TestCase):
    def test_clean(self):
        self.assertTrue(checked("========= ERROR SUMMARY: 0 errors\n")["well"])
        self.assertTrue(checked("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n")["well"])

    def test_errors(self):
        self.assertFalse(checked("========= ERROR SUMMARY: 10 errors\n", 9)["well"])
        self.assertFalse(checked("========= ERROR SUMMARY: 10 errors\n")["well"], "ends in 0 errors, and is ten")

    def test_a_refusal_is_said_and_is_not_well(self):
        found = checked("========= Error: Device not supported. Please refer to the documentation\n", 255)
        self.assertFalse(found["well"])
        self.assertIn("refuses this machine", found["why"])

    def test_nothing_looked_at_is_nothing_found(self):
        self.assertFalse(checked("", passed=())["well"])
        self.assertFalse(checked("========= ERROR SUMMARY: 0 errors\n", passed=())["well"])


class SplitTest(unittest.TestCase):
    def test_every_test_of_the_longest_program_runs_once(self):
        short = {"program": "hios_cuda_tests", "ranks": 0, "arguments": [], "environment": {}}
        now, later = tests_part.split([short, {**short, "program": tests_part.LONGEST}])
        self.assertEqual(now[0], short)
        filters = [run["arguments"][0].removeprefix("--gtest_filter=") for run in (now[1], *later)]
        self.assertEqual(filters, ["-*tf32*:*fp16*", "*tf32*:*fp16*"])


class VerifiedTest(unittest.TestCase):
    def test_only_compared_values_are_well(self):
        report = {"verified": {"passed": True, "bitwise": True, "max_abs": 0.5, "operators": 50},
                  "transfer_paths": {"by_pair": [["-", "ipc"], ["ipc", "-"]]}}
        found = tests_part.verified("x", report, "")
        self.assertTrue(found["well"])
        self.assertEqual(found["paths"][0][1], "ipc")
        self.assertFalse(tests_part.verified("x", {}, "")["well"])
        self.assertFalse(tests_part.verified("x", {"verified": {"passed": False}}, "")["well"])
        self.assertFalse(tests_part.verified("x", report, "status 1: off by one")["well"], "an old report does not count")


class NetworkTest(FolderTest):
    """The order of steps, with programs that fail as `broken` says."""

    def run_network(self, broken=lambda words: ""):
        installation = Installation(self.folder, Path("/programs"), True, "/mpirun", manifest={"tests": []})
        self.steps, self.saved = FakeSteps(broken), []
        tests = tests_part.Tests(installation, Target(), self.steps, self.folder, self.saved.append)
        tests.run_network(tests.case("squeezenet", 64), [SEQUENTIAL, IOS, *tests.two_ranks()])
        return tests.record["networks"]

    def programs(self):
        return [next(Path(word).name for word in words if "/programs/" in word) for words in self.steps.commands]

    def test_one_profile_a_number_of_ranks_and_one_schedule_an_algorithm(self):
        self.run_network()
        self.assertEqual(self.programs().count("hios-profile"), 2)
        self.assertEqual(self.programs().count("hios-schedule"), 3)
        self.assertEqual(self.programs().count("hios-run"), 5)

    def test_the_next_transport_tries_where_one_does_not_get_that_far(self):
        self.run_network(lambda words: "no" if flag(words, "--transport") == "ipc" else "")
        profiles = [words for words, name in zip(self.steps.commands, self.programs()) if name == "hios-profile"]
        self.assertEqual([flag(words, "--transport") for words in profiles], [None, "ipc", "cuda-aware"])

    def test_a_row_without_a_profile_says_so(self):
        entries = self.run_network(lambda words: "broken" if words[0] == "/mpirun" else "")
        self.assertIn("no profile for hios-lp", entries[-1]["why"])
        self.assertEqual(len(entries), 5)


class ChoiceTest(unittest.TestCase):
    def test_some_of_every_suite(self):
        tests = [f"Many.t{i}" for i in range(100)] + ["One.only", "GpuMemory.DoesNotGrowInAThousandIterations"]
        chosen = tests_part.some_of_each(tests)
        self.assertEqual([test for test in chosen if test.startswith("One")], ["One.only"])
        self.assertLessEqual(len(chosen), tests_part.CHECKED_PER_SUITE + 1)
        self.assertGreater(len(chosen), 4)
        self.assertNotIn("GpuMemory.DoesNotGrowInAThousandIterations", chosen)

    def test_flags_are_replaced_or_added(self):
        self.assertEqual(tests_part.with_flags(["p", "--warmup", 3, "--stages", "ios"], ["--warmup", "1", "--seed", "2"]),
                         ["p", "--warmup", "1", "--stages", "ios", "--seed", "2"])


if __name__ == "__main__":
    unittest.main()

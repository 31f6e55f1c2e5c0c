"""bench/gpu/tests_part.py: what compute-sanitizer's words mean, and which tests it gets."""

import unittest

import tests_part
from gtest_runs import Tally
from steps import Outcome


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

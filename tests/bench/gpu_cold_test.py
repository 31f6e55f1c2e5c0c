"""bench/gpu/cold_part.py: the order of steps, the learnt rate, and steps that fail."""

import json
import unittest
from pathlib import Path

import cold_part
import report
from fake_steps import FakeSteps
from installations import Installation
from support import FolderTest, flag
from target import REHEARSAL, Target

REPORT = {"iterations_ms": [3.0, 4.0], "latency_ms": {"median": 3.5}, "predicted_ms": 3.4, "loads": [{"size_bytes": 6_000_000}],
          "cold_start": {"resident_ms": {"median": 1.0}, "load_ms": {"median": 3.0}, "perfect_overlap_ms": 3.0},
          "verified": {"passed": True, "bitwise": True}}


class ColdTest(FolderTest):
    def measure(self, answer=lambda words: "", target=Target()):
        installation = Installation(self.folder, Path("/programs"), True, None, manifest={"tests": []})
        self.steps = FakeSteps(lambda words: answer(words) or self.program(words))
        self.saved = []
        part = cold_part.Cold(installation, target, self.steps, self.folder, self.saved.append)
        part.run(["squeezenet"], ["fp32"])
        return {row["row"]: row for row in part.rows.values()}

    def program(self, words):
        """A step that writes the reports of hios-run and never fails."""
        if words[0].endswith("hios-run"):
            Path(flag(words, "--json")).write_text(json.dumps(REPORT))
        if words[0].endswith("hios-schedule"):
            file = Path(flag(words, "--platform"))
            self.rates = [*getattr(self, "rates", []), json.loads(file.read_text())["routes"][0]["gb_per_s"]]
        return ""

    def runs(self):
        return [words for words in self.steps.commands if words[0].endswith("hios-run")]

    def test_every_plan_has_the_samples_of_its_rounds(self):
        rows = self.measure()
        self.assertEqual(list(rows), [plan.name for plan in cold_part.PLANS])
        for row in rows.values():
            self.assertEqual(row["latency_ms"]["samples"], 2 * Target().rounds)
            self.assertTrue(row["verified"] and row["bitwise"])
            self.assertAlmostEqual(row["overlap"], 3.5 / 3)
        self.assertEqual(self.saved[-1], list(rows.values()))
        page = report.cold_section({"rows": list(rows.values())})
        self.assertIn("| squeezenet 224 fp32, pipelined | 4 |", page)

    def test_the_rate_is_that_of_the_loads_alone_of_a_first_run(self):
        self.assertEqual(self.measure()["best"]["gb_per_s"], 2.0)
        self.assertEqual(self.rates, [cold_part.ASSUMED_GB_PER_S, *[2.0] * len(cold_part.PLANS)])

    def test_commands_say_what_they_mean(self):
        self.measure()
        self.assertEqual({flag(words, "--backend") for words in self.runs()}, {"cuda"})
        verified = ["--verify" in words for words in self.runs()]
        self.assertEqual(sum(verified), 1 + len(cold_part.PLANS), "the first run, and each plan in the first round")
        self.assertEqual(sum(flag(words, "--cuda-graphs") == "off" for words in self.runs()), Target().rounds)

    def test_a_plan_that_fails_does_not_stop_the_others(self):
        rows = self.measure(lambda words: "broken" if words[0].endswith("hios-run") and "best" in flag(words, "--schedule") else "")
        self.assertEqual(rows["best"]["failed"], "broken")
        self.assertIn("latency_ms", rows["pipelined"])
        self.assertIn("failed: broken", report.cold_section({"rows": list(rows.values())}))

    def test_without_a_profile_or_a_first_run_there_are_no_numbers(self):
        rows = self.measure(lambda words: "broken" if words[0].endswith("hios-profile") else "")
        self.assertEqual({row["failed"] for row in rows.values()}, {"no profile: broken"})
        rows = self.measure(lambda words: "broken" if words[0].endswith("hios-run") else "")
        self.assertEqual({name: row["failed"] for name, row in rows.items()}, {"load-then-run": "broken"})

    def test_a_rehearsal_without_a_backend_for_cores_is_no_failure(self):
        self.assertEqual(self.measure(lambda words: "broken", REHEARSAL), {})


if __name__ == "__main__":
    unittest.main()

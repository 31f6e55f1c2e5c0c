"""bench/pipelines: calls that are not repeated, and the tables."""

import json
import unittest
import unittest.mock

import pipeline_calls
import pipeline_problems
import pipeline_tables
from support import NEVER, DeadlineAfter, FakePrograms, FolderTest, flag


class JsonPrograms(FakePrograms):
    """Periods by the row that was asked for, bounds below them."""

    periods = {"mla": 12.0, "random": 11.0, "brkga": 10.0, "best": 9.0}

    def json(self, program, *flags, ranks=0):
        self.run(program, *flags, ranks=ranks)
        words = list(map(str, flags))
        algorithm = flag(words, "--algorithm")
        order = next((word.split("=")[1] for word in words if word.startswith("order=")), algorithm)
        schedule = {"devices": [{"stages": [[["a", "b"], ["c"]]]}, {"stages": [[["d"]]]}]}
        said = {"comparison": [{"algorithm": algorithm, "period_ms": self.periods[order.split("-")[0]], "lower_bound_ms": 5.0,
                                "seconds": 0.5, "outcome": "feasible"}], "schedules": [schedule]}
        name = flag(words, "--bounds")
        if name != "simple":
            said["bounds"] = [{"bound": name, "lower_bound_ms": 8.0, "seconds": 2.0, "remark": "time was up"}]
        return said


class PipelinesTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.enterContext(unittest.mock.patch.object(pipeline_problems, "WORK", self.folder / "work"))
        self.programs = JsonPrograms(answer=self.answer)

    def answer(self, program, flags, _ranks):
        if program == "hios-profile":
            pipeline_problems.WORK.mkdir(exist_ok=True)
            open(flag(flags, "--output"), "w").write(json.dumps({}))

    def test_existing_answers_are_not_computed_again(self):
        for stop in (DeadlineAfter(5), NEVER):
            pipeline_calls.run(self.programs, self.folder, "regal", stop, devices=(2,))
        questions = len(self.programs.asked("hios-schedule"))
        self.assertEqual(questions, len(pipeline_calls.CALLS) * pipeline_problems.REGAL_SEEDS)
        self.assertTrue(pipeline_calls.run(self.programs, self.folder, "regal", NEVER, devices=(2,)))
        self.assertEqual(len(self.programs.asked("hios-schedule")), questions)
        row = pipeline_calls.store_of(self.folder, "regal").get(problem="regal", seed=0, devices=2, row="exact")
        self.assertEqual((row["lower_bound_ms"], row["operators"], row["period_ms"]), ("8.0", "4", ""))

    def test_tables_stand_on_the_reference(self):
        for part in pipeline_problems.PARTS:
            pipeline_calls.run(self.programs, self.folder, part, NEVER, devices=(2, 4))
        page = pipeline_tables.page(self.folder)
        self.assertIn("| simple | 0.5000 (0.8340) | 0.5000 (0.6627) | -", page)
        self.assertIn("| exact | 0.8000 (0.9804)", page)
        self.assertIn("| period of `best` | 0.9000 |", page)
        self.assertIn("| mla | 2.4000 (1.2160)", page)
        self.assertIn("brkga-10000 1, simple 0.5000, bottleneck 0.8000", page)

    def test_an_empty_folder_has_tables_without_numbers(self):
        self.assertIn("not measured", pipeline_tables.page(self.folder))


if __name__ == "__main__":
    unittest.main()

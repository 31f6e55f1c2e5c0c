"""bench/gpu/latency_part.py: the order of measurements, and steps that fail."""

import json
import unittest
from pathlib import Path

import latency_part
from bench_case import Case
from fake_steps import FakeSteps
from installations import Installation
from support import FolderTest, flag
from target import Target
from worker import WorkerError


class FakeWorker:
    """PyTorch, at 2 ms."""

    def __init__(self, refused=()):
        self.refused, self.asked, self.process = refused, [], self

    def ask(self, request, limit_s):
        self.asked.append(request)
        if request.get("mode") in self.refused or request["do"] in self.refused:
            raise WorkerError("no such luck")
        return {"samples_ms": [2.0], "prepare_s": 1.0, "layout": "channels_last", "torch": "2.11", "cudnn": 9}

    def stop(self):
        pass


class LatencyTest(FolderTest):
    def measure(self, broken=lambda words: "", refused=(), has_torch=True, rounds=2, **more):
        installation = Installation(self.folder, Path("/programs"), True, "/mpirun", manifest={"tests": []})
        self.steps = FakeSteps(lambda words: broken(words) or self.program(words))
        self.saved = []
        latency = latency_part.Latency(installation, Target(), self.steps, self.folder, has_torch, self.saved.append)
        latency.worker = FakeWorker(refused)
        self.worker = latency.worker
        case = Case("squeezenet", 224, "fp32", self.folder, Target(**more))
        latency.measure(case, rounds, [latency_part.SEQUENTIAL, latency_part.PLAIN, latency_part.IOS,
                                       *latency_part.merged(case), *latency.two_ranks()])
        return {row["row"]: row for row in latency.rows.values()}

    def program(self, words):
        """A step that writes the files of hios-run and never fails."""
        if any(word.endswith("hios-run") for word in words):
            Path(flag(words, "--json")).write_text(json.dumps(
                {"iterations_ms": [1.0, 1.5], "predicted_ms": 0.9, "transfer_path": "ipc"}))
        return ""

    def runs(self):
        return [words for words in self.steps.commands if any(word.endswith("hios-run") for word in words)]

    def test_every_row_has_the_samples_of_its_rounds(self):
        rows = self.measure()
        self.assertEqual(set(rows), {"sequential", "sequential, no graphs", "ios", "sequential, merged", "ios, merged",
                                     "torch eager", "torch graphs",
                                     *(row.name for row in latency_part.TWO_RANKS)})
        self.assertEqual(rows["sequential"]["latency_ms"]["samples"], 4)
        self.assertEqual(rows["hios-lp, 2 ranks, ipc"]["latency_ms"]["samples"], 2)
        self.assertAlmostEqual(rows["sequential"]["prediction_error"], 0.1)
        self.assertEqual(rows["torch graphs"]["latency_ms"]["best_quarter"], 2.0)

    def test_commands_say_what_they_mean(self):
        self.measure()
        without = [words for words in self.runs() if flag(words, "--cuda-graphs") == "off"]
        self.assertEqual(len(without), 2)
        aware = next(words for words in self.runs() if flag(words, "--transport") == "cuda-aware")
        self.assertEqual(aware[:3], ["/mpirun", "-np", "2"])
        self.assertEqual(flag(aware, "--devices-per-node"), "1")
        profiles = [words for words in self.steps.commands if any(word.endswith("hios-profile") for word in words)]
        self.assertEqual([flag(words, "--stages") for words in profiles], ["ios", "ios", None])
        self.assertEqual({flag(words, "--math") for words in profiles}, {"fp32"})

    def test_merged_rows_have_files_of_their_own(self):
        self.measure(rounds=1)
        files = {}
        for words in self.steps.commands:
            merge = flag(words, "--merge")
            self.assertIn(merge, (None, "siblings"))
            for each in ("--profile", "--schedule", "--output", "--json"):
                if flag(words, each):
                    files.setdefault(merge, set()).add(flag(words, each))
        self.assertEqual(files[None] & files["siblings"], set())
        merged = [words for words in self.runs() if flag(words, "--merge") == "siblings"]
        self.assertEqual(len(merged), 2)
        self.assertEqual({words[0] for words in merged}, {"/programs/hios-run"}, "of one rank")

    def test_only_networks_with_siblings_are_measured_merged(self):
        names = [name for name in ("squeezenet", "inception_v3", "randwire_large", "nasnet_large")
                 if latency_part.merged(Case(name, 224, "fp32", self.folder, Target()))]
        self.assertEqual(names, ["squeezenet", "inception_v3"])

    def test_a_row_that_fails_does_not_stop_the_others(self):
        rows = self.measure(lambda words: "broken" if flag(words, "--cuda-graphs") == "off" else "")
        self.assertEqual(rows["sequential, no graphs"]["failed"], "broken")
        self.assertIn("latency_ms", rows["ios"])
        self.assertEqual(self.saved[-1], list(rows.values()))

    def test_without_a_profile_there_is_no_row(self):
        rows = self.measure(lambda words: "broken" if words[0] == "/mpirun" else "")
        self.assertIn("no profile: broken", rows["hios-lp, 2 ranks, staged"]["failed"])
        self.assertIn("latency_ms", rows["sequential"])
        tried = [flag(words, "--transport") for words in self.steps.commands if words[0] == "/mpirun"]
        self.assertEqual(tried, ["ipc", "staged"], "profiled over pinned memory where ipc does not work")

    def test_stages_that_do_not_end_are_left_out(self):
        rows = self.measure(lambda words: "too long" if flag(words, "--stages") == "ios" else "")
        self.assertIn("latency_ms", rows["ios"])
        self.assertIn("none", [flag(words, "--stages") for words in self.steps.commands])

    def test_a_later_failure_keeps_earlier_numbers(self):
        def second_round(words):
            return "broken" if (flag(words, "--json") or "").endswith("ios-none-1-none-1-2.json") else ""
        self.assertEqual(self.measure(second_round)["ios"]["latency_ms"]["samples"], 2)

    def test_pytorch_may_be_missing_or_refuse(self):
        self.assertNotIn("torch eager", self.measure(has_torch=False))
        rows = self.measure(refused=("graphs",))
        self.assertEqual(rows["torch graphs"]["failed"], "no such luck")
        self.assertIn("latency_ms", rows["torch eager"])
        self.assertEqual(self.measure(refused=("load",))["torch eager"]["failed"], "no such luck")

    def test_nothing_starts_when_the_time_is_up(self):
        installation = Installation(self.folder, Path("/programs"), True, "/mpirun", manifest={"tests": []})
        steps = FakeSteps(lambda words: "")
        steps.deadline.seconds = 3.0
        latency = latency_part.Latency(installation, Target(), steps, self.folder, False, self.fail)
        latency.measure(Case("squeezenet", 224, "fp32", self.folder, Target()), 1, [latency_part.SEQUENTIAL])
        self.assertEqual((steps.commands, latency.rows), ([], {}))

    def test_the_goals_sizes_come_first(self):
        lists = latency_part.make_cases(Target(), ["squeezenet", "inception_v3"], ["default", "large"], ["fp32", "fp16"],
                                        self.folder)
        self.assertEqual([case.name for case in lists[0]], ["squeezenet 224 fp32", "inception_v3 299 fp32",
                                                            "squeezenet 224 fp16", "inception_v3 299 fp16"])
        self.assertEqual({case.size for case in lists[1]}, {512})


if __name__ == "__main__":
    unittest.main()

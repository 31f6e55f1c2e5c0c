"""bench/gpu/results.py, goals.py and report.py: kept numbers, comparisons, and the page."""

import json
import unittest

import goals
import report
import results
from refusal import Refusal
from support import FolderTest


def row(name, ms, network="squeezenet", size=224, math="fp32", **more):
    return {"network": network, "size": size, "math": math, "row": name,
            "latency_ms": {"min": ms, "best_quarter": ms, "median": ms, "p95": ms, "samples": 10}, **more}


def failed(name, **more):
    return {"network": "squeezenet", "size": 224, "math": "fp32", "row": name, "failed": "status 3: no | luck\n", **more}


class ResultsTest(FolderTest):
    def results(self, when, base=None):
        return results.Results("NVIDIA H200", self.folder / "nvidia-h200.json", base, when)

    def read(self):
        return results.read(self.folder / "nvidia-h200.json")

    def test_names_of_files(self):
        self.assertEqual(results.file_name("NVIDIA H200"), "nvidia-h200")
        self.assertEqual(results.file_name("NVIDIA A100-SXM4-80GB"), "nvidia-a100-sxm4-80gb")

    def test_parts_come_one_by_one(self):
        self.results("monday").put_latency([row("sequential", 2.0)], {"protocol": {"warmup": 1}})
        self.results("monday", self.read()).put_transfer({"paths": {}, "raw": {}, "failed": {}}, {})
        self.assertEqual(set(self.read()["parts"]), {"latency", "transfer"})

    def test_a_new_number_keeps_the_one_before(self):
        self.results("monday").put_latency([row("sequential", 2.0), row("ios", 1.5)], {})
        tuesday = self.results("tuesday", self.read())
        tuesday.put_latency([row("sequential", 9.0)], {})
        tuesday.put_latency([row("sequential", 1.0)], {})  # the same row again, better: monday's is still the last run
        rows = {each["row"]: each for each in self.read()["parts"]["latency"]["rows"]}
        self.assertEqual(rows["sequential"]["previous"], {"best_quarter": 2.0, "date": "monday"})
        self.assertEqual(rows["sequential"]["date"], "tuesday")
        self.assertEqual(rows["ios"]["date"], "monday")
        self.assertEqual(report.changes(self.read()), ["squeezenet 224 fp32 sequential: -50.0 % since the last run"])

    def test_a_failure_keeps_what_stood_there(self):
        self.results("monday").put_latency([row("ios", 2.0)], {})
        self.results("tuesday", self.read()).put_latency([failed("ios")], {})
        self.results("wednesday", self.read()).put_latency([row("ios", 3.0)], {})
        self.assertEqual(self.read()["parts"]["latency"]["rows"][0]["previous"], {"best_quarter": 2.0, "date": "monday"})

    def test_transfers_keep_their_last_points(self):
        point = {"bytes": 1 << 22, "ms": 1.0}
        self.results("monday").put_transfer({"paths": {"ipc": {"points": [point]}}, "raw": {}, "failed": {}}, {})
        self.results("tuesday", self.read()).put_transfer(
            {"paths": {"ipc": {"points": [{**point, "ms": 0.5}]}}, "raw": {}, "failed": {"staged": "why"}}, {})
        part = self.read()["parts"]["transfer"]
        self.assertEqual(part["paths"]["ipc"]["previous"], {"points": [point], "date": "monday"})
        self.assertIn("| ipc, change of its time | -50 % |", report.page(self.read()))
        self.assertIn("staged: failed: why", report.page(self.read()))

    def test_another_file_is_refused(self):
        (self.folder / "nvidia-h200.json").write_text(json.dumps({"format": "hios-profile", "version": 1}))
        with self.assertRaisesRegex(Refusal, "move it away"):
            self.read()
        self.assertIsNone(results.read(self.folder / "nothing.json"))


class GoalsTest(unittest.TestCase):
    def found(self, rows=(), transfer=None):
        parts = {"latency": {"rows": list(rows)}, **({"transfer": transfer} if transfer else {})}
        return {goal.name: goal for goal in goals.goals({"parts": parts})}

    def goal(self, words, **document):
        return next(goal for name, goal in self.found(**document).items() if words in name)

    def test_nothing_is_claimed_that_was_not_measured(self):
        self.assertEqual({goal.word for goal in self.found().values()}, {"not measured"})
        self.assertEqual(self.goal("squeezenet: sequential", rows=[row("sequential", 1.0), failed("torch graphs")]).word,
                         "not measured")

    def test_other_sizes_and_arithmetics_do_not_count(self):
        rows = [row("sequential", 1.0, size=96), row("torch graphs", 2.0, size=96),
                row("sequential", 1.0, math="fp16"), row("torch graphs", 2.0, math="fp16")]
        self.assertEqual(self.goal("squeezenet: sequential", rows=rows).word, "not measured")

    def test_sequential_compared_with_pytorch(self):
        self.assertEqual(self.goal("squeezenet: sequential", rows=[row("sequential", 1.0), row("torch graphs", 1.0)]).word, "met")
        self.assertEqual(self.goal("squeezenet: sequential", rows=[row("sequential", 1.1), row("torch graphs", 1.0)]).word,
                         "MISSED")

    def test_the_gain_of_ios(self):
        def at(ms):
            rows = [row(name, value, "inception_v3", 299) for name, value in (("sequential", 1.1), ("ios", ms))]
            return self.goal("inception_v3: ios", rows=rows)
        self.assertEqual(at(1.0).word, "met")
        self.assertEqual(at(1.05).word, "MISSED")

    def test_a_prediction_counts_by_the_worst_of_both_rows(self):
        def with_errors(*errors):
            rows = [row(name, 1.0, prediction_error=error) for name, error in zip(("sequential", "ios"), errors)]
            return self.goal("squeezenet: prediction", rows=rows)
        self.assertEqual(with_errors(0.01, -0.05).word, "met")
        self.assertEqual((with_errors(0.01, -0.06).word, with_errors(0.01, -0.06).found), ("MISSED", "-6.0 %"))
        self.assertEqual(with_errors(0.01).word, "not measured")

    def test_a_path_counts_by_its_worst_large_size(self):
        def with_times(*times):
            sizes = [1 << 10, 64 << 20, 128 << 20]
            return {"raw": {"d2d": [{"bytes": size, "device_ms": 1.0, "waited_ms": 2.0} for size in sizes]},
                    "paths": {"ipc": {"points": [{"bytes": s, "ms": ms} for s, ms in zip(sizes, times)]}}}
        self.assertEqual(self.goal("ipc", transfer=with_times(50.0, 1.1, 1.0)).word, "met")
        missed = self.goal("ipc", transfer=with_times(1.0, 2.0, 1.0))
        self.assertEqual((missed.word, missed.found), ("MISSED", "worst 50 % at 64 MB; reached at 128 MB"))
        self.assertEqual(self.goal("cuda-aware", transfer=with_times(1.0, 2.0, 1.0)).word, "not measured")


class PageTest(unittest.TestCase):
    def page(self, **parts):
        return report.page({"gpu": "NVIDIA H200", "machine": {"torch": "2.11"}, "parts": parts})

    def test_an_empty_file_has_a_page(self):
        self.assertIn("# NVIDIA H200", self.page())

    def test_a_network_is_a_table(self):
        page = self.page(latency={"protocol": {"warmup": 50, "iterations": 200, "rounds": 2}, "rows": [
            row("sequential", 2.0, predicted_ms=1.9, prediction_error=0.05), row("sequential, no graphs", 3.0),
            failed("ios"), row("torch graphs", 2.5)]})
        self.assertIn("50 iterations of warm-up, then 200 per round", page)
        self.assertIn("### squeezenet 224x224, fp32", page)
        self.assertIn("| sequential | 10 | 2.000 | 2.000 | 2.000 | 1.00x | 1.900 | +5.0 % |  |  |", page)
        self.assertIn("| torch graphs | 10 | 2.500 | 2.500 | 2.500 | 0.80x |", page)
        self.assertIn("failed: status 3: no / luck |", page)
        self.assertIn("CUDA graphs: 1.50x on `sequential`.", page)
        lines = [line for line in page.splitlines() if line.startswith("| ")]
        self.assertEqual({line.count("|") for line in lines if line.startswith(("| seq", "| ios", "| torch"))}, {11})

    def test_tests_say_what_went_wrong(self):
        page = self.page(tests={
            "programs": [{"name": "hios_gpu_tests", "well": False, "passed": 3, "failed": ["A.b"], "skipped": [],
                          "ended_the_program": {"C.d": "status 134"}, "never_run": ["E.f"]}],
            "networks": [{"name": "squeezenet", "well": True, "bitwise": True, "max_abs": 1e-5, "operators": 50}],
            "checkers": [{"name": "compute-sanitizer memcheck", "well": True, "summary": "ERROR SUMMARY: 0 errors",
                          "passed": 9}], "previous": {"date": "monday", "passed": 2}})
        self.assertIn("| hios_gpu_tests | FAILED | 3 | A.b; C.d ended the program; 1 not run |", page)
        self.assertIn("| squeezenet | ok | 50 | largest difference 1e-05, bit for bit one rank's |", page)
        many = {"name": "p", "well": False, "passed": 0, "failed": [f"A.t{i}" for i in range(100)], "skipped": [],
                "ended_the_program": {}, "never_run": []}
        self.assertIn("A.t7; and 92 more |", self.page(tests={"programs": [many]}))
        self.assertIn("Tests passed: 3; in the last run 2.", page)


if __name__ == "__main__":
    unittest.main()

"""Sections of the page: each is there if its files hold it, and none is empty."""

import random
import time
import unittest

from hios.page import devices, kinds, latency
from hios.page.latency import marks_of
from hios.page.reading import File
from hios.page.runs import Run, plan_name, run_name
from hios.page.view import model_name
from hios.page.ways import comparison_table, sentences_of
from page_samples import PageTest, comparison, events, examples, report, schedule, trace

SECTIONS = ("layers-", "waits-", "latency-", "memory-", "from-", "timeline-", "flight-")


class SectionsTest(PageTest):
    def sections(self, *names):
        page = self.page(*names)
        return page, {prefix for prefix in SECTIONS if page.id(prefix)}

    def test_a_report_has_all_sections_of_one_inference(self):
        _, found = self.sections(self.file("report.json", report()))
        self.assertEqual(found, set(SECTIONS) - {"flight-"})

    def test_a_schedule_alone_has_its_figures_and_no_empty_section(self):
        page, found = self.sections(self.file("schedule.json", schedule()))
        self.assertEqual(found, {"from-"})
        self.assertIn("1.589", page.text)
        self.assertNotIn("Timeline", page.text)

    def test_a_comparison_has_a_table_alone(self):
        page, found = self.sections(self.file("compare.json", comparison()))
        self.assertEqual((found, len(page.tables)), (set(), 1))

    def test_a_report_without_measured_stages_shows_the_plan(self):
        data = report(overhead_ms=None, incomplete="ended by SIGTERM", verified=None)
        del data["operators"]
        for rows in (data["stages"], data["transfers"]):
            for row in rows:
                row.update({key: None for key in row if key.startswith("measured")})
        for stage in data["stages"]:
            for key in ("measured_awaited_ms", "measured_ready_ms"):
                stage.pop(key, None)
        page = self.page(self.file("report.json", data))
        self.assertEqual([part["title"] for part in page.payload["timelines"]["0"]["parts"]], ["plan"])
        self.assertIn("ended by SIGTERM", page.text)
        self.assertNotIn("measured, ms", page.text)

    def test_a_report_without_a_profile_predicts_nothing(self):
        data = report(predicted_ms=None, prediction_error=None)
        for rows in (data["stages"], data["transfers"], data["operators"]):
            for row in rows:
                row.update({key: None for key in row if key in ("predicted_start_ms", "predicted_end_ms", "predicted_ms")})
        page = self.page(self.file("report.json", data))
        self.assertEqual([part["title"] for part in page.payload["timelines"]["0"]["parts"]], ["run"])
        self.assertNotIn("predicted", page.text)

    def test_one_rank_waits_for_nobody(self):
        data = report(ranks=report()["ranks"][:1], transfers=[])
        data["stages"] = [stage for stage in data["stages"] if stage["rank"] == 0]
        self.assertNotIn("waits-", self.sections(self.file("report.json", data))[1])

    def test_many_inferences_in_flight_show_their_ranks(self):
        statistics = {**report()["latency_ms"], "best_quarter": 1.25}
        ranks = [{"rank": rank, "computing_ms": 1.0, "transferring_ms": 0.1, "waiting_ms": 0.15, "own_ms": 0.01}
                 for rank in (0, 1)]
        many = {"inferences": 200, "runs": 4, "in_flight": 3, "copies": 1, "distinct_inputs": 2, "window": 50,
                "per_second": 800.0, "period_ms": statistics, "predicted_period_ms": 1.2, "prediction_error": 0.04,
                "bottleneck": 1,
                "predicted_bottleneck": None, "ranks": ranks, "unlike": 0}
        page, found = self.sections(self.file("report.json", report(throughput=many)))
        self.assertIn("flight-", found)
        for words in ("inputs per second 800.0", "period 1.250 ms predicted 1.200 ms", "bottleneck rank 1"):
            self.assertIn(words, page.text)

    def test_the_verdict_is_that_of_the_summary(self):
        summary = {**examples()["summary"], "extra": {"verdict": ["fastest here: 2 ranks", "why: <b>"]}}
        self.assertIn("fastest here: 2 ranks why: <b>", self.page(self.file("summary.json", summary)).text)
        summary["extra"]["verdict"] = ["fastest here: 1 rank   2.5 ms  p50 2.75"]
        self.assertIn("fastest here: 1 rank 2.5 ms · p50 2.75", self.page(self.file("summary.json", summary)).text)
        summary["extra"]["verdict"] = "one line"
        self.assertTrue(self.page(self.file("summary.json", summary)).has("verdict"))
        for other in ({}, {"verdict": 3}, {"verdict": []}, 7):
            self.assertFalse(self.page(self.file("summary.json", {**summary, "extra": other})).has("verdict"))

    def test_reasons_are_those_of_the_file(self):
        why = {"sentences": ["the longest path is 74 % of the work", "<b>"]}
        self.assertEqual(comparison_table(File("a.json", "comparison", {**comparison(), "why": why}))["why"], why["sentences"])
        for other in (3, {}, {"sentences": "none"}, {"sentences": [3]}):
            self.assertEqual(sentences_of({"why": other}), [])

    def test_a_schedule_and_a_trace_belong_to_their_report(self):
        summary = examples()["summary"]
        summary["rows"][1]["latency_ms"] = report()["latency_ms"]
        self.file("report-a.json", report())
        self.file("report-b.json", report(algorithm="inter-lp"))
        self.file("schedule-a.json", schedule())
        self.file("schedule-b.json", schedule(algorithm="inter-lp", predicted={"latency_ms": 2.0, "lower_bound_ms": 1.25}))
        page = self.page(self.file("summary.json", summary))
        bounds = [page.payload["timelines"][key]["bound"] for key in ("0", "1")]
        self.assertEqual(bounds, [[1.589, "critical_path"], [1.25, ""]])
        self.assertEqual([given["id"] for _, given in page.tags if given.get("role") == "tab"], ["tab-0", "tab-1"])

    def test_a_schedule_has_the_timeline_that_belongs_to_it(self):
        plan = schedule()
        plan["devices"] = [{**plan["devices"][0], "stages": [[["conv_1"]]]}, {**plan["devices"][1], "stages": [[["pool_2"]]]}]
        page = self.page(self.file("schedule.json", plan), self.file("timeline.json", trace()))
        self.assertEqual(list(page.payload["timelines"]), ["0"])
        self.assertEqual(page.payload["timelines"]["0"]["parts"][0]["lanes"][0]["title"], "cpu0")

    def test_the_timeline_of_a_cold_start_belongs_to_its_schedule_and_shows_its_loads(self):
        plan = schedule()
        plan["devices"] = [{**plan["devices"][0], "stages": [[["conv_1"]]]}]
        lanes = [("rank 0 stream 0", "conv_1", 2, 3), ("loads 0", "waiting", 0, 1), ("loads 0", "load conv_1", 1, 2)]
        data = {"traceEvents": list(events("planned", 1, lanes))}
        page = self.page(self.file("schedule.json", plan), self.file("timeline.json", data))
        (timeline,) = page.payload["timelines"].values()
        shown = {lane["label"]: [timeline["names"][one[0]] for one in lane["slices"]] for lane in timeline["parts"][0]["lanes"]}
        self.assertEqual(shown, {"rank 0": ["conv_1"], "loads 0": ["waiting", "load conv_1"]})


class NumbersTest(unittest.TestCase):
    def test_uses_of_a_rank_add_up_to_the_iteration(self):
        data = report()
        for part, which in zip(devices.uses_of(Run("a", report=data)), ("measured", "predicted")):
            self.assertEqual(part["total"], max(stage[f"{which}_end_ms"] for stage in data["stages"]))
            for row in part["rows"]:
                parts = row["computing"] + sum(ms for _, ms in row["peers"]) + row["finished"] + row["rest"]
                self.assertAlmostEqual(parts, part["total"])

    def test_a_wait_is_for_the_rank_whose_tensor_arrived_last(self):
        data = report()
        data["stages"][2].update(measured_awaited_ms=1.361, measured_ready_ms=1.4461)
        waits = devices.waits_of(data, "measured")
        self.assertAlmostEqual(waits[0, 2].ms, 1.448 - 1.361)
        self.assertEqual((waits[0, 2].peer, waits[0, 2].why), (1, "for conv_3 from rank 1"))
        data["stages"][2].update(measured_ready_ms=9.0)
        self.assertIsNone(devices.waits_of(data, "measured")[0, 2].peer)

    def test_a_histogram_counts_every_iteration_in_its_bin(self):
        seed = time.time_ns() % 2**32
        print("seed", seed)
        made = random.Random(seed)
        for _ in range(200):
            number = made.choice((4, 5, 30, 300))
            scale = made.choice((1e-3, 1, 1000))
            samples = [scale * (1 + made.choice((0, made.random(), made.random() ** 9 * 50))) for _ in range(number)]
            disturbed = {index for index in range(number) if made.random() < 0.3}
            bins = latency.histogram(samples, disturbed)
            self.assertEqual([sum(row[column] for row in bins) for column in (2, 3)], [number - len(disturbed), len(disturbed)])
            self.assertLessEqual(len(bins), 3 * latency.BINS)
            for start, end, *counts in bins:
                inside = sum(start - 1e-6 * scale <= one and (end is None or one < end + 1e-6 * scale) for one in samples)
                self.assertGreaterEqual(inside, sum(counts))
            self.assertTrue(all(start <= max(samples) * (1 + 1e-6) for start, *_ in bins))

    def test_marks_are_ordered_from_left_to_right(self):
        data = report(predicted_ms=1.6, latency_ms={**report()["latency_ms"], "best_quarter": 1.5, "median": 1.7, "p95": 9.0})
        marks = [("best ¼", 1.5), ("predicted", 1.6), ("median", 1.7)]
        self.assertEqual(marks_of(data, 1.5, 2.0), marks)
        self.assertEqual(marks_of({**data, "predicted_ms": None}, 1.5, 2.0), [marks[0], marks[2]])

    def test_networks_and_runs_have_their_names(self):
        for name, shown in (("/a/net.onnx", "net"), ("net.json", "net"), ("mobilenet_1.0", "mobilenet_1.0"), ("", "")):
            self.assertEqual(model_name(name), shown)
        data = report(algorithm="best")
        for threads, name in (((1, 1), "2 ranks x 1 core best"), ((0, 2), "2 ranks (1 GPU, 2 cores) best")):
            for rank, count in zip(data["ranks"], threads):
                rank["threads"] = count
            self.assertEqual(run_name(data), name)
        self.assertEqual(plan_name({**schedule(), "devices": schedule()["devices"][:1]}), "hios-lp on 1 device")

    def test_equal_iterations_have_a_histogram(self):
        bins = latency.histogram([2.0] * 9, {3})
        self.assertEqual([sum(row[column] for row in bins) for column in (2, 3)], [8, 1])

    def test_kinds_are_found_in_names(self):
        for name, kind in (("conv_3", "convolution"), ("sepconv_1", "depthwise"), ("pool_20", "pool"), ("concat_4", "concat"),
                           ("sum_1", "sum"),
                           ("/features/3/conv/Conv", "convolution"), ("/layer1/bn1/BatchNormalization", "normalization"),
                           ("/classifier/Gemm", "matrix product"), ("GlobalAveragePool_12", "pool"), ("v17", "other"),
                           ("", "other"),
                           ("conv_1 + pool_2", "convolution"), ("3: pool_1", "pool"), ("/layer/Relu_4", "function")):
            self.assertEqual(kinds.kind_of(name), kind, name)


if __name__ == "__main__":
    unittest.main()

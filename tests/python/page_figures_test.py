"""Every figure on a page comes from its files: tables, timelines and statistics are compared with their sources."""

import math
import re
import unittest

from hios.page import numbers
from page_samples import Page, PageTest, comparison, events, examples, many_operators, report, schedule, trace


class FiguresTest(PageTest):
    def assert_figure(self, text, value, name=""):
        """The text is the value with at most three digits after its point, in ms or as a share."""
        found = re.search(r"[-+−]?[\d,]+(\.\d+)?", text)
        self.assertTrue(found, f"{name}: no figure in {text!r}")
        digits = len(found.group(1) or ".") - 1
        shown = float(found.group().replace(",", "").replace("−", "-"))
        self.assertLessEqual(abs(shown - value), 0.5 * 10 ** -digits + 1e-9, f"{name}: {text!r} for {value}")

    def test_a_summary_shows_every_figure_of_every_row(self):
        summary = examples()["summary"]
        table = self.page(self.file("summary.json", summary)).table("way")
        self.assertEqual(len(table.rows), len(summary["rows"]))
        for row, cells in zip(summary["rows"], table.rows):
            self.assertIn(row["name"], cells[0][0])
            for heading, value, scale in (
                    ("best ¼, ms", row["latency_ms"]["best_quarter"], 1), ("median", row["latency_ms"]["median"], 1),
                    ("p95", row["latency_ms"]["p95"], 1), ("vs 1 core", row["speedup_over_one_core"], 1),
                    ("vs best 2 cores", row["ratio_to_best_two_core_row"], 1), ("predicted", row["predicted_ms"], 1),
                    ("error", row["prediction_error"], 100)):
                text, exact = table.column(heading)[cells[0][0]]
                self.assert_figure(text, scale * value, heading)
                self.assertEqual(float(exact), value)
            self.assertEqual(table.column("verified")[cells[0][0]][0], "yes, bitwise")

    def test_the_fastest_row_is_marked(self):
        table = self.page(self.file("summary.json", examples()["summary"])).table("way")
        self.assertEqual([row[0][0].endswith("fastest") for row in table.rows], [False, True])

    def test_a_comparison_shows_its_rows(self):
        data = comparison()
        table = self.page(self.file("compare.json", data)).table("way")
        self.assertIn("shortest", table.rows[1][0][0])
        for row, cells in zip(data["comparison"], table.rows):
            for heading, key, scale in (("latency", "latency_ms", 1), ("lower bound", "lower_bound_ms", 1), ("gap", "gap", 100),
                                        ("vs sequential", "speedup_over_sequential", 1), ("used", "devices_used", 1),
                                        ("waiting", "waiting_share", 100)):
                text, exact = table.column(heading)[cells[0][0]]
                if key in row:
                    self.assert_figure(text, scale * row[key], heading)
                    self.assertEqual(float(exact), row[key])
                else:
                    self.assertEqual(text, "")
        self.assertEqual(table.column("refused")["ios"][0], "the reason in one line")
        self.assertEqual(table.column("sent")["hios-lp shortest"][0], "524.3 kB")

    def test_operators_have_their_times_their_share_and_a_badge_where_they_differ_twofold(self):
        data = report()
        data["operators"][3].update(measured_ms=0.2)   # 2.06 times the predicted 0.097
        data["operators"][4].update(measured_ms=0.0095)  # half of 0.019
        page = self.page(self.file("report.json", data))
        table = page.table("operator")
        total = sum(row["measured_ms"] for row in data["operators"])
        measured = [row["measured_ms"] for row in data["operators"]]
        at = table.headings.index("measured, ms")
        self.assertEqual([float(row[at][1]) for row in table.rows], sorted(measured, reverse=True))
        for row in data["operators"]:
            name = row["operator"]
            for heading, value, scale in (("predicted", row["predicted_ms"], 1), ("measured", row["measured_ms"], 1),
                                          ("share", row["measured_ms"] / total, 100), ("rank", row["rank"], 1),
                                          ("ratio", row["measured_ms"] / row["predicted_ms"], 1)):
                text, exact = table.column(heading)[name]
                self.assert_figure(text, scale * value, f"{name} {heading}")
                self.assertTrue(math.isclose(float(exact), value))
        badges = [given for tag, given in page.tags if tag == "span" and "differs" in given.get("class", "")]
        self.assertEqual(len(badges), 3)  # and one in the sentence above
        self.assertIn("2 of 5 differ from the prediction by 2x or more", page.text)

    def test_without_layers_stages_stand_for_operators(self):
        data = report()
        del data["operators"]
        table = self.page(self.file("report.json", data)).table("operator")
        for stage in data["stages"]:
            text, exact = table.column("measured")[stage["operators"][0][0]]
            self.assert_figure(text, stage["measured_end_ms"] - stage["measured_start_ms"])

    def test_timelines_are_those_of_the_report(self):
        data = report()
        payload = self.page(self.file("report.json", data), self.file("schedule.json", schedule())).payload
        timeline = payload["timelines"]["0"]
        self.assertEqual(timeline["bound"], [1.589, "critical_path"])
        for part, which in zip(timeline["parts"], ("predicted", "measured")):
            self.assertEqual(part["title"], {"predicted": "plan", "measured": "run"}[which])
            self.assertEqual([lane["label"] for lane in part["lanes"]], ["rank 0", "rank 1"])
            slices = {timeline["names"][one[0]]: (rank, one) for rank, lane in enumerate(part["lanes"])
                      for one in lane["slices"] if one[1] >= 0}
            self.assertEqual(len(slices), len(data["stages"]))
            for stage in data["stages"]:
                rank, one = slices[stage["operators"][0][0]]
                self.assertEqual((rank, one[2], one[3]), (stage["rank"], stage[f"{which}_start_ms"], stage[f"{which}_end_ms"]))
                self.assertAlmostEqual(one[4], stage["predicted_end_ms"] - stage["predicted_start_ms"], places=4)
                self.assertAlmostEqual(one[5], stage["measured_end_ms"] - stage["measured_start_ms"], places=4)
            self.assertEqual([(timeline["names"][one[0]], *one[1:]) for one in part["messages"]],
                             [(row["producer"], row["from"], row["to"], row[f"{which}_start_ms"], row[f"{which}_end_ms"],
                               row["size_bytes"]) for row in data["transfers"]])

    def test_timelines_of_a_trace_are_those_of_its_events(self):
        timeline = self.page(self.file("trace.json", trace())).payload["timelines"]["0"]
        names = timeline["names"]
        plan, run = ([[(names[one[0]], one[2], one[3], one[4], one[5]) for one in lane["slices"]] for lane in part["lanes"]]
                     for part in timeline["parts"])
        self.assertEqual(plan, [[("conv_1", 0, 2, 2, 5)], [("waiting", 0, 3, None, None), ("pool_2", 3, 4, 1, 1)]])
        self.assertEqual(run, [[("conv_1", 0, 5, 2, 5)], [("waiting", 0, 6, None, None), ("pool_2", 6, 7, 1, 1)]])
        self.assertEqual([part["messages"] for part in timeline["parts"]], [[[0, 0, 1, 2, 3, None]], [[0, 0, 1, 5, 6, None]]])

    def test_loads_have_lanes_below_the_ranks(self):
        times = {"predicted_start_ms": 0, "predicted_end_ms": 0.5, "measured_start_ms": 0.1, "measured_end_ms": 0.7}
        loads = [{"lane": 1, "of": "conv_1", "from": "dram", "to": 0, "size_bytes": 4000, **times},
                 {"lane": 0, "of": "conv_1", "from": 0, "to": 1, "size_bytes": 4000, **times, "measured_end_ms": None}]
        page = self.page(self.file("report.json", report(loads=loads)))
        timeline = page.payload["timelines"]["0"]
        plan, run = ([(lane["label"], [(timeline["names"][one[0]], one[1], one[2], one[3], timeline["names"][one[6]])
                                       for one in lane["slices"]]) for lane in part["lanes"][2:]] for part in timeline["parts"])
        stored = ("loads 1", [("load conv_1", -2, 0, 0.5, "from dram to rank 0, 4.00 kB")])
        self.assertEqual(plan, [("loads 0", [("load conv_1", -2, 0, 0.5, "from rank 0 to rank 1, 4.00 kB")]), stored])
        self.assertEqual(run, [("loads 1", [("load conv_1", -2, 0.1, 0.7, "from dram to rank 0, 4.00 kB")])])
        self.assertEqual(timeline["parts"][1]["lanes"][2]["slices"][0][4:6], [0.5, 0.6])
        self.assertIn("load of parameters", page.text)
        self.assertNotIn("load of parameters", self.page(self.file("report.json", report())).text)

    def test_loads_of_a_trace_are_no_operators(self):
        slices = [("rank 0 stream 0", "conv_1", 2, 3), ("loads 0", "load conv_1", 0, 2), ("loads 0", "waiting", 2, 4)]
        page = self.page(self.file("trace.json", {"traceEvents": list(events("planned", 1, slices))}))
        lanes = page.payload["timelines"]["0"]["parts"][0]["lanes"]
        self.assertEqual([(lane["label"], [one[1] for one in lane["slices"]]) for lane in lanes],
                         [("rank 0", [1]), ("loads 0", [-2, -1])])
        self.assertEqual([row[0][0] for row in page.table("operator").rows], ["conv_1"])

    def test_inferences_in_flight_begin_with_the_first_that_is_shown(self):
        slices = [("rank 0", "7: conv_1", 100, 101), ("rank 0", "8: conv_1", 102, 103)]
        data = {"traceEvents": list(events("in flight", 1, slices))}
        (part,) = self.page(self.file("trace.json", data)).payload["timelines"]["0"]["parts"]
        self.assertEqual([one[2:4] for one in part["lanes"][0]["slices"]], [[0, 1], [2, 3]])

    def test_memory_is_that_of_each_rank(self):
        data = report()
        table = next(one for one in self.page(self.file("report.json", data)).tables if "held" in one.headings)
        for rank in data["ranks"]:
            for heading, key in (("held", "held_bytes"), ("tensors", "arena_bytes"), ("weights", "weights_bytes"),
                                 ("input", "input_bytes"), ("all tensors", "all_tensors_bytes"), ("sent", "sent_bytes")):
                at = table.headings.index(heading)
                cell = next(row[at][0] for row in table.rows if row[0][0] == f"rank {rank['rank']}")
                self.assertEqual(cell, numbers.size(rank[key]))

    def test_provenance_repeats_the_report(self):
        data = report()
        text = self.page(self.file("report.json", data)).text
        for fact in (*data["digests"].values(), data["versions"]["commit"], data["date"], "GOMP_SPINCOUNT 5000",
                     data["transfer_path"],
                     "oneDNN 2.6.3", "hios-run --model two_branches.json --schedule schedule.json"):
            self.assertIn(fact, text)

    def test_a_page_of_many_operators_stays_below_two_megabytes(self):
        output = self.folder / "report.html"
        status, _, err = self.command(self.file("report.json", many_operators(6000)), "-o", str(output))
        self.assertEqual((status, err), (0, ""))
        self.assertLess(output.stat().st_size, 2e6)
        page = Page(output.read_text())
        self.assertRegex(page.text, r"[\d,]+ shorter operators, together \d+\.\d %, are left out")


if __name__ == "__main__":
    unittest.main()

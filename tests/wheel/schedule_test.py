"""Schedules, their timelines, rules and bounds, comparisons and their tables; the times of the C++ program."""

import csv
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import networkx as nx
from support import PROGRAMS, Refusals, diamond, program

import hios

RANDOM = "n=60,edges=120,layers=6,seed=3"
EXACT = ("sequential", "heft", "peft", "hios-lp", "hios-mr", "inter-lp", "greedy")  # none searches until a time


class ScheduleTest(Refusals):
    def test_a_schedule_in_numbers(self):
        s = hios.schedule(diamond(), 2, "best", time_limit=10)
        self.assertEqual((s.latency_ms, s.lower_bound_ms, s.gap, s.outcome), (5.3, 5.3, 0, "optimal"))
        self.assertEqual(s.algorithm, "best")
        self.assertFalse(s.interrupted)
        timeline = s.timeline()
        self.assertEqual(timeline.latency_ms, s.latency_ms)
        self.assertEqual(max(stage.end_ms for stage in timeline), s.latency_ms)
        self.assertEqual(sorted(name for stage in timeline for group in stage.groups for name in group), ["a", "b", "c", "d"])
        self.assertEqual(timeline.times_of("b").device, s.device_of("b"))
        self.assertNotEqual(s.device_of("b"), s.device_of("c"))
        self.assertEqual(timeline.to_csv().splitlines()[0], "device,operators,start_ms,end_ms")

    def test_milp_proves_or_says_that_it_has_no_solver(self):
        try:
            s = hios.schedule(diamond(), 2, "milp")
        except hios.InputError as error:
            self.assertIn("solver", str(error))
        else:
            self.assertEqual((s.latency_ms, s.outcome), (5.3, "optimal"))

    def test_arguments_are_checked(self):
        g = diamond()
        self.refused("did you mean 'heft'", hios.schedule, g, 2, "hetf")
        self.refused("hios.algorithms() lists them", hios.schedule, g, 2, "nothing-like-it")
        self.refused("devices: 0", hios.schedule, g, 0)
        self.refused("devices is 1.5", hios.schedule, g, 1.5)
        self.refused("time_limit: its seconds is -1", hios.schedule, g, 2, "heft", -1)
        self.refused("seed: -1", hios.schedule, g, 2, "heft", seed=-1)
        self.refused("window", hios.schedule, g, 2, "hios-lp", options={"windw": 3})
        self.refused("window", hios.schedule, g, 2, "hios-lp", options={"window": -3})
        self.refused("option window is [1]", hios.schedule, g, 2, "hios-lp", options={"window": [1]})
        self.refused("streams: 0", hios.Platform.alike, 2, streams=0)
        self.refused("contention", hios.Platform.alike, 2, contention="some")
        self.refused("give gb_per_s, too", hios.Platform.alike, 2, latency_ms=1)
        self.refused("n", hios.Graph.random, "n=x")

    def test_options_count_and_are_kept(self):
        s = hios.schedule(hios.Graph.random(RANDOM), 2, "hios-lp", options={"window": 2})
        self.assertEqual(s.options, {"window": 2})

    def test_schedules_of_others(self):
        g = diamond()
        self.assertEqual(hios.validate(g, [["a", "b", "d"], ["c"]]), [])
        self.assertEqual(hios.simulate(g, [["a", "b", "d"], ["c"]]).latency_ms, 5.3)
        several = hios.validate(g, [["b", "a"], ["c", "c"]])
        self.assertGreater(len(several), 1)
        self.assertTrue(all(isinstance(each.text, str) for each in several))
        self.assertIn("d", {each.operator for each in several})
        self.refused("breaks a rule", hios.simulate, g, [["b", "a", "d"], ["c"]])
        self.refused("breaks a rule", hios.simulate, g, [["a", "b", "c", "d"]])
        self.refused("device 0, stage 1: the graph has no operator 'x'", hios.validate, g, [["a", "x"]])
        self.refused("device 0 is 'abcd': a list is wanted", hios.validate, g, ["abcd"])
        self.refused("device 1, stage 0: 3 is no operator's name", hios.validate, g, [[], [[[3]]]])
        grouped = hios.simulate(g, [["a", ["b", ["c"]], "d"]], hios.Platform.alike(1, streams=2))
        self.assertEqual(grouped.stages[1].groups, (("b",), ("c",)))

    def test_the_largest_bound_is_the_schedules(self):
        g = hios.Graph.random(RANDOM)
        found = hios.bounds(g, 2)
        s = hios.schedule(g, 2, "heft")
        self.assertAlmostEqual(max(found.values()), s.lower_bound_ms, delta=1e-9)
        self.assertIn(s.bound, found)

    def test_a_comparison_and_its_tables(self):
        table = hios.compare(hios.Graph.random(RANDOM), ["sequential", "heft"], devices=[2, 4])
        self.assertEqual([(row.algorithm, row.devices) for row in table],
                         [("sequential", 2), ("heft", 2), ("sequential", 4), ("heft", 4)])
        best = table.best()
        self.assertEqual(best.schedule.latency_ms, min(row.schedule.latency_ms for row in table))
        rows = list(csv.DictReader(io.StringIO(table.to_csv())))
        self.assertEqual(float(rows[1]["latency_ms"]), table[1].schedule.latency_ms)
        self.assertEqual(rows[0]["speedup_over_sequential"], "1.0")
        self.assertEqual(table.to_pandas()["latency_ms"].tolist(), [row.schedule.latency_ms for row in table])
        latex = table.to_latex()
        self.assertTrue(latex.startswith("\\begin{tabular}"))
        self.assertEqual(latex.count(r" \\"), 5)
        self.assertIn(r"\%", latex)
        self.assertIn("heft", str(table))
        with tempfile.TemporaryDirectory() as folder:
            table.to_csv(Path(folder) / "table.csv")
            self.assertEqual((Path(folder) / "table.csv").read_text(), table.to_csv())
            self.refused("cannot be written", table.to_csv, Path(folder))
        with mock.patch.dict("sys.modules", pandas=None):
            self.refused("pip install pandas", table.to_pandas)

    def test_comparisons_are_checked_before_anything_runs(self):
        self.refused("needs an algorithm", hios.compare, diamond(), [])
        self.refused("needs a number of devices", hios.compare, diamond(), ["heft"], [])
        self.refused("no scheduler is named 'x'", hios.compare, diamond(), ["best", "x"], time_limit=1e6)
        self.refused("not among the algorithms", hios.compare, diamond(), ["heft"], options={"hios-lp": {}})
        self.assertIn("heft", hios.algorithms())

    def test_a_refusal_is_a_row(self):
        small = hios.Platform.alike(2, memory_bytes=1)
        G = nx.DiGraph()
        G.add_node("a", weight=1, memory=100)
        g = hios.Graph.from_networkx(G, memory="memory")
        table = hios.compare(g, ["sequential", "heft"], small)
        self.assertTrue(all(row.refused and row.schedule is None for row in table))
        self.refused("all algorithms refused", table.best)
        self.assertIn("refused", str(table))
        self.refused("sequential", hios.schedule, g, small, "sequential")

    def test_plots_are_drawn(self):
        import matplotlib
        matplotlib.use("Agg")
        s = hios.schedule(hios.Graph.random(RANDOM), hios.Platform.alike(2, streams=4), "hios-lp")
        axes = s.plot()
        groups = sum(len(stage.groups) for stage in s.timeline())
        self.assertEqual(len(axes.patches), groups)
        self.assertIs(s.plot(axes), axes)

    @unittest.skipUnless(PROGRAMS, "needs the programs")
    def test_all_times_are_the_programs_to_the_last_bit(self):
        for seed, devices in ((3, 2), (4, 4)):
            parameters = f"n=60,edges=120,layers=6,seed={seed}"
            theirs = program("--random", parameters, "--devices", devices, "--algorithm", ",".join(EXACT))
            rows = {row["algorithm"]: row for row in theirs["comparison"]}
            for row in hios.compare(hios.Graph.random(parameters), EXACT, devices):
                with self.subTest(seed=seed, algorithm=row.algorithm):
                    for key in ("latency_ms", "lower_bound_ms", "gap", "bound", "devices_used", "waiting_share", "outcome"):
                        self.assertEqual(row.values()[key], rows[row.algorithm][key], key)

    @unittest.skipUnless(PROGRAMS, "needs the programs")
    def test_times_on_platforms_are_the_programs_too(self):
        for contention in ("none", "link", "port"):
            with self.subTest(contention), tempfile.TemporaryDirectory() as folder:
                graph, platform = Path(folder) / "graph.json", Path(folder) / "platform.json"
                g, p = hios.Graph.random(RANDOM), hios.Platform.alike(3, streams=4, contention=contention)
                g.save(graph)
                p.save(platform)
                theirs = program("--graph", graph, "--platform", platform, "--algorithm", "heft,hios-lp")
                rows = {row["algorithm"]: row["latency_ms"] for row in theirs["comparison"]}
                for row in hios.compare(g, ["heft", "hios-lp"], p):
                    self.assertEqual(row.schedule.latency_ms, rows[row.algorithm])
                    self.assertEqual(row.schedule.timeline().latency_ms, rows[row.algorithm])

    @unittest.skipUnless(PROGRAMS, "needs the programs")
    def test_the_program_reads_its_files(self):
        with tempfile.TemporaryDirectory() as folder:
            graph, file, trace = (Path(folder) / name for name in ("graph.json", "schedule.json", "trace.json"))
            g = hios.Graph.random(RANDOM)
            g.save(graph)
            s = hios.schedule(g, 3, "hios-mr")
            s.save(file)
            s.save_trace(trace)
            self.assertTrue(json.loads(trace.read_text())["traceEvents"])
            checked = program("--graph", graph, "--check", file)
            self.assertEqual((checked["valid"], checked["latency_ms"]), (True, s.latency_ms))


if __name__ == "__main__":
    unittest.main()

"""bench/study/hetero: costs and GPT-3 compared with the formulas in plain form, the calls that are made and made again, and
the summaries of their results."""

import contextlib
import csv
import io
import math
import statistics
import unittest
from pathlib import Path
from unittest import mock

import calls
import costs
import hetero_parts
import network_graphs
import platforms
import problems
import run_hetero
import summaries
import transformer
from support import NEVER, DeadlineAfter, FakePrograms, FolderTest, flag

CHAIN = {"format": "hios-graph", "version": 1, "name": "chain",
         "operators": [{"name": "a", "time_ms": {"gpu0": 3.0}}, {"name": "b", "time_ms": {"gpu0": 1.0}, "parameter_bytes": 8}],
         "edges": [{"from": "a", "to": "b", "bytes": 100}]}


class CostsTest(unittest.TestCase):
    def test_networks_stand_at_the_level_of_the_table(self):
        graph = costs.like_table_2(CHAIN, 1)
        first, second = (operator["time_ms"] for operator in graph["operators"])
        self.assertAlmostEqual(first["gpu0"], 7.80 * 3 / 4)
        self.assertAlmostEqual(second["gpu0"], 7.80 * 1 / 4)
        self.assertEqual(set(first), {"gpu0", "gpu1", "cpu"})
        self.assertNotAlmostEqual(first["gpu1"] / first["gpu0"], second["gpu1"] / second["gpu0"])
        self.assertEqual(graph, costs.like_table_2(CHAIN, 1))
        self.assertNotEqual(graph, costs.like_table_2(CHAIN, 2))

    def test_ratios_have_the_given_mean(self):
        chance = costs.random.Random(1)
        self.assertAlmostEqual(statistics.fmean(costs.lognormal(chance, 1.6, 0.5) for _ in range(20000)), 1.6, delta=0.03)

    def test_many_inputs_cost_little_more_on_gpus_and_all_of_it_on_a_cpu(self):
        graph = {**CHAIN, "operators": [{"name": "a", "time_ms": {"gpu0": 2.0, "cpu": 5.0}}]}
        made = costs.many_inputs(graph, 16, 4, 1)
        times = made["operators"][0]["time_ms"]
        self.assertEqual((made["version"], made["inputs"], list(times["gpu0"])), (1, 16, ["4", "8", "12", "16"]))
        self.assertAlmostEqual(times["gpu0"]["16"], 2 * (1 + 0.027 * 15))
        self.assertAlmostEqual(times["cpu"]["12"], 60)
        self.assertEqual(made["edges"][0]["bytes"], 100)
        self.assertEqual(costs.many_inputs(graph, 16, 4, 16)["edges"][0]["bytes"], 1600)

    def test_rooflines(self):
        operators = [{"name": "a", "flop": 1e9, "bytes": 1e6, "weight_bytes": 8}]
        graph = costs.on_machines("one", operators, [], {"x": (10, 100), "y": (1, 100)})
        self.assertAlmostEqual(graph["operators"][0]["time_ms"]["x"], 0.005 + 0.1)
        self.assertAlmostEqual(graph["operators"][0]["time_ms"]["y"], 0.005 + 1)
        self.assertEqual(graph["operators"][0]["parameter_bytes"], 8)
        self.assertAlmostEqual(costs.roofline_ms(1e9, 1e6, 10, 100), 0.005 + 0.1)
        self.assertAlmostEqual(costs.roofline_ms(1e6, 1e9, 10, 100), 0.005 + 10)


class GraphsTest(unittest.TestCase):
    def test_gpt3_has_the_operators_of_the_table(self):
        counts = [len(transformer.gpt3(size, False)[0]) for size in transformer.SIZES]
        self.assertEqual(counts, [4872, 9480, 12640, 19640])

    def test_gpt3_is_a_graph_in_order_with_the_work_and_the_weights_of_its_size(self):
        size = transformer.Size("small", 2, 64, 4, 8)
        plain, coarse = (transformer.Builder(size, each) for each in (False, True))
        for builder in (plain, coarse):
            value = None
            for index in range(size.layers):
                value = builder.layer(f"l{index}", value)
            position = {operator["name"]: at for at, operator in enumerate(builder.operators)}
            self.assertEqual(len(position), len(builder.operators))
            self.assertTrue(all(position[edge["from"]] < position[edge["to"]] for edge in builder.edges))
        products = [each for each in coarse.operators if each["weight_bytes"]]
        self.assertEqual(sum(each["weight_bytes"] for each in products), 2 * 2 * 12 * 64 * 64)
        self.assertEqual(sum(each["flop"] for each in products), 2 * 2 * 8 * 12 * 64 * 64)
        self.assertEqual(len(plain.operators) - len(coarse.operators), 2 * (3 * 4 + 2))

    def test_machines_of_the_papers(self):
        machine = platforms.moirai("inter-server")
        self.assertEqual(len(machine["links"]), 12)
        self.assertAlmostEqual(machine["links"][0]["gb_per_s"], 44.26 / 8)
        servers, speeds = platforms.servers(2)
        self.assertEqual((len(servers["devices"]), len(servers["links"]), len(speeds)), (8, 12, 8))


class Answering(FakePrograms):
    """hios-schedule with a latency an algorithm; `sequential` is the best device."""

    LATENCY = {"sequential": 20.0, "heft": 10.0}

    def run(self, program, *flags, ranks=0):
        self.calls.append((program, tuple(map(str, flags)), ranks))
        with Path(flag(flags, "--csv")).open("w", newline="") as file:
            writer = csv.DictWriter(file, ("algorithm", *calls.VALUES, "refused"))
            writer.writeheader()
            for name in flag(flags, "--algorithm").split(","):
                writer.writerow({"algorithm": name, "latency_ms": self.LATENCY.get(name, ""), "lower_bound_ms": 8.0,
                                 "bound": "work", "seconds": 0.5, "outcome": "feasible" if name in self.LATENCY else ""})


class Problem:
    def __init__(self, seed):
        self.case, self.seed = "a case", seed

    def flags(self, study):
        return ["--random", f"seed={self.seed}"]


class CallsTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.study = calls.Study(Answering(), self.folder)
        self.asked = [calls.Call(Problem(seed), ("sequential", "heft", "getf"), 30, ("iterations=5",)) for seed in (0, 1)]

    def test_each_is_computed_once(self):
        self.assertTrue(calls.run(self.study, "table-1", self.asked, NEVER))
        made = self.study.programs.asked("hios-schedule")
        self.assertEqual([flag(call, "--random") for call in made], ["seed=0", "seed=1"])
        self.assertEqual((flag(made[0], "--option"), flag(made[0], "--time-limit")), ("iterations=5", "30"))
        self.assertTrue(calls.run(self.study, "table-1", self.asked, NEVER))
        self.assertEqual(len(self.study.programs.calls), 2)

    def test_nothing_more_after_the_deadline(self):
        self.assertFalse(calls.run(self.study, "table-1", self.asked, DeadlineAfter(1)))
        self.assertEqual(len(self.study.programs.calls), 1)

    def test_summary(self):
        calls.run(self.study, "table-1", self.asked, NEVER)
        rows = {row["algorithm"]: row for row in summaries.part_summary(self.folder, "table-1")}
        self.assertEqual(list(rows), ["sequential", "heft", "getf"])
        heft = rows["heft"]
        self.assertEqual((heft["seeds"], heft["latency_ms"], heft["speedup_over_one_device"], heft["proved"]), (2, 10, 2, 0))
        self.assertAlmostEqual(heft["gap_to_bound"], 0.25)
        self.assertEqual((rows["getf"]["seeds"], rows["getf"]["latency_ms"]), (2, ""))
        summaries.write_all(self.folder)
        self.assertEqual(len((self.folder / "summary.csv").read_text().splitlines()), 4)


class PartsTest(unittest.TestCase):
    def test_no_question_stands_twice_and_all_fit_the_time(self):
        seconds = 0
        for part, questions in hetero_parts.PARTS.items():
            keys = [tuple(key.values()) for call in questions() for key in call.keys()]
            self.assertEqual(len(keys), len(set(keys)), part)
            seconds += sum(call.limit_s for call in questions() if call.limit_s != hetero_parts.RULE_LIMIT_S)
        self.assertLess(seconds, 2000)  # a proof ends a search earlier

    def test_table_4_lists_the_time_of_16_inputs(self):
        self.assertTrue(math.isclose(1 + 15 * costs.SHARE_OF_FURTHER_INPUTS, 1.40, rel_tol=0.01))


class ProblemsTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(problems, "WORK", self.folder))

    def test_modules_of_one_input_need_no_file(self):
        flags = problems.Modules("any", 3, "modules=2").flags(None)
        self.assertEqual(flags[:2], ["--random", "modules=2,seed=3"])
        self.assertEqual(flag(flags, "--platform"), str(problems.SERVER))
        self.assertTrue(problems.SERVER.exists())

    def test_networks_are_written_with_their_machine(self):
        work = [{"name": "a", "flop": 1e9, "bytes": 1e6, "weight_bytes": 8}], []
        study = calls.Study(FakePrograms(), self.folder)
        with mock.patch.object(network_graphs, "network", return_value=work) as asked:
            flags = problems.OnMoirai("squeezenet", "inter-server", False).flags(study)
            self.assertEqual(asked.call_args.args[1:], ("squeezenet", "none"))
            self.assertIn("rtx2080ti", Path(flag(flags, "--graph")).read_text())
            flags = problems.Network("squeezenet", 0, 128).flags(study)
            self.assertEqual(flag(flags, "--parts"), "4")
            self.assertIn('"inputs": 128', Path(flag(flags, "--graph")).read_text())

    def test_the_work_of_a_network(self):
        listed = [{"name": "a", "shape": [1, 2, 3, 4], "mflop": 5.0, "weights_bytes": 7},
                  {"name": "b", "shape": [10], "mflop": 0, "weights_bytes": 0}]
        made = network_graphs.work(listed, [{"from": "a", "to": "b", "bytes": 96}])
        self.assertEqual(made, [{"name": "a", "flop": 5e6, "bytes": 7 + 96, "weight_bytes": 7},
                                {"name": "b", "flop": 10, "bytes": 96 + 40, "weight_bytes": 0}])


class RunTest(FolderTest):
    def study(self, *words):
        with mock.patch("sys.argv", ["run-hetero", "--results", str(self.folder), *words]), \
                mock.patch.object(run_hetero, "Programs"), \
                mock.patch.object(run_hetero.calls, "run", return_value="table-3" not in words) as asked:
            run_hetero.main()
        return [call.args[1] for call in asked.call_args_list]

    def test_only_the_parts_that_are_named(self):
        self.assertEqual(self.study("table-1", "figure-4"), ["table-1", "figure-4"])

    def test_an_incomplete_part_ends_it_with_the_remedy(self):
        with self.assertRaisesRegex(SystemExit, "not complete yet: call it again"):
            self.study("table-3")

    def test_an_unknown_part_is_refused(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
            self.study("table-2")
        self.assertEqual(end.exception.code, 2)
        self.assertIn("no part is called table-2; there are: table-1,", said.getvalue())


if __name__ == "__main__":
    unittest.main()

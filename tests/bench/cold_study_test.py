"""bench/study/cold: graphs of decoders, platforms of servers, rows of calls that are not repeated, and tables. One test asks
the real hios-schedule, whose folder comes in HIOS_BIN_DIR."""

import csv
import json
import os
import shutil
import unittest
import unittest.mock

import cold_calls
import cold_emulated
import cold_remaining
import cold_shared
import cold_tables
import decoders
from cold_parts import PARTS, SEARCH, SIZES
from cold_servers import SERVERS, V100
from hios.launch.programs import Programs
from markdown_tables import RESULTS, ROOT
from support import NEVER, DeadlineAfter, FakePrograms, FolderTest, flag

SIZE = {"models": ("GPT2-large",), "shapes": ((1, 32),), "servers": ("v100",)}
LATENCIES = {"load-then-run": 100.0, "pipelined": 80.0, "deepplan": 50.0, "heft": 90.0, "hios-lp": 90.0, "best": 30.0,
             "sortinghat": 40.0, "efficient-mip": 70.0}


def parameters(graph):
    """Bytes of all parameters, shared ones once."""
    return sum({operator.get("parameters", operator["name"]): operator.get("parameter_bytes", 0)
                for operator in graph["operators"]}.values())


class DecodersTest(unittest.TestCase):
    def graph(self, index, shape=(1, 32)):
        return decoders.graph(decoders.MODELS[index], *shape, SERVERS["v100"].kinds)

    def test_models_have_as_many_parameters_as_are_published(self):
        counts = [round(parameters(self.graph(index)) / 4e6) for index in range(len(decoders.MODELS))]
        self.assertEqual(counts, [774, 1558, 3426, 6738])  # millions

    def test_work_is_two_flop_a_parameter_and_token_and_that_of_attention(self):
        model = decoders.MODELS[3]
        operators, _ = decoders.work(model, 1, 1024)
        flop = sum(operator["flop"] for operator in operators)
        products = 2 * 1024 * (6738415616 - 32000 * 4096)  # the embedding is no product
        attention = 32 * 4 * 1024 * 1024 * 4096
        self.assertAlmostEqual(flop / (products + attention), 1, delta=0.01)

    def test_edges_follow_the_order_of_operators(self):
        for index in (0, 2):
            graph = self.graph(index)
            names = [operator["name"] for operator in graph["operators"]]
            self.assertEqual(len(set(names)), len(names))
            self.assertTrue(all(names.index(edge["from"]) < names.index(edge["to"]) for edge in graph["edges"]))

    def test_the_roofline_is_the_slower_of_both_and_no_faster_in_place(self):
        work = {"flop": 15.7e9, "activation_bytes": 0, "parameter_bytes": 1.8e9, "in_place_bytes": 31.5e6}
        self.assertAlmostEqual(decoders.roofline_ms(work, V100), 2 + decoders.LAUNCH_MS)
        self.assertAlmostEqual(decoders.roofline_ms(work, V100, 15.75), 2 + decoders.LAUNCH_MS)
        self.assertAlmostEqual(decoders.roofline_ms({**work, "in_place_bytes": 63e6}, V100, 15.75), 4 + decoders.LAUNCH_MS)

    def test_an_embedding_reads_the_rows_of_its_tokens(self):
        operators, _ = decoders.work(decoders.MODELS[0], 1, 32)
        first, last = operators[0], operators[-1]
        self.assertEqual((first["shared"], last["shared"]), ("tokens", "tokens"))
        self.assertEqual(first["in_place_bytes"], 32 * 1280 * 4)
        self.assertEqual(first["activation_bytes"] + first["parameter_bytes"], 2 * 32 * 1280 * 4)
        self.assertEqual(last["in_place_bytes"], last["parameter_bytes"])


class ServersTest(unittest.TestCase):
    def test_the_v100_server_is_that_of_the_example(self):
        example = json.loads((ROOT / "schedules/platforms/v100-server.json").read_text())
        ours = SERVERS["v100"].platform()
        for part in ("buses", "routes"):
            self.assertCountEqual(ours[part], example[part])

    def test_every_gpu_loads_and_every_pair_has_a_route(self):
        for server in SERVERS.values():
            for only in (None, tuple(server.gpus)[:2]):
                platform = server.platform(only)
                names = [device["name"] for device in platform["devices"]]
                ends = [(route["from"], route["to"]) for route in platform["routes"]]
                self.assertCountEqual(ends, [(one, to) for one in ("dram", *names) for to in names if one != to])
                self.assertEqual({bus for route in platform["routes"] for bus in route["over"]},
                                 {bus["name"] for bus in platform["buses"]})


class CallsTest(FolderTest):
    def answer(self, _program, flags, _ranks):
        with open(flag(flags, "--csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, ("algorithm", "latency_ms", "lower_bound_ms", "seconds", "devices_used", "outcome"))
            writer.writeheader()
            for name in flag(flags, "--algorithm").split(","):
                shorter = 25 if flag(flags, "--option") == cold_calls.INTERLEAVED else 0
                writer.writerow({"algorithm": name, "latency_ms": LATENCIES[name] - shorter, "lower_bound_ms": 20.0, "seconds": 1,
                                 "devices_used": 2, "outcome": "feasible"})

    def run_part(self, part, deadline=NEVER):
        return cold_calls.run(self.programs, self.folder, part, PARTS[part](SIZE, 8), deadline)

    def setUp(self):
        super().setUp()
        self.programs = FakePrograms(answer=self.answer)

    def test_a_stopped_study_continues(self):
        self.assertFalse(self.run_part("starts", DeadlineAfter(2)))
        before = len(self.programs.calls)
        self.assertTrue(self.run_part("starts"))
        asked = len(self.programs.calls)
        self.assertEqual((before, asked), (3, 5))  # one device by two calls, then best; sortinghat, efficient-mip
        self.assertTrue(self.run_part("starts"))
        self.assertEqual(len(self.programs.calls), asked)

    def test_speed_ups_are_over_the_plans_of_one_device_on_the_whole_server(self):
        for part in ("starts", "ablations", "selections"):
            self.run_part(part)
        rows = cold_calls.store_of(self.folder, "starts").rows
        best = rows["GPT2-large", "1", "32", "v100", "best", " ".join(SEARCH)]
        over = [float(best[column]) for column in cold_calls.BASES]
        self.assertEqual(over, [3.3333, 2.6667, 0.8333])
        pair = cold_calls.store_of(self.folder, "selections").rows["GPT2-large", "1", "32", "v100, GPUs 1+3", "heft", ""]
        self.assertEqual((pair["devices"], float(pair["over_load_then_run"])), ("2", 1.1111))
        path = rows["GPT2-large", "1", "32", "v100", "critical-path", ""]
        self.assertTrue(98 < float(path["latency_ms"]) < 100)

    def test_the_small_size_is_part_of_the_full_one(self):
        for part, calls in PARTS.items():
            small, full = ([call.keys() for call in calls(SIZES[size], 8)] for size in ("small", "full"))
            self.assertTrue(all(keys in full for keys in small), part)
            self.assertLess(len(small), len(full) / 2)

    def test_the_program_reads_the_files(self):
        programs = Programs(os.environ["HIOS_BIN_DIR"])
        problem = cold_calls.Problem("GPT2-large", 1, 32, "v100-hetero")
        call = cold_calls.Call(problem, ((("load-then-run", "pipelined"), ()),))
        one, pipelined = call.answers(programs)
        self.assertGreater(float(one["latency_ms"]), float(pipelined["latency_ms"]))
        self.assertGreater(float(pipelined["latency_ms"]), float(pipelined["bound_ms"]))
        self.assertGreater(float(pipelined["bound_ms"]), 774.03 * 4 / (2 * 15.75) * 0.9)  # over two buses; read rows may be fewer
        again = cold_remaining.Again(problem, "pipelined", 60).answers(programs)
        self.assertEqual({row["outcome"] for row in again}, {"feasible"})
        times = [float(row["latency_ms"]) for row in again]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(times[0], float(pipelined["latency_ms"]))
        self.assertLess(times[-1], 10)  # all operators one after the other


class EmulatedTest(FolderTest):
    def answer(self, program, flags, ranks):
        if program == "hios-schedule":
            with open(flag(flags, "--output"), "w") as file:
                json.dump({"predicted": {"latency_ms": 100}}, file)
            return
        self.assertEqual((ranks, flag(flags, "--backend"), flag(flags, "--time-scale")), (2, "emulated", "20"))
        self.assertNotIn("--objective", flags)
        with open(flag(flags, "--json"), "w") as file:
            json.dump({"predicted_ms": 2000, "latency_ms": {"best_quarter": 2020}, "prediction_error": 20 / 2020}, file)

    def test_a_plan_runs_on_a_rank_for_each_gpu_and_times_are_those_of_the_server(self):
        calls = [call for call in PARTS["emulated"](SIZES["small"], 8) if call.problem.only == ("gpu1", "gpu3")]
        programs = FakePrograms(answer=self.answer)
        self.assertTrue(cold_calls.run(programs, self.folder, "emulated", calls, NEVER))
        self.assertEqual(len(programs.calls), 2 * len(calls))
        row = cold_calls.store_of(self.folder, "emulated").rows["GPT2-large", "1", "32", "v100, GPUs 1+3", "heft", ""]
        self.assertEqual([row[column] for column in cold_calls.EMULATED_VALUES], ["2", "20", "100", "101", "0.990"])

    def test_the_program_runs_the_plan(self):
        problem = cold_calls.Problem("GPT2-large", 1, 32, "v100", ("gpu1",))
        call = cold_emulated.Emulated(problem, "pipelined", inference_ms=1)
        (row,) = call.answers(Programs(os.environ["HIOS_BIN_DIR"]))
        self.assertEqual(row["time_scale"], 1)
        self.assertGreater(float(row["predicted_ms"]), 90)
        self.assertGreater(float(row["emulated_ms"]), 0.999 * float(row["predicted_ms"]))  # one lane: no flow is faster than planned

    def test_predictions_are_as_close_as_the_papers(self):
        rows = cold_tables.Answers(RESULTS / "study", "emulated").rows.values()
        self.assertEqual(len(rows), len(PARTS["emulated"](SIZES["full"], 8)))
        self.assertLess(sum(abs(float(row["error_percent"])) for row in rows) / len(rows), cold_tables.PAPER_ERROR)


class RemainingTest(unittest.TestCase):
    def test_a_share_of_the_parameters_stays_where_it_was_loaded(self):
        lanes = [[{"of": "a", "from": "dram", "to": "gpu1"}, {"of": "c", "from": "dram", "to": "gpu1"}],
                 [{"of": "c", "from": "gpu1", "to": "gpu2"}]]
        schedule = {"weights": {"lanes": lanes, "in_place": {"b": "dram"}}}
        self.assertEqual(cold_remaining.remain(schedule, "abc", 0), schedule)
        half = cold_remaining.remain(schedule, "abc", 50)["weights"]
        self.assertEqual((half["lanes"], half["in_place"]), ([lanes[0][:1]], {"b": "dram"}))
        self.assertEqual(half["resident"], [{"of": "c", "on": "gpu1"}, {"of": "c", "on": "gpu2"}])
        self.assertEqual(cold_remaining.remain(schedule, "abc", 100)["weights"]["lanes"], [])


class SharedTest(FolderTest):
    def test_a_sibling_shares_the_labels_of_all_but_its_last_layers(self):
        names = [cold_shared.labelled(name, 1, 32, SERVERS["v100"].kinds) for name, _ in cold_shared.SIBLINGS]
        base, tuned, other = ({op["parameters"]: op["parameter_bytes"] for op in graph["operators"] if op.get("parameters")}
                       for graph in names)
        self.assertNotEqual(names[0]["name"], names[1]["name"])
        self.assertEqual(sum(base.values()), parameters(names[0]))
        common = sum(size for label, size in base.items() if label in tuned)
        self.assertTrue(0.7 < common / sum(base.values()) < 0.85)
        self.assertEqual(set(tuned) & set(other), set(tuned) & set(base))
        self.assertIn("GPT2-xl tokens", tuned)
        apart = cold_shared.labelled("GPT2-xl tuned 1", 1, 32, SERVERS["v100"].kinds, apart=True)
        self.assertFalse({op.get("parameters") for op in apart["operators"]} & set(base))

    def test_labels_of_different_models_differ(self):
        labels = [{op.get("parameters") for op in cold_shared.labelled(name, 1, 32, SERVERS["v100"].kinds)["operators"]} - {None}
                  for name, _ in cold_shared.SETS["three decoders"]]
        self.assertFalse(labels[0] & labels[1] or labels[0] & labels[2] or labels[1] & labels[2])

    def test_the_program_plans_what_is_kept(self):
        found = cold_shared.Shared("siblings", 1, 32, "v100")
        with unittest.mock.patch.object(cold_shared, "OPTIONS", ("exchanges=1", "iterations=1", "islands=1", "threads=1")), \
                unittest.mock.patch.object(cold_shared, "SETS", {"siblings": (("GPT2-large", 1), ("GPT2-large tuned", 3))}), \
                unittest.mock.patch.object(cold_shared, "LIMIT_S", 1):
            rows = {row["algorithm"]: row for row in found.answers(Programs(os.environ["HIOS_BIN_DIR"]))}
        planned, nothing = float(rows["planned"]["expected_ms"]), float(rows["nothing"]["expected_ms"])
        self.assertLess(planned, 0.8 * nothing)
        self.assertLessEqual(float(rows["planned"]["bound_ms"]), planned)
        self.assertLessEqual(float(rows["planned"]["kept_gb"]), 4 * cold_shared.KEEP_GB)

    def test_a_keeping_that_leaves_a_model_no_room_is_a_row_that_says_so(self):
        kept = [kind for kind in cold_shared.KINDS if kind != "whole models by share"]
        found = {"devices": ["gpu1"], "lower_bound_ms": 3.0, "seconds": 1.0,
                 "compared": [{"kept": kind, "expected_ms": 4.0, "bytes": 5, "latencies_ms": [4.0]} for kind in kept]}
        programs = unittest.mock.Mock(json=unittest.mock.Mock(return_value=found))
        call = cold_shared.Shared("siblings", 1, 32, "v100")
        cold_calls.store_of(self.folder, "shared").add(call.answers(programs))
        store = cold_calls.store_of(self.folder, "shared")
        self.assertTrue(all(store.has(**key) for key in call.keys()), "it is not planned again")
        row = store.get(**call.key("whole models by share"))
        self.assertEqual((row["outcome"], row["expected_ms"], row["kept_gb"]), ("no room", "", ""))
        self.assertIn("| siblings | (1, 32) | 4.0 | no room | 4.0 | 4.0 | 3.0 | 33.3 |", cold_tables.page(self.folder))

    def test_the_planned_keeping_is_the_best_of_those_compared(self):
        rows = list(cold_calls.store_of(RESULTS / "study", "shared").rows.values())
        self.assertEqual(len(rows), 4 * len(PARTS["shared"](SIZES["full"], 8)))
        for row in (row for row in rows if row["outcome"] != cold_shared.NO_ROOM):
            planned = next(each for each in rows if each["algorithm"] == "planned"
                           and all(each[name] == row[name] for name in ("model", "batch", "sequence", "server")))
            self.assertLessEqual(float(planned["expected_ms"]), float(row["expected_ms"]))
            self.assertLessEqual(float(row["bound_ms"]), float(row["expected_ms"]))


class TablesTest(FolderTest):
    def test_the_file_of_tables_is_that_of_the_results(self):
        for file in (RESULTS / "study").glob("cold-*.csv"):
            shutil.copy(file, self.folder)
        self.assertEqual(cold_tables.page(self.folder), (RESULTS / "study" / cold_tables.FILE).read_text())

    def test_an_empty_folder_has_tables_without_figures(self):
        self.assertIn("| `best` |  |  |", cold_tables.page(self.folder))

    def test_no_plan_is_below_its_bound(self):
        rows = cold_tables.Answers(RESULTS / "study", "starts").rows.values()
        self.assertGreater(len(rows), 500)
        for row in rows:
            if row["bound_ms"]:
                self.assertGreaterEqual(float(row["latency_ms"]), float(row["bound_ms"]) * (1 - 1e-5), row)


if __name__ == "__main__":
    unittest.main()

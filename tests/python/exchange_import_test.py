"""IOS's files, the mapping of their nodes to a model's operators, and schedules of them."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from exchange_fixtures import small_graph, small_ios, small_merged_graph, write
from hios.command import main
from hios.errors import InputError
from hios.exchange import imports, ios_file, matching, translate


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def read(self, content):
        return ios_file.read(write(self.folder, "ios.json", content))

    def refused(self, content, *words):
        with self.assertRaises(InputError) as caught:
            self.read(content)
        for word in ("ios.json", *words):
            self.assertIn(word, str(caught.exception))


class IosFiles(InFolder):
    def test_reads_nodes_edges_and_stages(self):
        graph = self.read(small_ios(merged=False))
        self.assertEqual(list(graph.nodes), list("12345678"))
        self.assertEqual(graph.nodes["7"].inputs, ["2", "4", "6"])
        self.assertEqual(graph.nodes["1"].inputs, [])
        self.assertEqual(graph.input_shape, (8, 16, 16))
        self.assertEqual(graph.stages, [[["1"]], [["2"], ["3", "4"], ["5", "6"]], [["7"]], [["8"]]])
        self.assertEqual(graph.merged, {})

    def test_takes_merged_convolutions_apart(self):
        merged, apart = self.read(small_ios()), self.read(small_ios(merged=False))
        self.assertEqual(merged.merged, {"2": ["2", "3"]})
        self.assertEqual(merged.nodes, apart.nodes)

    def test_flattens_sequences(self):
        content = small_ios(merged=False)
        relu = {"type": "relu", "name": "4a", "hint_name": "4a", "inputs": [[["3", 0, 8]]], "output_shape": [8, 16, 16]}
        four = content["blocks"][1]["inner_nodes"][2]
        content["blocks"][1]["inner_nodes"][2] = {"type": "sequential", "name": "4", "hint_name": "4",
                                                 "nodes": [relu, {**four, "name": "4b", "inputs": [[["4a", 0, 8]]]}],
                                                 "output_shape": [8, 16, 16]}
        node = self.read(content).nodes["4"]
        self.assertEqual(node.inputs, ["3"])
        self.assertEqual([str(each) for each in node.layers], ["Relu", "Conv 8 k3x3 s1x1 p1x1", "Relu"])

    def test_refuses_bad_files_with_file_and_path(self):
        self.refused([], "$: an object is wanted")
        self.refused({"name": "a"}, '$: "input" is missing')
        content = small_ios()
        content["blocks"][1]["inner_nodes"][0]["type"] = "lstm"
        self.refused(content, "$.blocks[1].inner_nodes[0].type: 'lstm' is unknown here; known: conv, pool")
        content = small_ios()
        content["blocks"][1]["inner_nodes"][0]["kernel"] = [1]
        self.refused(content, "$.blocks[1].inner_nodes[0].kernel: 2 numbers are wanted")
        content["blocks"][1]["inner_nodes"][0]["kernel"] = [1, True]
        self.refused(content, "kernel[1]: a whole number is wanted")
        content = small_ios()
        content["blocks"][1]["stages"][0] = [["2"], ["2"]]
        self.refused(content, "$.blocks[1].stages[0][1][0]: '2' is there twice")
        content["blocks"][1]["stages"][0] = [["8"]]
        self.refused(content, "'8' is no node of this block")
        content["blocks"][1]["stages"][0] = []
        self.refused(content, "$.blocks[1].stages: lacks 2")
        content = small_ios(merged=False)
        content["blocks"][1]["inner_nodes"][1]["act"] = []
        self.refused(content, "inner_nodes[1].act: a text of one line is wanted")
        content = small_ios(merged=False)
        content["blocks"][1]["inner_nodes"][1]["name"] = "2"
        self.refused(content, "node '2' is there twice")
        content = small_ios(merged=False)
        content["blocks"][1]["inner_nodes"][2]["inputs"] = [[["9", 0, 8]]]
        self.refused(content, "node '4' reads '9', and there is no such node")
        content["blocks"][1]["inner_nodes"][2]["inputs"] = [[["3", 0, 9]]]
        self.refused(content, "node '4' reads channels 0 to 9 of '3', which has 8")

    def test_refuses_sequences_that_are_nested_too_deeply(self):
        content, inner = small_ios(), {"type": "relu"}
        for _ in range(2000):
            inner = {"type": "sequential", "nodes": [inner]}
        content["blocks"][1]["inner_nodes"][0] |= inner
        with mock.patch.object(ios_file, "read_json", return_value=content):
            with self.assertRaisesRegex(InputError, "ios.json: nested too deeply"):
                ios_file.read("ios.json")

    def test_refuses_parts_that_no_merge_explains(self):
        content = small_ios()
        content["blocks"][1]["inner_nodes"][1]["inputs"] = [[["2", 10, 16]]]
        self.refused(content, "node '2' has 16 channels, and its consumers read 0 to 8, 10 to 16")
        content = small_ios()
        content["blocks"][1]["inner_nodes"][0]["hint_name"] = "2 3 9"
        self.refused(content, "node '2' was merged of 3 (2 3 9), and its consumers read 2 ranges")
        content["blocks"][1]["inner_nodes"][0]["hint_name"] = "2 4"
        self.refused(content, "node '2' was merged of '4', which is another node, too")

    def test_refuses_what_is_no_json(self):
        for text in (b"{", b'{"name": 1, "name": 2}', b"[NaN]", b"1" + b"0" * 400, b'"\\ud800"', b'"\xed\xa0\x80"',
                     b"\xff\xfe1\0"):
            (self.folder / "ios.json").write_bytes(text)
            with self.assertRaisesRegex(InputError, "ios.json: no JSON file"):
                ios_file.read(self.folder / "ios.json")
        with self.assertRaisesRegex(InputError, "absent.json: No such file"):
            ios_file.read(self.folder / "absent.json")


class Matching(InFolder):
    def test_maps_nodes_by_layers_inputs_and_consumers(self):
        pairs = matching.match(self.read(small_ios()), small_graph())
        self.assertEqual(pairs, {"1": "conv_1", "2": "conv_2", "3": "conv_3", "4": "conv_4", "5": "pool_5", "6": "conv_6",
                                 "7": "concat_7", "8": "pool_8"})

    def test_needs_no_equal_order(self):
        # "2" and "3" compute the same, and only their consumers tell them apart.
        graph = small_graph()
        graph.nodes = {name: graph.nodes[name] for name in reversed(graph.nodes)}
        self.assertEqual(matching.match(self.read(small_ios()), graph)["2"], "conv_2")

    def test_pairs_operators_that_are_alike_in_order(self):
        graph, other = small_graph(), small_graph()
        for each in (graph, other):  # conv_6 as conv_2, both read by the concat alone
            each.nodes["conv_6"] = type(each.nodes["conv_2"])(**{**vars(each.nodes["conv_2"]), "name": "conv_6"})
        pairs = matching.match(graph, other)
        self.assertEqual(pairs, {name: name for name in graph.nodes})

    def refused_with(self, content, graph, node, words):
        with self.assertRaises(matching.NoMatch) as caught:
            matching.match(self.read(content), graph)
        self.assertEqual(caught.exception.node, node)
        self.assertIn(words, str(caught.exception))

    def test_names_a_node_without_operator(self):
        content = small_ios(merged=False)
        content["blocks"][1]["inner_nodes"][4]["kernel"] = [3, 3]
        self.refused_with(content, small_graph(), "6",
                          "no operator like it (Conv 4 k3x3 s1x1 p0x0 + Relu, output 4x16x16)")
        graph = small_graph()
        graph.nodes["conv_3"].shape = (8, 8, 8)
        self.refused_with(small_ios(), graph, "2", "there are 2 like it")
        graph = small_graph()
        graph.nodes["conv_4"].inputs = ["conv_2"]
        self.refused_with(small_ios(), graph, "1", "operators like it have other inputs or consumers")

    def test_names_operators_that_the_file_lacks(self):
        graph = small_graph()
        graph.nodes["relu_9"] = type(graph.nodes["pool_8"])("relu_9", ["Relu"], (20, 1, 1), ["pool_8"], ["last"], ["Relu"])
        self.refused_with(small_ios(), graph, None, "it has 8 operators, and the model 9")


class Translation(InFolder):
    def test_runs_members_one_after_the_other_where_they_are_apart(self):
        graph = self.read(small_ios())
        stages = translate.stages_apart(graph, translate.pair("f", graph, small_graph()))
        self.assertEqual(stages, [[["conv_1"]], [["conv_2", "conv_3"]], [["conv_4"], ["pool_5", "conv_6"]], [["concat_7"]],
                                  [["pool_8"]]])

    def merged(self, graph, merged):
        pairs = translate.pair("f", graph, small_graph())
        sets = translate.merged_sets("f", graph, pairs, small_graph())
        self.assertEqual(sets, {"2": ["left", "mid"]})
        return translate.stages_merged(graph, pairs, small_graph(), merged, sets)

    def test_places_a_slice_before_its_only_consumer(self):
        stages = self.merged(self.read(small_ios()), small_merged_graph())
        self.assertEqual(stages, [[["conv_1"]], [["conv_2"]], [["move_3", "conv_4"], ["pool_5", "conv_6"]], [["concat_7"]],
                                  [["pool_8"]]])
        translate.check_complete("f", stages, small_merged_graph())

    def test_places_a_slice_of_several_consumers_after_the_convolution(self):
        graph = small_merged_graph()
        graph.nodes["pool_8"].inputs.append("move_3")
        self.assertEqual(self.merged(self.read(small_ios()), graph)[1], [["conv_2", "move_3"]])

    def test_refuses_stages_that_lack_an_operator(self):
        with self.assertRaisesRegex(InputError, "f: .*move_3 of small has no place"):
            translate.check_complete("f", [[[name for name in small_merged_graph().nodes if name != "move_3"]]],
                                     small_merged_graph())

    def test_refuses_to_merge_larger_kernels(self):
        content = small_ios()
        content["blocks"][1]["inner_nodes"][0].update(kernel=[3, 3], padding=[1, 1])
        graph = self.read(content)
        pairs = translate.pair("f", graph, small_graph())
        self.assertEqual(pairs["3"], "conv_3")
        with self.assertRaisesRegex(InputError, "node '2': merges convolutions .* larger than 1x1.*--merge none"):
            translate.merged_sets("f", graph, pairs, small_graph())

    def test_folds_groups_onto_fewer_streams(self):
        stages = [[["a"], ["b", "c"], ["d"], ["e"]], [["f"]]]
        self.assertEqual(translate.fold(stages, 2), [[["a", "d", "e"], ["b", "c"]], [["f"]]])
        self.assertEqual(translate.fold(stages, 4), stages)


class FakeSchedules:
    """hios-schedule for the small network."""
    merges = []

    def __init__(self, flags):
        self.flags = list(map(str, flags))

    def graph(self, merge="none"):
        self.merges.append(merge)
        return small_graph() if merge == "none" else small_merged_graph()


class Command(InFolder):
    def run_import(self, *words, content=None):
        file = write(self.folder, "ios.json", content or small_ios())
        out, err = io.StringIO(), io.StringIO()
        with mock.patch.object(imports, "Schedules", FakeSchedules), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(err):
            status = main(["import", file, "--model", "small.json", "-o", str(self.folder / "s.json"), *words])
        return status, out.getvalue() + err.getvalue()

    def written(self):
        return json.loads((self.folder / "s.json").read_text())

    def test_writes_a_schedule(self):
        status, said = self.run_import("--threads", "2")
        self.assertEqual(status, 0, said)
        self.assertIn("8 operators in 5 stages, at most 2 groups at once, 1 merged convolution\n", said)
        self.assertIn("hios check", said)
        self.assertIn("--model small.json --batch 1 --height 16 --width 16 --merge siblings", said)
        schedule = self.written()
        self.assertEqual(schedule["graph"], {"name": "small", "digest": "0" * 32, "batch": 1, "height": 16, "width": 16,
                                             "merge": "siblings"})
        device = schedule["devices"][0]
        self.assertEqual((device["name"], device["kind"], device["threads"], device["streams"]), ("cpu0", "cpu", 2, 2))
        self.assertEqual(device["stages"][2], [["move_3", "conv_4"], ["pool_5", "conv_6"]])

    def test_takes_apart_on_request(self):
        status, said = self.run_import("--merge", "none", "--streams", "1")
        self.assertEqual(status, 0, said)
        self.assertIn("taken apart; 1 stages have more groups than streams", said)
        self.assertNotIn("merge", self.written()["graph"])
        self.assertEqual(self.written()["devices"][0]["stages"][2], [["conv_4", "pool_5", "conv_6"]])

    def test_keeps_a_file_that_exists(self):
        self.assertEqual(self.run_import()[0], 0)
        status, said = self.run_import()
        self.assertEqual(status, 2)
        self.assertIn("s.json: exists; choose another name or replace it with --force", said)
        self.assertEqual(self.run_import("--force")[0], 0)

    def test_words_that_are_wrong_are_one_line(self):
        for words, message in ((["--streams", "0"], "argument --streams: '0': a whole number is wanted, at least 1"),
                               (["--merg", "none"], "unrecognized arguments: --merg none"),
                               (["--merge", "all"], "argument --merge: invalid choice: 'all'")):
            status, said = self.run_import(*words)
            self.assertEqual((status, said.count("\n")), (2, 1), said)
            self.assertIn(message, said)
            self.assertIn("see hios import --help", said)

    def test_names_the_node_that_cannot_be_mapped(self):
        content = small_ios()
        content["blocks"][1]["inner_nodes"][3]["out_channels"] = 5
        status, said = self.run_import(content=content)
        self.assertEqual(status, 2)
        self.assertIn("node '6': cannot be mapped to the model small: the model has no operator like it", said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertFalse((self.folder / "s.json").exists())


if __name__ == "__main__":
    unittest.main()

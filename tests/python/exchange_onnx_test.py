"""ONNX files by the wire, plans of their nodes, and what other systems get. bench/exchange.sh has the systems read them."""

import contextlib
import io
import json
import unittest
from unittest import mock

from exchange_fixtures import graph, small_graph, small_merged_graph, window, write
from exchange_import_test import InFolder
from hios.command import main
from hios.errors import InputError
from hios.exchange import devices, exports, onnx_wire as wire, partition
from hios.exchange.model import Operator
from hios.exchange.plan import operators_of_nodes, plan, split_merged


def node(op_type, inputs, output, name=None, more=b""):
    return b"".join([*[wire.text_field(wire.NODE_INPUT, each) for each in inputs], wire.text_field(wire.NODE_OUTPUT, output),
                     wire.text_field(wire.NODE_NAME, output if name is None else name),
                     wire.text_field(wire.NODE_OP_TYPE, op_type), more])


def onnx(nodes, weights=(), ir_version=8, after=b""):
    """A model with the input "input", weights by name, and these nodes."""
    inputs = [wire.bytes_field(wire.GRAPH_INPUT, wire.text_field(1, each)) for each in ("input", *weights)]
    values = [wire.bytes_field(wire.GRAPH_INITIALIZER, wire.text_field(wire.TENSOR_NAME, each)) for each in weights]
    body = b"".join([*[wire.bytes_field(wire.GRAPH_NODE, each) for each in nodes], wire.text_field(2, "small"), *values,
                     *inputs])
    return wire.number_field(wire.MODEL_IR_VERSION, ir_version) + wire.bytes_field(wire.MODEL_GRAPH, body) + after


SMALL = [node("Conv", ["input", "w"], "stem"), node("Relu", ["stem"], "stem_relu"),
         node("Conv", ["stem_relu", "w"], "left"), node("Relu", ["left"], "left_relu"),
         node("Conv", ["stem_relu", "w"], "mid"), node("Relu", ["mid"], "mid_relu"),
         node("Conv", ["mid_relu", "w"], "mid2"), node("Relu", ["mid2"], "mid2_relu"),
         node("AveragePool", ["stem_relu"], "pool"),
         node("Conv", ["pool", "w"], "pooled"), node("Relu", ["pooled"], "pooled_relu"),
         node("Concat", ["left_relu", "mid2_relu", "pooled_relu"], "join"), node("GlobalAveragePool", ["join"], "head")]


def schedule(merged=False):
    middle = [["move_3", "conv_4"], ["pool_5", "conv_6"]] if merged else [["conv_3", "conv_4"], ["pool_5"]]
    return {"format": "hios-schedule", "version": 1,
            "graph": {"name": "small", "digest": "0" * 32, "batch": 1, "height": 16, "width": 16,
                      **({"merge": "siblings"} if merged else {})},
            "devices": [
                {"name": "cpu0", "kind": "cpu", "threads": 1, "streams": 2,
                 "stages": [[["conv_1"]], [["conv_2"]], middle, [["concat_7"]], [["pool_8"]]]},
                {"name": "cpu1", "kind": "cpu", "threads": 1, "streams": 1, "stages": [] if merged else [[["conv_6"]]]}]}


class Wire(unittest.TestCase):
    def test_reads_nodes_and_sources(self):
        read = wire.parse(onnx(SMALL, ["w"]), "net.onnx")
        self.assertEqual([each.label() for each in read.nodes[:3]], ["stem", "stem_relu", "left"])
        self.assertEqual(read.nodes[11].inputs, ["left_relu", "mid2_relu", "pooled_relu"])
        self.assertEqual(read.sources, {"input"})
        self.assertFalse(read.external)
        self.assertEqual(wire.read_node(memoryview(node("Relu", ["x"], "y", name=""))).label(), "y")

    def test_numbers_take_any_length(self):
        for value in (0, 1, 127, 128, 300, 2**31, 2**63):
            self.assertEqual(wire.read_varint(wire.varint(value), 0), (value, len(wire.varint(value))))

    def test_refuses_other_files(self):
        good = onnx(SMALL, ["w"])
        for bad in (b"", b"PK\3\4 a zip", good[:-5], good + b"\x0a", b"\xff" * 12, wire.number_field(wire.MODEL_GRAPH, 1)):
            with self.assertRaisesRegex(InputError, "net.onnx: no ONNX file"):
                wire.parse(bad, "net.onnx")

    def test_every_changed_byte_is_a_file_or_refused(self):
        good = self.annotate(onnx(SMALL, ["w"]), "a")
        for at in range(len(good)):
            for change in (1, 8, 0x7F):
                data = good[:at] + bytes([good[at] ^ change]) + good[at + 1:]
                try:
                    self.annotate(data, "a")
                except (InputError, wire.BadMessage):
                    pass

    def test_texts_and_messages_are_no_numbers(self):
        for number in (1 << 60, 5):
            with self.assertRaises(wire.BadMessage):
                wire.text(number)
            with self.assertRaises(wire.BadMessage):
                list(wire.fields(number))

    def annotate(self, data, name):
        return wire.annotated(wire.parse(data, "f"), wire.text_field(1, name), lambda i: wire.text_field(1, name))

    def test_keeps_all_other_fields_and_replaces_its_own(self):
        unknown = wire.text_field(14, "metadata") + bytes([13 << 3 | 5, 1, 2, 3, 4])
        data = onnx(SMALL, ["w"], after=unknown)
        once = self.annotate(data, "a")
        self.assertIn(unknown, once)
        self.assertEqual(wire.parse(once, "f").nodes, wire.parse(data, "f").nodes)
        self.assertEqual(self.annotate(once, "a"), once)
        both = self.annotate(once, "b")
        self.assertEqual(self.annotate(both, "b"), both)
        fields = list(wire.fields(memoryview(both)))
        self.assertEqual([value for number, value, _ in fields if number == wire.MODEL_IR_VERSION], [11])
        self.assertEqual([bytes(value) for number, value, _ in fields if number == wire.MODEL_CONFIGURATION],
                         [wire.text_field(1, "a"), wire.text_field(1, "b")])

    def test_keeps_a_later_version(self):
        later = self.annotate(onnx(SMALL, ["w"], ir_version=13), "a")
        self.assertEqual(next(wire.fields(memoryview(later)))[1], 13)


class Plans(unittest.TestCase):
    def operators(self, nodes, operators):
        read = wire.parse(onnx(nodes, ["w"]), "f")
        return operators_of_nodes(read.nodes, graph(operators), read.sources)

    def test_nodes_belong_to_the_operators_of_their_layers(self):
        read = wire.parse(onnx(SMALL, ["w"]), "f")
        self.assertEqual(operators_of_nodes(read.nodes, small_graph(), read.sources),
                         ["conv_1", "conv_1", "conv_2", "conv_2", "conv_3", "conv_3", "conv_4", "conv_4", "pool_5", "conv_6",
                          "conv_6", "concat_7", "pool_8"])

    def test_merged_convolutions_hold_the_nodes_of_all(self):
        read = wire.parse(onnx(SMALL, ["w"]), "f")
        operators = operators_of_nodes(read.nodes, small_merged_graph(), read.sources)
        self.assertEqual(operators[2:6], ["conv_2", "concat_7", "conv_2", "move_3"])
        self.assertEqual(split_merged("a+b+c/activation", {"a", "b+c", "b", "c"}), ["a", "b+c"])
        self.assertEqual(split_merged("a+b", {"a"}), [])

    def test_scales_go_with_their_convolution(self):
        nodes = [node("Conv", ["input", "w"], "conv"), node("BatchNormalization", ["conv", "w"], "norm"),
                 node("Mul", ["norm", "w"], "mul"), node("Relu", ["mul"], "other")]
        operators = [Operator("a", [window("Conv", 4, 1)], (4, 1, 1), [], ["conv"], ["Conv"]),
                     Operator("b", ["Relu"], (4, 1, 1), ["a"], ["other"], ["Relu"])]
        self.assertEqual(self.operators(nodes, operators), ["a", "a", "a", "b"])

    def test_long_chains_of_scales_belong_to_their_convolution(self):
        chain = [wire.OnnxNode("c0", "Conv", ["input"], ["c0"])]
        chain += [wire.OnnxNode(f"c{i}", "Mul", [f"c{i - 1}", "w"], [f"c{i}"]) for i in range(1, 3000)]
        found = operators_of_nodes(chain, graph([Operator("conv_1", ["Conv"], (4, 1, 1), [], ["c0"], ["Conv"])]), {"input"})
        self.assertEqual(found, ["conv_1"] * 3000)

    def test_constants_and_nodes_of_a_pattern_go_with_their_consumers(self):
        nodes = [node("Conv", ["input", "w"], "conv"), node("Sigmoid", ["conv"], "sigmoid"),
                 node("Constant", [], "constant"), node("Mul", ["conv", "sigmoid"], "silu"),
                 node("Reshape", ["silu", "constant"], "view"), node("Relu", ["view"], "left"), node("Abs", ["view"], "right")]
        operators = [Operator("a", [], (4, 1, 1), [], ["conv"], ["Conv"]), Operator("b", [], (4, 1, 1), [], ["silu"], ["Silu"]),
                     Operator("c", [], (4, 1, 1), [], ["left"], ["Relu"]), Operator("d", [], (4, 1, 1), [], ["right"], ["Abs"])]
        self.assertEqual(self.operators(nodes, operators), ["a", "b", "b", "b", "b", "c", "d"])

    def refused(self, change, *words):
        changed = schedule()
        change(changed["devices"][0]["stages"])
        with self.assertRaises(InputError) as caught:
            plan(changed, "s.json", small_graph(), wire.parse(onnx(SMALL, ["w"]), "f"))
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_refuses_schedules_that_nodes_cannot_follow(self):
        self.refused(lambda stages: stages[0][0].append({"operator": "conv_2", "inputs": [0, 1]}),
                     "s.json: $.devices[0].stages[0][0]: 'conv_2' is divided")
        self.refused(lambda stages: stages[0][0].append("conv_9"), "the model has no operator 'conv_9'")
        self.refused(lambda stages: stages[0][0].append("conv_2"), "'conv_2' is there twice")
        self.refused(lambda stages: stages[0][0].clear(),
                     "'conv_1' is on no device (and 0 more); a schedule has every operator once")


class Files(InFolder):
    def planned(self, merged=False, nodes=SMALL):
        read = wire.parse(onnx(nodes, ["w"]), "f")
        return plan(schedule(merged), "s.json", small_merged_graph() if merged else small_graph(), read), read

    def test_a_partition_has_a_stream_for_each_group_of_a_device(self):
        planned, read = self.planned()
        self.assertEqual(json.loads(partition.partition(planned, read.nodes, "f")), {
            "type": "DeviceBasedPartitioner",
            "streams": [["stem", "stem_relu", "left", "left_relu", "mid", "mid_relu", "mid2", "mid2_relu", "join", "head"],
                        ["pool"], ["pooled", "pooled_relu"]],
            "devices": ["0", "0", "0"]})
        planned.devices[1]["kind"] = "gpu"
        self.assertEqual(json.loads(partition.partition(planned, read.nodes, "f"))["devices"], ["0", "0", "1"])
        planned.devices[0]["kind"] = "gpu"
        with self.assertRaisesRegex(InputError, "uses cpu0 and cpu1, and a session of ONNX Runtime has one GPU"):
            partition.partition(planned, read.nodes, "f")

    def test_a_partition_needs_names(self):
        for name, words in (("", "the node of 'left' has no name"), ("stem", "two nodes have the name 'stem'")):
            nodes = list(SMALL)
            nodes[2] = node("Conv", ["stem_relu", "w"], "left", name=name)
            planned, read = self.planned()
            with self.assertRaisesRegex(InputError, f"{words}.*--export-onnx"):
                partition.partition(planned, wire.parse(onnx(nodes, ["w"]), "f").nodes, "f")

    def test_nodes_name_their_device(self):
        planned, read = self.planned()
        data = devices.with_devices(planned, read, "hios")
        graph_field = next(value for number, value, _ in wire.fields(memoryview(data)) if number == wire.MODEL_GRAPH)
        nodes = [value for number, value, _ in wire.fields(graph_field) if number == wire.GRAPH_NODE]

        def of_node(data):
            configuration = next(value for number, value, _ in wire.fields(data) if number == wire.NODE_DEVICE_CONFIGURATIONS)
            specs = [dict((key, each) for key, each, _ in wire.fields(value))
                     for number, value, _ in wire.fields(configuration) if number == devices.NODE_SHARDING]
            return [(wire.text(spec[1]), bytes(spec[2])) for spec in specs]

        shardings = [of_node(each) for each in nodes]
        self.assertEqual(shardings[0], [("input", b"\0"), ("w", b"\0"), ("stem", b"\0")])
        self.assertEqual(shardings[9], [("pool", b"\1"), ("w", b"\1"), ("pooled", b"\1")])

    def test_stages_of_a_pipeline_follow_the_blocks(self):
        planned, read = self.planned()
        with self.assertRaisesRegex(InputError, "s.json: the blocks of its devices form a cycle"):
            devices.pipeline_stages(planned, read.nodes, "s.json")  # pool, pooled, join
        for each in planned.placements[:11]:
            each.device = 1
        planned.placements[11].device = planned.placements[12].device = 0
        self.assertEqual(devices.pipeline_stages(planned, read.nodes, "s.json"), {1: 0, 0: 1})

    def run_export(self, to, *words, digest="0" * 32, data=None, side=16):
        (self.folder / "net.onnx").write_bytes(onnx(SMALL, ["w"]) if data is None else data)
        content = schedule()
        content["graph"] |= {"digest": digest, "height": side, "width": side}
        file, out = write(self.folder, "s.json", content), io.StringIO()
        fake = mock.Mock(return_value=mock.Mock(graph=mock.Mock(return_value=small_graph())))
        with mock.patch.object(exports, "Schedules", fake), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main(["export", str(self.folder / "net.onnx"), "--schedule", file, "--to", to, *words])
        return status, out.getvalue(), fake.call_args

    def test_the_command_writes_both(self):
        status, said, asked = self.run_export("onnxruntime", "-o", str(self.folder / "p.cfg"), "--model", "small.json")
        self.assertEqual(status, 0)
        self.assertEqual(asked.args[0][:8], ["--model", "small.json", "--batch", 1, "--height", 16, "--width", 16])
        self.assertIn("3 streams", said)
        *_, asked = self.run_export("onnxruntime", "-o", str(self.folder / "v.cfg"), side=1)
        self.assertEqual(asked.args[0][2:], ["--batch", 1], "inputs that are no images have no height and width")
        self.assertEqual(len(json.loads((self.folder / "p.cfg").read_text())["streams"]), 3)
        status, said, _ = self.run_export("onnx", "-o", str(self.folder / "d.onnx"))
        self.assertEqual((status, said), (0, "13 nodes on 2 devices, as the device configuration 'hios'\n"))

    def test_the_command_refuses_what_does_not_fit(self):
        output = ["-o", str(self.folder / "p.cfg")]
        status, said, _ = self.run_export("onnx", *output, digest="1" * 32)
        self.assertEqual(status, 2)
        self.assertIn("made for another graph", said)
        status, said, _ = self.run_export("onnx", *output, data=b"no")
        self.assertIn("net.onnx: no ONNX file", said)
        damaged = onnx(SMALL, ["w"], after=wire.bytes_field(wire.MODEL_CONFIGURATION, b"\xff"))
        status, said, _ = self.run_export("onnx", *output, data=damaged)
        self.assertIn("net.onnx: no ONNX file: its device configurations are damaged", said)
        status, said, _ = self.run_export("onnx", "-o", str(self.folder / "net.onnx"), "--force")
        self.assertIn("is the network itself", said)
        status, said, _ = self.run_export("onnx", "-o", str(self.folder / "net.onnx"))
        self.assertIn("net.onnx: exists", said)
        self.assertEqual(said.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()

"""bench/gpu/model_file.py reads the files of hios-schedule --export-model, and finds the same network."""

import json
import os
import subprocess
import unittest
from pathlib import Path

import model_file
from support import FolderTest
from target import NETWORKS, SIZES, TINY

PROGRAM = Path(os.environ["HIOS_BIN_DIR"]) / "hios-schedule"


def model(*layers, shape=(1, 3, 8, 8)):
    return {"format": "hios-model", "version": 1, "name": "small", "input": {"shape": list(shape)}, "layers": list(layers)}


def layer(name, kind, *inputs, **more):
    return {"name": name, "type": kind, "inputs": list(inputs), **more}


class ExportedTest(FolderTest):
    def export(self, network, size):
        file = self.folder / f"{network}.json"
        subprocess.run([PROGRAM, "--model", network, "--height", str(size), "--export-model", file, "--force"], check=True)
        return model_file.read_model(file)

    def test_every_network_has_as_many_parameters_as_our_own_count(self):
        listed = self.folder / "list.json"
        subprocess.run([PROGRAM, "--list-models", "-q", "--json", listed], check=True)
        counts = {entry["name"]: entry["parameters"] for entry in json.loads(listed.read_text())["models"]}
        self.assertEqual(set(counts), set(NETWORKS))
        for network in NETWORKS:
            for size in (SIZES[network]["default"], TINY[network]):
                exported = self.export(network, size)
                self.assertEqual(exported.parameters(), counts[network], network)
                self.assertEqual(exported.input, (1, 3, size, size))
                self.assertEqual([layer.shape[2:] for layer in exported.layers if layer.name in exported.outputs()], [(1, 1)])


class ShapesTest(unittest.TestCase):
    def test_shapes_follow_onnx(self):
        read = model_file.model_of(model(
            layer("c", "Conv", "input", out_channels=6, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], group=3),
            layer("p", "MaxPool", "input", kernel_shape=[2, 2], strides=[2, 2]),
            layer("cat", "Concat", "c", "p"), layer("r", "Relu", "cat"), layer("s", "Add", "r", "cat"),
            layer("g", "GlobalAveragePool", "s")))
        self.assertEqual([each.shape for each in read.layers],
                         [(1, 6, 4, 4), (1, 3, 4, 4), (1, 9, 4, 4), (1, 9, 4, 4), (1, 9, 4, 4), (1, 9, 1, 1)])
        self.assertEqual(read.parameters(), 6 * 1 * 9 + 6)
        self.assertEqual(read.outputs(), ["g"])

    def test_layers_that_do_not_fit_are_refused(self):
        with self.assertRaises(KeyError):
            model_file.model_of(model(layer("s", "Sum", "input", "nobody")))
        pool = layer("p", "MaxPool", "input", kernel_shape=[2, 2], strides=[2, 2])
        for kind in ("Sum", "Concat"):
            with self.assertRaisesRegex(ValueError, "x: "):
                model_file.model_of(model(pool, layer("x", kind, "input", "p")))
        with self.assertRaisesRegex(ValueError, "Softmax"):
            model_file.model_of(model(layer("x", "Softmax", "input")))
        for attribute in ({"dilations": [2, 2]}, {"ceil_mode": True}, {"input_shapes": [[1, 3, 8, 8]]}):
            with self.assertRaisesRegex(ValueError, f"x: {next(iter(attribute))}"):
                model_file.model_of(model(layer("x", "MaxPool", "input", kernel_shape=[2, 2], **attribute)))
        with self.assertRaisesRegex(ValueError, "x: only channels"):
            model_file.model_of(model(layer("x", "Concat", "input", "input", axis="h")))
        with self.assertRaises(ValueError):
            model_file.model_of({"format": "hios-graph", "version": 1})


if __name__ == "__main__":
    unittest.main()

"""A schedule of ours for ONNX Runtime and as ONNX's device configurations, read back by our own programs."""

import json
import unittest

from exchange_programs import Programs


class Exported(Programs):
    def test_exports_are_read_back(self):
        self.hios("profile", "--ranks", 2, "--model", self.model, "--threads", 1, "--stages", "none", "--warmup", 1,
                  "--iterations", 2, "--output", self.file("p2.json"), "--oversubscribe")
        self.program("hios-run", "--model", self.model, "--export-onnx", self.file("small.onnx"))
        self.program("hios-schedule", "--model", self.model, "--profile", self.file("p2.json"), "--devices", 2,
                     "--algorithm", "inter-lp", "--output", self.file("two.json"))
        export = ["export", self.file("small.onnx"), "--model", self.model, "--schedule", self.file("two.json")]
        self.hios(*export, "--to", "onnxruntime", "-o", self.file("p.cfg"))
        partition = json.loads((self.folder / "p.cfg").read_text())
        nodes = json.loads(self.listed(self.file("small.onnx")))["operators"]
        self.assertEqual(sorted(name for stream in partition["streams"] for name in stream),
                         sorted(layer for each in nodes for layer in each["layers"]))
        self.hios(*export, "--to", "onnx", "-o", self.file("devices.onnx"))
        self.assertEqual(json.loads(self.listed(self.file("devices.onnx")))["operators"], nodes)
        self.hios(*export, "--to", "onnx", "-o", self.file("again.onnx"), "--configuration", "hios")
        self.assertEqual((self.folder / "again.onnx").read_bytes(), (self.folder / "devices.onnx").read_bytes())

    def listed(self, model):
        self.program("hios-schedule", "--model", model, "--list-operators", "--json", self.file("list.json"), "--force")
        return (self.folder / "list.json").read_text()


if __name__ == "__main__":
    unittest.main()

"""A schedule in IOS's format, made by hand, imported, checked and run."""

import json
import unittest
from pathlib import Path

from exchange_fixtures import small_ios, small_model, write
from exchange_programs import Programs


class Imported(Programs):
    def runs(self, schedule, merge):
        self.program("hios-run", "--model", self.model, *merge, "--schedule", schedule, "--verify=operators", "--warmup", 1,
                     "--iterations", 2, "--json", self.file("report.json"), "--force")
        verified = json.loads((self.folder / "report.json").read_text())["verified"]
        self.assertTrue(verified["passed"])
        self.assertTrue(verified["bitwise"])

    def imported(self, merge, content):
        """Imports the file, checks it with a profile, and runs it. Returns the schedule."""
        file, out = write(self.folder, "ios.json", content), self.file("s.json")
        self.hios("import", file, "--model", self.model, "-o", out, "--force", *merge)
        schedule = json.loads(Path(out).read_text())
        flags = ["--merge", out] if "merge" in schedule["graph"] else []
        self.profile(flags, 2, "p.json")
        said = self.hios("import", file, "--model", self.model, "-o", out, "--force", "--profile", self.file("p.json"), *merge)
        self.assertIn("ms", said)
        self.hios("check", out, "--model", self.model, *flags, "--profile", self.file("p.json"))
        self.runs(out, flags)
        return schedule

    def test_a_merged_schedule_runs(self):
        schedule = self.imported([], small_ios())
        self.assertEqual(schedule["graph"]["merge"], "siblings")
        self.assertEqual(schedule["devices"][0]["stages"],
                         [[["conv_1"]], [["conv_2"]], [["move_3", "conv_4"], ["pool_5", "conv_6"]], [["concat_7"]],
                          [["pool_8"]]])

    def test_a_schedule_runs_with_its_convolutions_apart(self):
        apart = self.imported([], small_ios(merged=False))
        self.assertNotIn("merge", apart["graph"])
        taken_apart = self.imported(["--merge", "none"], small_ios())
        self.assertEqual(taken_apart["graph"], apart["graph"])
        self.assertEqual(taken_apart["devices"][0]["stages"][1], [["conv_2", "conv_3"]])

    def test_some_sets_are_merged(self):
        # A third sibling stays apart, as IOS merges some of them.
        model, content = small_model(), small_ios()
        layers, inner = model["layers"], content["blocks"][1]["inner_nodes"]
        layers[-2:-2] = [{"name": "more", "type": "Conv", "inputs": ["stem_relu"], "out_channels": 8, "kernel_shape": [1, 1]},
                         {"name": "more_relu", "type": "Relu", "inputs": ["more"]}]
        layers[-2]["inputs"].append("more_relu")
        inner.append({**inner[0], "name": "9", "hint_name": "9", "out_channels": 8, "output_shape": [8, 16, 16]})
        join, head = content["blocks"][1]["exit_node"], content["blocks"][2]["exit_node"]
        join["inputs"].append([["9", 0, 8]])
        join["output_shape"][0] = head["output_shape"][0] = 28
        head["inputs"] = [[["7", 0, 28]]]
        content["blocks"][1]["stages"][1].append(["9"])
        type(self).model, before = write(self.folder, "more.json", model), self.model
        try:
            schedule = self.imported([], content)
        finally:
            type(self).model = before
        self.assertEqual(schedule["graph"]["merge"], [["left", "mid"]])
        self.assertEqual(schedule["devices"][0]["streams"], 3)

    def test_a_node_of_another_network_is_refused_by_name(self):
        content = small_ios()
        content["blocks"][1]["inner_nodes"][1]["stride"] = [2, 2]
        bad = write(self.folder, "bad.json", content)
        said = self.hios("import", bad, "--model", self.model, "-o", self.file("bad-s.json"), status=2)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn("node '4': cannot be mapped to the model small: the model has no operator like it", said)
        said = self.hios("import", self.file("ios-absent.json"), "--model", self.model, "-o", self.file("bad-s.json"), status=2)
        self.assertIn("ios-absent.json: No such file", said)


if __name__ == "__main__":
    unittest.main()

"""bench/onnx_networks: its list, the plan that alternates, the comparison's rules, and the table."""

import argparse
import json
import math
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import onnx_networks
import zoo_judge
import zoo_list
import zoo_tables
from markdown_tables import RESULTS


class ZooTest(unittest.TestCase):
    def test_the_list_is_long_and_names_each_network_once(self):
        networks = zoo_list.all_networks()
        self.assertGreaterEqual(len(networks), 140)
        self.assertEqual([name for name, times in Counter(each.key for each in networks).items() if times > 1], [])
        self.assertEqual({each.kind for each in networks}, set(zoo_tables.KINDS))
        opsets = Counter(each.opset for each in networks)
        self.assertEqual(set(opsets), {zoo_list.SCRIPT_OPSET, *zoo_list.NEW_OPSETS})
        self.assertGreater(min(opsets.values()), 15)

    def test_options_of_a_line_become_keywords(self):
        first, second = zoo_list.parsed("\n96 s/plain:128 deep+depth=2\n", "timm", "classifier")
        self.assertEqual((first.name, first.size, first.opset, first.more), ("plain", 128, 17, {}))
        self.assertEqual((second.name, second.size, second.more), ("deep+depth=2", 96, {"depth": "2"}))
        self.assertIn(second.opset, zoo_list.NEW_OPSETS)

    def test_the_plan_alternates_and_has_each_operator_once(self):
        listed = {"model": "net", "digest": "d", "operators": [{"name": name} for name in "abcde"]}
        plan = zoo_judge.alternating(listed)
        stages = [[stage[0][0] for stage in device["stages"]] for device in plan["devices"]]
        self.assertEqual(stages, [["a", "c", "e"], ["b", "d"]])
        self.assertEqual(plan["graph"], {"name": "net", "digest": "d"})

    def test_kinds_count_what_was_exported(self):
        common = {"kind": "classifier", "exported": True}
        rows = [{**common, "accepted": True, "difference": 1e-6, "within": True, "alternating": True, "lp": True,
                 "lp_operators": [3, 4]},
                {**common, "accepted": True, "difference": 3e-6, "within": True, "alternating": True, "lp": True,
                 "lp_operators": [7, 0]},
                {**common, "accepted": False, "line": "no"},
                {"kind": "classifier", "exported": False, "line": "torch says no"}]
        self.assertEqual(zoo_tables.row_of("classifiers", rows),
                         ["classifiers", 3, 2, "67 %", 2, "2.0e-06", "3.0e-06", "2 of 2", 1])

    def test_a_later_call_takes_the_rows_that_are_there_and_begins_none_after_its_time(self):
        first, second = zoo_list.parsed("\n96 done todo\n", "timm", "classifier")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / f"{first.key}.json").write_text('{"network": "of an earlier call"}')
            for again in (False, True):
                options = argparse.Namespace(minutes=-1, again=again, keep_files=True)
                self.assertEqual(onnx_networks.rows_of([first, second], options, Path(folder)), [{"network": "of an earlier call"}])

    def test_a_page_of_some_networks_says_of_how_many(self):
        results = {"versions": "PyTorch", "backend": "emulated-cuda", "of": 3, "rows": [{"network": "one", "kind": "video", "exported": False}]}
        self.assertIn("So far 1 of 3 networks.", zoo_tables.page(results))
        self.assertNotIn("So far", zoo_tables.page({**results, "of": 1}))

    def test_kept_rows_are_those_of_the_list(self):
        known = {each.key: each for each in zoo_list.all_networks()}
        for file in RESULTS.glob("onnx-networks*.json"):
            rows = json.loads(file.read_text())["rows"]
            for row in rows:
                self.assertEqual((row["kind"], row["opset"]), (known[row["network"]].kind, known[row["network"]].opset))
            for row in rows:
                if not row.get("accepted"):
                    continue
                self.assertTrue(row.get("alternating", True) and row.get("lp", True), row["network"])
                # Where a network amplifies rounding, ONNX Runtime or PyTorch differs as much.
                self.assertTrue(row.get("within") or zoo_judge.is_rounding(row), row["network"])

    def test_rounding_is_what_references_differ_by(self):
        def row(ours, plain, pytorch):
            return {"difference": ours, "plain_difference": plain, "pytorch_difference": pytorch}
        self.assertTrue(zoo_judge.is_rounding(row(2e-4, 1e-4, 0)))
        self.assertTrue(zoo_judge.is_rounding(row(2e-4, 0, 1e-4)))
        self.assertFalse(zoo_judge.is_rounding(row(2.1e-4, 1e-4, 1e-4)))
        self.assertFalse(zoo_judge.is_rounding(row(0.1, 1e-4, 0.1)))  # the file is another network

    def test_outputs_of_other_shapes_are_infinitely_far(self):
        one, other = SimpleNamespace(shape=(3,)), SimpleNamespace(shape=(3, 1))
        for wrong in ([], [one, one], [other]):
            self.assertEqual(zoo_judge.compare(None, wrong, [one]), (math.inf, False))

    def test_a_network_that_amplifies_rounding_is_said_to(self):
        row = {"network": "one", "kind": "video", "exported": True, "accepted": True, "within": False, "difference": 0.8,
               "plain_difference": 0.7, "pytorch_difference": 0.6, "choice": "--few"}
        page = zoo_tables.page({"versions": "PyTorch", "backend": "emulated-cuda", "of": 1, "rows": [row]})
        self.assertIn("- one: 8.0e-01; ONNX Runtime without its optimisations is 7.0e-01 away from it, PyTorch 6.0e-01", page)
        self.assertIn("1 of them chose their algorithms with `--few`", page)


if __name__ == "__main__":
    unittest.main()

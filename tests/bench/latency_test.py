"""bench/latency.py: the attempt that counts, and its results."""

import contextlib
import io
import json
import unittest
from pathlib import Path
from unittest import mock

import latency
from support import FolderTest, flag


class LatencyTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(latency, "ROOT", self.folder))
        self.enterContext(mock.patch.object(latency, "processor", lambda: "Some(R) CPU @ 2.50GHz"))
        self.compare = self.enterContext(mock.patch.object(latency.subprocess, "run", self.run_compare))
        self.moved, self.commands = [], []
        (self.folder / "bench").mkdir()

    def run_compare(self, command, **_):
        """In each call the one-core row varies by the next value of `moved`."""
        self.commands.append(command)
        moved = self.moved[len(self.commands) - 1]
        output = Path(flag(command, "--output"))
        output.mkdir(parents=True, exist_ok=True)
        (output / "summary.json").write_text(json.dumps({"reference_moved": moved}))
        return mock.Mock(stdout=f"\nrow  moved {moved}\n\nreports, traces: somewhere\n")

    def measure(self, *moved):
        self.moved = moved
        return latency.measure("squeezenet")

    def test_a_still_reference_needs_one_attempt(self):
        self.assertEqual(self.measure(0.03), ({"reference_moved": 0.03}, "row  moved 0.03"))
        self.assertEqual(len(self.commands), 1)
        self.assertEqual(flag(self.commands[0], "--model"), "squeezenet")

    def test_a_moving_one_is_measured_again_until_it_is_still(self):
        self.assertEqual(self.measure(0.2, 0.01)[0]["reference_moved"], 0.01)
        self.assertEqual(len(self.commands), 2)

    def test_the_measurement_that_moved_least_of_three_counts_with_its_table(self):
        self.assertEqual(self.measure(0.2, 0.05, 0.1), ({"reference_moved": 0.05}, "row  moved 0.05"))
        self.assertEqual(len(self.commands), 3)

    def test_results_are_kept_by_processor(self):
        self.moved = [0.01, 0.02]
        printed = io.StringIO()
        with mock.patch("sys.argv", ["latency.py", "squeezenet", "inception_v3"]), contextlib.redirect_stdout(printed):
            latency.main()
        stem = self.folder / "bench" / "results" / "latency-some-r-cpu-2-50ghz"
        self.assertEqual(json.loads(stem.with_suffix(".json").read_text()), {
            "processor": "Some(R) CPU @ 2.50GHz",
            "networks": {"squeezenet": {"reference_moved": 0.01}, "inception_v3": {"reference_moved": 0.02}}})
        text = stem.with_suffix(".md").read_text()
        self.assertIn("# Latency on Some(R) CPU @ 2.50GHz", text)
        self.assertIn("\n## squeezenet\n```\nrow  moved 0.01\n```\n", text)
        self.assertNotIn("reports,", text)
        self.assertEqual(printed.getvalue(), text + "\n")

    def test_all_networks_without_any(self):
        with mock.patch.object(latency, "measure", lambda network: ({}, network)), \
                mock.patch("sys.argv", ["latency.py"]), contextlib.redirect_stdout(io.StringIO()) as printed:
            latency.main()
        self.assertEqual([line[3:] for line in printed.getvalue().splitlines() if line.startswith("## ")],
                         ["inception_v3", "nasnet_large", "squeezenet", "randwire_large"])


if __name__ == "__main__":
    unittest.main()

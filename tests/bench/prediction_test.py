"""bench/prediction.py: its jobs, their order, and the table."""

import contextlib
import io
import json
import sys
from unittest import mock

import prediction
from support import FakePrograms, FolderTest, flag


class Fake(FakePrograms):
    """Plans predict 10 ms, and take a millisecond more at each run, from 11 ms on."""

    def json(self, program, *flags, ranks=0):
        self.calls.append((program, tuple(map(str, flags)), ranks))
        took = 10.0 + len(self.asked("hios-run"))
        return {"predicted_ms": 10.0, "latency_ms": {"best_quarter": took}, "versions": {"hios": "1"}}


class PredictionTest(FolderTest):
    def run_it(self, *words):
        programs, said = Fake(answer=lambda *_: ""), io.StringIO()
        arguments = ["prediction.py", "--programs", "p", "--out", str(self.folder), *words]
        with mock.patch.object(prediction, "Programs", lambda folder: programs), mock.patch.object(sys, "argv", arguments), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            prediction.main()
        return programs, said.getvalue()

    def test_each_round_profiles_plans_and_runs_every_row(self):
        programs, _ = self.run_it("--rounds", "2", "squeezenet")
        rows = len(prediction.rows_of(2))
        self.assertEqual(len(programs.asked("hios-run")), 2 * rows)
        self.assertEqual(len(programs.asked("hios-schedule")), 2 * rows)
        # Rows of whole operators on two ranks share a profile; that of cuts is another.
        self.assertEqual(len(programs.asked("hios-profile")), 2 * 4)
        used = [flag(run, "--profile") for run in programs.asked("hios-run")[:rows]]
        self.assertEqual(len(set(used)), 4)
        self.assertEqual(["--cut" in plan for plan in programs.asked("hios-schedule")], 2 * ([False] * (rows - 1) + [True]))
        self.assertEqual([ranks for name, _, ranks in programs.calls if name == "hios-run"], 2 * [1, 1, 2, 2, 2])

    def test_the_error_is_the_median_of_the_rounds(self):
        _, said = self.run_it("--rounds", "3", "--ranks", "1", "nets/my net.onnx")
        # 11, 12 and 13 ms, of which 10 were predicted.
        self.assertIn("| my-net | 1 rank x 1 core | 10.00 | 12.00 | +16.7 % | +9.1 to +23.1 % |", said)
        self.assertIn("Mean error 16.7 %, largest 16.7 %", said)
        kept = json.loads((self.folder / "prediction.json").read_text())
        self.assertEqual(kept["networks"]["my-net"][0]["best_quarter_ms"], [11.0, 12.0, 13.0])
        self.assertTrue((self.folder / "prediction.md").read_text().startswith("# Predicted and measured"))

    def test_networks_of_the_same_protocol_remain(self):
        def networks():
            return list(json.loads((self.folder / "prediction.json").read_text())["networks"])

        self.run_it("--rounds", "1", "--ranks", "1", "squeezenet")
        self.run_it("--rounds", "1", "--ranks", "1", "inception_v3")
        self.assertEqual(networks(), ["squeezenet", "inception_v3"])
        self.run_it("--rounds", "2", "--ranks", "1", "inception_v3")
        self.assertEqual(networks(), ["inception_v3"])


if __name__ == "__main__":
    import unittest
    unittest.main()

"""bench/peers: the networks, the order of programs, repeated measurements, and the files."""

import contextlib
import io
import json
import subprocess
import unittest
from pathlib import Path
from unittest import mock

import peer_networks
import peer_report
import peer_worker
from peer_rounds import OURS, PEERS, Measurement, Protocol
from peer_workers import Worker, WorkerError, cores, on_cores
from hios.launch.programs import ProgramFailed
from support import FakePrograms, FolderTest, flag

ROOT = Path(__file__).resolve().parents[2]


class FakeWorker:
    """Peers that take 20 and 10 ms, and compute the same values as ours."""

    def __init__(self, difference=1e-6):
        self.asked, self.difference, self.images = [], difference, 1

    def ask(self, request):
        self.asked.append(request)
        if request["do"] == "input":
            return {"dims": [self.images, 3, 8, 8]}
        if request["do"] == "compare":
            return {name: self.difference for name in request["pairs"]}
        return {"median_ms": {"onnxruntime": 20.0, "openvino": 10.0}[request["do"]], "load_s": 0.5}


class PeersTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.worker = FakeWorker()
        self.times = []  # ours, in turn; the last stays
        self.programs = FakePrograms(answer=self.answer)
        self.enterContext(mock.patch("peer_rounds.cores", lambda threads: list(range(threads))))
        self.enterContext(mock.patch("peer_rounds.on_cores", contextlib.nullcontext))

    def answer(self, program, flags, _):
        if program != "hios-run":
            return
        ms = self.times.pop(0) if len(self.times) > 1 else self.times[0]
        Path(flag(flags, "--json")).write_text(json.dumps({"iterations_ms": [ms, ms, 9 * ms], "versions": {"hios": "1"}}))

    def measure(self, *times, threads=(1, 2), rounds=2, attempts=3):
        self.times = list(times)
        protocol = Protocol(list(threads), rounds, 0.2, 5, attempts)
        return Measurement(Path("net.onnx"), self.folder, self.programs, self.worker, protocol).run("net")

    def test_rows_are_medians_and_the_ratio_is_to_the_better_peer(self):
        found = self.measure(8.0)
        self.assertEqual([row["threads"] for row in found["rows"]], [1, 2])
        for row in found["rows"]:
            self.assertEqual((row[OURS]["ms"], row["onnxruntime"]["ms"], row["openvino"]["ms"]), (8.0, 20.0, 10.0))
            self.assertEqual(row["ratio"], 0.8)
        self.assertEqual((found["attempts"], found["moved"], found["iterations"]), (1, 0.0, 25))

    def test_everybody_has_the_same_file_input_threads_and_number_of_runs(self):
        self.measure(8.0)
        runs = self.programs.asked("hios-run")[7:]  # after the trials of two plans, one says how many are enough
        asked = [request for request in self.worker.asked if request["do"] in PEERS]
        self.assertEqual({flag(flags, "--model") for flags in runs} | {each["model"] for each in asked}, {"net.onnx"})
        self.assertEqual({flag(flags, "--input") for flags in runs}, {each["input"] for each in asked})
        self.assertEqual({int(flag(flags, "--iterations")) for flags in runs}, {25})
        self.assertEqual({each["iterations"] for each in asked}, {25})
        self.assertEqual({int(flag(flags, "--warmup")) for flags in runs} | {each["warmup"] for each in asked}, {5})
        self.assertEqual([each["threads"] for each in asked], [1, 1, 2, 2] * 2)
        self.assertEqual([flag(flags, "--threads") for flags in self.programs.asked("hios-profile")], ["1", "2"])

    def test_the_faster_plan_of_several_cores_counts(self):
        for slower, wanted in ((9.0, "ios"), (7.0, "sequential")):
            found = self.measure(*(8.0, slower) * 3, 8.0)
            self.assertEqual([row["plan"] for row in found["rows"]], ["ios", wanted])
            runs = self.programs.asked("hios-run")
            self.assertEqual(Path(flag(runs[-1], "--schedule")).name, f"{wanted}-2.json")

    def test_a_plan_runs_several_images_one_after_the_other(self):
        self.worker.images = 4
        found = self.measure(8.0, 9.0, 7.0, 8.0, 9.0, 7.0, 8.0, 9.0, 7.0, 8.0, threads=(2,))
        self.assertEqual(found["rows"][0]["plan"], "images")
        for program in ("hios-profile", "hios-schedule"):
            divided = [flags for flags in self.programs.asked(program) if "--inputs" in map(str, flags)]
            self.assertEqual([(flag(flags, "--inputs"), flag(flags, "--parts")) for flags in divided], [("4", "4")])
        self.assertEqual(flag(divided[0], "--algorithm"), "sequential")
        last = self.programs.asked("hios-run")[-1]
        self.assertEqual((Path(flag(last, "--schedule")).name, Path(flag(last, "--profile")).name),
                         ("images-2.json", "images-2-profile.json"))

    def test_a_file_whose_images_cannot_be_divided_has_the_other_plans(self):
        self.worker.images = 12

        def refuse(program, flags, text):
            if "--inputs" in map(str, flags):
                self.assertEqual(flag(flags, "--parts"), "6")
                raise ProgramFailed([program], 2, "error: a Reshape to 12x256\n")
            self.answer(program, flags, text)

        self.programs = FakePrograms(answer=refuse)
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            self.assertEqual(self.measure(8.0, threads=(1,))["rows"][0]["plan"], "ios")
        self.assertIn("images are not divided: error: a Reshape to 12x256", printed.getvalue())

    def test_the_fastest_trial_counts_not_the_usual_one(self):
        found = self.measure(8.0, 7.0, 8.0, 9.0, 8.0, 9.0, 8.0, threads=(2,))
        self.assertEqual(found["rows"][0]["plan"], "sequential")

    def test_the_ratio_is_that_of_programs_in_the_same_round(self):
        with mock.patch.object(Measurement, "peer", lambda _, who, __: next(self.theirs)):
            self.theirs = iter([10.0, 20.0, 20.0, 10.0, 30.0, 60.0])
            row = self.measure(8.0, 8.0, 8.0, 30.0, threads=(1,), rounds=3, attempts=1)["rows"][0]
        self.assertEqual((row[OURS]["ms"], row["ratio"]), (8.0, 0.8))

    def test_who_begins_changes(self):
        order = []
        with mock.patch.object(Measurement, "ours", lambda *_: order.append(OURS) or 8.0), \
                mock.patch.object(Measurement, "peer", lambda _, who, __: order.append(who) or 8.0):
            self.measure(8.0, threads=(1,), rounds=3)
        ort, vino = PEERS
        self.assertEqual(order[1:], [OURS, ort, vino, ort, vino, OURS, vino, OURS, ort])

    def test_a_moving_row_is_measured_again_and_the_stillest_counts(self):
        found = self.measure(8.0, 8.0, 9.0, 8.0, 8.4, 8.0, 8.8, threads=(1,))
        self.assertEqual(found["attempts"], 3)
        self.assertAlmostEqual(found["moved"], 0.05)
        self.assertEqual(found["rows"][0][OURS]["rounds_ms"], [8.0, 8.4])
        self.assertEqual(self.measure(8.0, 8.0, 9.0, 8.0, 8.1, threads=(1,))["attempts"], 2)

    def test_results_are_written_as_they_come_and_shown(self):
        with mock.patch.object(peer_report, "processor", lambda: "Some CPU"):
            report = peer_report.Report(self.folder / "new" / "peers.json", {"openvino": "2026"}, Protocol([1], 2, 1, 5, 3))
        report.add("net", self.measure(8.0))
        written = json.loads((self.folder / "new" / "peers.json").read_text())
        self.assertEqual(written["networks"]["net"]["rows"][1]["ratio"], 0.8)
        self.assertEqual(written["versions"], {"openvino": "2026"})
        self.assertEqual((self.folder / "new" / "peers.csv").read_text().splitlines()[1],
                         "net,1,8.0000,20.0000,10.0000,0.8000,0.0000")
        lines = report.table().splitlines()
        self.assertEqual(lines[1].split(), ["net", "1", "8.00", "20.00", "10.00", "0.800", "0.0", "%", "1.0e-06", "1.0e-06"])
        self.assertEqual(len(lines), 3)
        self.assertTrue(report.right())

    def test_other_values_and_moving_rows_are_reported(self):
        with mock.patch.object(peer_report, "processor", lambda: "Some CPU"):
            report = peer_report.Report(self.folder / "peers.json", {}, Protocol([1], 2, 1, 5, 3))
        self.worker.difference = 1e-3
        report.add("other", self.measure(8.0, 8.0, 9.0, 8.0, 9.0, 8.0, 9.0, threads=(1,)))
        self.worker.difference = None
        report.add("none", self.measure(8.0))
        self.assertFalse(report.right())
        text = report.table()
        self.assertIn("other: ours and ONNX Runtime's values differ by more than 1e-04", text)
        self.assertIn("none: ours and ONNX Runtime's", text)
        self.assertIn("NaN", text)
        self.assertRegex(text, r"other: our row on the fewest cores varied by 12\.5 % .* of 3 attempts")


class ReadmeTest(unittest.TestCase):
    def test_its_range_of_ratios_is_that_of_the_results(self):
        text = " ".join((ROOT / "README.md").read_text().split())
        networks = json.loads((ROOT / "bench/results/peers.json").read_text())["networks"]
        least, most = {}, {}
        for row in (row for measured in networks.values() for row in measured["rows"]):
            least[row["threads"]] = min(row["ratio"], least.get(row["threads"], 9))
            most[row["threads"]] = max(row["ratio"], most.get(row["threads"], 0))
        self.assertEqual(len(networks), 16)
        self.assertIn(f"on sixteen networks one core takes {least[1]:.2f} to {most[1]:.2f} times as long", text)
        self.assertIn(f"two cores take {least[2]:.2f} to {most[2]:.2f} times as long", text)


class WorstTest(unittest.TestCase):
    def test_nan_counts_at_any_position(self):
        self.assertEqual(peer_worker.worst([1e-6, 3e-6, 0.0]), 3e-6)
        nan = float("nan")
        for differences in ([nan], [nan, 1e-6], [1e-6, nan], [1e-6, nan, 1e-6]):
            self.assertIsNone(peer_worker.worst(differences))


class NetworksTest(FolderTest):
    def test_all_by_default_without_those_of_torch_where_it_is_not(self):
        self.assertEqual(peer_networks.chosen([], "1.13"), ([*peer_networks.BUILT_IN, *peer_networks.OF_TORCH], []))
        self.assertEqual(peer_networks.chosen([], None), (list(peer_networks.BUILT_IN), list(peer_networks.OF_TORCH)))
        self.assertEqual(peer_networks.chosen(["squeezenet"], None), (["squeezenet"], []))
        with self.assertRaisesRegex(SystemExit, "resnet50: PyTorch is needed"):
            peer_networks.chosen(["resnet50"], None)

    def test_each_becomes_a_file(self):
        programs, worker = FakePrograms(answer=lambda *_: None), mock.Mock()
        file = peer_networks.write("squeezenet", self.folder, programs, worker)
        self.assertEqual(flag(programs.asked("hios-run")[0], "--export-onnx"), str(file))
        worker.ask.assert_not_called()
        peer_networks.write("unet", self.folder, programs, worker)
        self.assertEqual(worker.ask.call_args.args[0]["network"], "unet")
        self.assertEqual(peer_networks.write("/some/net.onnx", self.folder, programs, None), Path("/some/net.onnx"))


class CommandLineTest(unittest.TestCase):
    def refused(self, *words):
        done = subprocess.run([ROOT / "bench/peers.sh", *words], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr.splitlines()[-1]

    def test_bad_words_are_refused_before_anything_is_built(self):
        self.assertIn("vgg: neither a network", self.refused("vgg"))
        self.assertIn("/nowhere/net.onnx: no such file", self.refused("/nowhere/net.onnx"))
        self.assertIn("--threads takes whole numbers", self.refused("--threads", "1,x"))
        self.assertIn("--rounds", self.refused("--rounds", "0"))
        self.assertIn("unrecognized arguments: --hlep", self.refused("--hlep"))

    def test_help_names_every_network(self):
        done = subprocess.run([ROOT / "bench/peers.sh", "--help"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in (*peer_networks.BUILT_IN, *peer_networks.OF_TORCH):
            self.assertIn(name, done.stdout)


class WorkerTest(FolderTest):
    def worker(self, text):
        script = self.folder / "python"
        script.write_text("#!/bin/sh\n" + text)
        script.chmod(0o755)
        return Worker(script)

    def test_the_last_line_is_the_answer(self):
        self.assertEqual(self.worker("echo noise; echo '{\"dims\": [1]}'").ask({"do": "input"}), {"dims": [1]})

    def test_a_failing_request_is_reported_by_its_last_line(self):
        with self.assertRaisesRegex(WorkerError, "^input: ValueError: no$"):
            self.worker("echo Traceback >&2; echo 'ValueError: no' >&2; exit 1").ask({"do": "input"})
        with self.assertRaisesRegex(WorkerError, "status 3"):
            self.worker("exit 3").ask({"do": "input"})

    def test_programs_stay_on_their_cores(self):
        one = cores(1)
        with on_cores(one):
            said = subprocess.run(["sh", "-c", "grep Cpus_allowed_list /proc/self/status"], capture_output=True, text=True)
        self.assertEqual(said.stdout.split()[1], str(one[0]))
        self.assertGreaterEqual(len(cores(1)), 1)
        with self.assertRaisesRegex(SystemExit, "need as many cores"):
            cores(1 << 20)


if __name__ == "__main__":
    unittest.main()

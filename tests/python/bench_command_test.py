"""hios bench: its command line, its folder, and the way from a model to the page, without programs."""

import contextlib
import io
import json
import sys
import types
from pathlib import Path
from unittest import main as run_tests
from unittest import mock

from fake_machine import MachineTest
from hios import command as hios
from hios.benchmark import command, folder, network
from hios.benchmark.arguments import latency_parser, settled
from hios.errors import InputError
from hios.launch.programs import ProgramFailed
from support import FolderTest, flag


class ArgumentsTest(FolderTest):
    def read(self, *words):
        return settled(latency_parser().parse_args(words))

    def test_the_model_comes_by_position_or_by_flag(self):
        self.assertEqual(self.read("squeezenet").model, "squeezenet")
        self.assertEqual(self.read("--budget", "40", "--model", "squeezenet").model, "squeezenet")
        self.assertEqual(self.read("--default-model", "a").model, "a")
        self.assertEqual(self.read("--default-model", "a", "b").model, "b")
        self.assertEqual(self.read("nets/net.onnx").output, Path("hios-bench-net"))
        for words, message in [((), "needs a model: hios bench squeezenet"), (("a", "--model", "b"), "two models, a and b")]:
            with self.assertRaisesRegex(InputError, message):
                self.read(*words)

    def test_numbers_are_checked(self):
        for words in (["--budget", "0"], ["--budget", "nan"], ["--budget", "x"], ["--cores", "0"], ["--ranks", "1.5"],
                      ["--bugdet", "3"]):
            with self.assertRaisesRegex(InputError, "see hios bench --help"):
                self.read("squeezenet", *words)

    def test_a_network_is_the_flags_of_all_programs(self):
        args = self.read("net.onnx", "--batch", "2", "--dim", "a=1", "--dim", "b=2", "--merge", "siblings", "--seed", "3")
        made = network.network_of(args)
        self.assertEqual(" ".join(made.flags), "--model net.onnx --batch 2 --merge siblings --dim a=1 --dim b=2")
        self.assertEqual((made.seed, made.label), (3, "net"))

    def test_help_has_usage_and_two_examples_first_and_fits_80_columns(self):
        for words in (["--help"], ["--throughput", "--help"]):
            with contextlib.redirect_stdout(io.StringIO()) as out, mock.patch.dict("os.environ", COLUMNS="80"):
                with self.assertRaises(SystemExit) as ended:
                    command.main(words)
            lines = out.getvalue().splitlines()
            self.assertEqual(ended.exception.code, 0)
            self.assertTrue(lines[0].startswith("usage: hios bench "))
            examples = [line for line in lines[1:6] if line.startswith("  hios bench ")]
            self.assertEqual(len(examples), 2)
            self.assertLessEqual(max(map(len, lines)), 80)


class InputsTest(FolderTest):
    NET = network.Network("net", ("--model", "net"))

    def test_arrays_are_read_by_the_programs(self):
        file = self.folder / "x.npy"
        file.write_bytes(b"")
        self.assertEqual(network.inputs_of([str(file)], "none", self.NET, self.folder), ("--input", str(file)))
        self.assertEqual(network.inputs_of(None, "none", self.NET, self.folder), ())
        with self.assertRaisesRegex(InputError, "--input no.npy: no such file"):
            network.inputs_of(["no.npy"], "none", self.NET, self.folder)

    def test_pictures_become_an_array_in_the_folder(self):
        picture = self.folder / "x.jpg"
        picture.write_bytes(b"")
        answers = types.ModuleType("hios.answers.tensor")
        answers.tensor_for = lambda flags, files, how, to: f"{to}/input.npy of {files} by {how} for {flags}"
        with mock.patch.dict(sys.modules, {"hios.answers": types.ModuleType("hios.answers"), "hios.answers.tensor": answers}):
            self.assertEqual(network.inputs_of([str(picture)], "none", self.NET, "to")[1],
                             f"to/input.npy of {[str(picture)]} by none for ['--model', 'net']")
        with mock.patch.dict(sys.modules, {"hios.answers.tensor": None}), \
                self.assertRaisesRegex(InputError, "pictures cannot be read here .*: give an .npy file"):
            network.inputs_of([str(picture)], "none", self.NET, "to")


class ResultsFolderTest(FolderTest):
    OURS = ("profile.json", "summary.json", "schedule-2x1-hios-lp.json", "trace-1x2-ios.json", "graph-2x1.json", "report.html")

    def setUp(self):
        super().setUp()
        self.results = self.folder / "results"

    def fill(self, *names):
        for name in names:
            (self.results / name).parent.mkdir(parents=True, exist_ok=True)
            (self.results / name).write_text("{}")

    def files(self):
        return sorted(str(file.relative_to(self.results)) for file in self.results.rglob("*") if file.is_file())

    def test_a_new_or_an_empty_folder_is_made_ready(self):
        folder.prepare(self.results, force=False)
        self.assertTrue((self.results / "rounds").is_dir() and (self.results / "turns").is_dir())
        self.assertTrue(folder.is_ours(self.results))

    def test_our_files_are_replaced_and_others_stay(self):
        folder.prepare(self.results, force=False)
        self.fill(*self.OURS, "notes.txt", "rounds/report-1x1-sequential-1.json", "rounds/mine.json", "turns/1x2-stages.json",
                  "schedule-mine.json", "deep/profile.json")
        folder.prepare(self.results, force=False)
        self.assertEqual(self.files(),
                         [".hios-bench", "deep/profile.json", "notes.txt", "rounds/mine.json", "schedule-mine.json"])

    def test_a_folder_of_other_files_is_refused_and_with_force_keeps_them(self):
        self.fill("thesis.tex", "profile.json")
        with self.assertRaisesRegex(InputError, "holds files that hios bench did not make: name another .* --force"):
            folder.prepare(self.results, force=False)
        self.assertEqual(self.files(), ["profile.json", "thesis.tex"])
        folder.prepare(self.results, force=True)
        self.assertEqual(self.files(), [".hios-bench", "thesis.tex"])

    def test_a_summary_without_a_mark_is_ours(self):
        self.fill("summary.json")
        self.assertFalse(folder.is_ours(self.results))
        (self.results / "summary.json").write_text('{"format": "hios-summary"}')
        self.assertTrue(folder.is_ours(self.results))

    def test_a_file_is_no_folder(self):
        self.results.write_text("")
        with self.assertRaisesRegex(InputError, "results is a file"):
            folder.prepare(self.results, force=True)


class BenchTest(MachineTest):
    """The whole command on a machine of two cores."""

    def setUp(self):
        super().setUp()
        self.programs.json = lambda *_, **__: {"operators": [{}]}
        self.mpirun = "/usr/bin/mpirun"
        self.enterContext(mock.patch.object(command, "programs_of", lambda args: self.programs))
        self.enterContext(mock.patch.object(command.shutil, "which", lambda name: self.mpirun))
        self.enterContext(mock.patch.object(command, "Budget", lambda seconds: self.budget(seconds)))
        self.allowed = self.enterContext(mock.patch("os.sched_getaffinity", return_value={0, 1}))
        self.results = self.folder / "results"

    def bench(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.status = hios.main(["bench", "net", "--output", str(self.results), *words])
        return out.getvalue()

    def summary(self):
        return json.loads((self.results / "summary.json").read_text())

    def test_first_answer_then_table_then_verdict(self):
        said = self.bench("--budget", "120")
        self.assertEqual(self.status, 0)
        self.assertTrue(said.startswith("first answer: 1 rank x 1 core 10.00 ms; every other way follows within 119 s\n"), said)
        places = [said.index(text) for text in ("first answer", "\nrow  ", "every row is verified", "fastest here: ",
                                                "two ranks: ", f"reports, schedules and traces are in {self.results}/")]
        self.assertEqual(places, sorted(places))
        self.assertTrue(all(len(line) <= 80 for line in said.splitlines() if str(self.results) not in line), said)
        program, flags, ranks = self.programs.calls[0]
        self.assertEqual((program, flag(flags, "--threads"), "--schedule" in flags, ranks), ("hios-run", "1", False, 0))
        self.assertEqual([row["name"] for row in self.summary()["rows"]][3:],
                         ["2 ranks x 1 core hios-lp", "2 ranks x 1 core hios-mr", "2 ranks x 1 core best",
                          "2 ranks x 1 core hios-lp, cut", "2 ranks x 1 core best, cut"])
        self.assertEqual([row.get("cut_operators") for row in self.summary()["rows"]], 6 * [None] + 2 * [1])
        self.assertEqual(self.summary()["extra"]["limits"][2]["path"]["heaviest"], ["a", "c"])
        self.assertIn(self.summary()["extra"]["verdict"][0].split("   ")[0], said)

    def test_without_cuts_or_operators_to_cut_there_is_no_such_row(self):
        self.bench("--cut", "none", "--force")
        self.assertEqual(len(self.summary()["rows"]), 6)
        answer = self.programs.answer

        def refusing(program, flags, ranks):
            if program == "hios-profile" and "--cut" in flags:
                raise ProgramFailed([program], 2, "error: --cut auto: no operator of net can be cut")
            return answer(program, flags, ranks)
        self.programs.answer = refusing
        self.bench("--force")
        self.assertEqual((self.status, len(self.summary()["rows"])), (0, 6))

    def test_ranks_that_find_no_operator_to_cut_leave_the_rows_of_others(self):
        self.allowed.return_value = set(range(4))
        answer = self.programs.answer
        for refuses, error in (("hios-profile", "error: --cut auto: no operator of net can be cut"),
                               ("hios-schedule", "error: p.json: no shards of 4 an operator were measured, or none gives the "
                                                 "bits of its whole; measure them with: x")):
            def refusing(program, flags, ranks):
                devices = ranks if program == "hios-profile" else int(flag(flags, "--devices") or 0)
                if program == refuses and "--cut" in flags and devices == 4:
                    raise ProgramFailed([program], 2, error)
                return answer(program, flags, ranks)
            self.programs.answer = refusing
            said = self.bench("--force")
            self.assertEqual(self.status, 0)
            self.assertEqual([row["name"] for row in self.summary()["rows"] if "cut" in row["name"]],
                             ["2 ranks x 2 cores hios-lp, cut", "2 ranks x 2 cores best, cut"])
            self.assertIn("4 ranks x 1 core: no rows with cuts", " ".join(said.split()))

    def test_where_nothing_is_cut_the_row_is_planned_and_run_as_whole_operators_are(self):
        self.cuts = []
        self.bench("--force")
        self.assertEqual([row.get("cut_operators") for row in self.summary()["rows"]], 6 * [None] + 2 * [0])
        of_cut_rows = [flags for program, flags, _ in self.programs.calls
                       if program == "hios-run" and "-cut.json" in str(flag(flags, "--schedule") or "")]
        self.assertEqual({Path(flag(flags, "--profile")).name for flags in of_cut_rows}, {"profile.json"})

    def test_measuring_keeps_to_the_budget(self):
        self.bench("--budget", "120")
        self.assertLessEqual(self.now, 120)
        self.assertGreater(self.now, 100)

    def test_a_budget_that_is_too_small_is_said_in_one_line(self):
        said = self.bench("--budget", "5")
        self.assertEqual(self.status, 0)
        self.assertRegex(" ".join(said.split()), r"5 s are too few here: one turn of the profile and one round of every row "
                                                 r"took (\d+) s \(--budget \1\)")
        self.assertEqual({row["extra"]["rounds"] for row in self.summary()["rows"]}, {1})

    def test_one_core_and_no_mpirun_are_said_not_refused(self):
        self.mpirun = None
        said = self.bench()
        self.assertIn("no mpirun in PATH: one rank only", said)
        self.assertEqual({row["ranks"] for row in self.summary()["rows"]}, {1})
        self.allowed.return_value = {5}
        said = self.bench()
        self.assertIn("one core: one rank only", said)
        self.assertEqual(len(self.summary()["rows"]), 1)
        self.assertIn("fastest here: 1 rank x 1 core, sequential\n  10.00 ms", said)
        self.assertEqual(self.status, 0)

    def test_a_row_that_does_not_verify_is_status_1(self):
        self.passed = False
        self.assertIn("NOT VERIFIED: ", self.bench())
        self.assertEqual(self.status, 1)

    def test_an_unknown_model_ends_it_with_the_program_s_own_line(self):
        def refused(*_, **__):
            raise ProgramFailed(["hios-schedule"], 2, "error: model nte: no built-in of that name (did you mean 'net'?)\n")
        self.programs.json = refused
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            self.bench()
        self.assertEqual(errors.getvalue(), "error: model nte: no built-in of that name (did you mean 'net'?)\n")
        self.assertEqual(self.status, 2)
        self.assertFalse(self.results.exists())

    def test_a_program_that_fails_later_is_status_3(self):
        def failing(program, flags, ranks):
            raise ProgramFailed(["mpirun", program], 139, "mpirun noise\nerror: rank 1 on host: died\nmore noise\n")
        self.programs.answer = failing
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            self.bench()
        self.assertEqual((self.status, errors.getvalue().splitlines()[-1]), (3, "error: rank 1 on host: died"))

    def test_the_page_is_of_the_summary_and_the_rows_files(self):
        page = types.ModuleType("hios.page.command")
        page.write_page = mock.Mock()
        with mock.patch.dict(sys.modules, {"hios.page": types.ModuleType("hios.page"), "hios.page.command": page}):
            self.assertIn(f"the page: {self.results / 'report.html'}\n", self.bench())
        files, output = page.write_page.call_args.args
        self.assertEqual(output, self.results / "report.html")
        self.assertEqual([file.name for file in files][:3], ["summary.json", "report-1x1-sequential.json",
                                                             "schedule-1x1-sequential.json"])
        self.assertEqual({file.name.split("-")[0] for file in files}, {"summary.json", "report", "schedule", "trace"})
        self.assertTrue(all(file.exists() for file in files if not file.name.startswith("trace-")))

    def test_a_page_that_cannot_be_made_loses_nothing(self):
        page = types.ModuleType("hios.page.command")
        page.write_page = mock.Mock(side_effect=InputError("the page needs Jinja2"))
        with mock.patch.dict(sys.modules, {"hios.page": types.ModuleType("hios.page"), "hios.page.command": page}):
            self.assertIn("\nno page: the page needs Jinja2\n", self.bench())
        self.assertEqual(self.status, 0)

    def test_without_the_module_of_the_page_there_is_none(self):
        with mock.patch.dict(sys.modules, {"hios.page.command": None}):
            self.assertIn("no page: ", self.bench())
        self.assertEqual(self.status, 0)


if __name__ == "__main__":
    run_tests()

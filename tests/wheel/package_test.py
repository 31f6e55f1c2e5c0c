"""The package: one version, a command without the compiled part, and names that are not there."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import PROGRAMS, ROOT, Refusals

import hios
import hios.planning.core


class PackageTest(Refusals):
    def test_versions_are_one(self):
        self.assertIn(f"project(hios VERSION {hios.__version__} ", (ROOT / "CMakeLists.txt").read_text())

    def test_all_names_are_there(self):
        for name in hios.__all__:
            self.assertTrue(hasattr(hios, name), name)
            self.assertIn(name, dir(hios))
        with self.assertRaises(AttributeError):
            hios.nothing

    def test_the_sources_alone_are_the_command(self):
        """Without the compiled part, in another Python, the command works and the library says what is missing."""
        code = ("import hios.command, hios.benchmark.command\ntry:\n    hios.Graph\nexcept hios.HiosError as error:\n"
                "    print(error)")
        done = subprocess.run([Path(sys.base_prefix) / "bin/python3", "-c", code], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("pip install ./python builds it", done.stdout)
        self.assertEqual(len(done.stdout.splitlines()), 1)

    def test_the_compiled_part_needs_no_mpi_and_no_device(self):
        needed = subprocess.run(["ldd", hios.planning.core.core.__file__], capture_output=True, text=True).stdout
        self.assertIn("libstdc++", needed)
        for name in ("libmpi", "libdnnl", "libonnx", "libcuda", "Cbc", "not found"):
            self.assertNotIn(name, needed)

    def test_the_script_is_the_command(self):
        done = subprocess.run([os.path.join(os.path.dirname(sys.executable), "hios"), "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("hios bench", done.stdout)

    def test_bench_is_the_command_as_a_function(self):
        from hios.benchmark import command
        with mock.patch.object(command, "measured") as measured:
            measured.side_effect = hios.InputError("no")
            self.refused("no", hios.bench, "net.onnx", cores=2, input=["a", "b"], all_rows=True, force=False)
            self.assertEqual(measured.call_args[0][0], ["net.onnx", "--cores=2", "--input=a", "--input=b", "--all-rows"])
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(command, "measured") as measured:
            (Path(folder) / "summary.json").write_text('{"rows": []}')
            measured.side_effect = lambda words: print("a page") or (1, Path(folder))
            found = hios.bench("net.onnx")
            self.assertEqual((str(found), found.results, found.verified, found.folder), ("a page\n", {"rows": []}, False, Path(folder)))
        self.refused("--cores", hios.bench, "squeezenet", cores="many")
        self.refused("a number, a text", hios.bench, "squeezenet", cores={})
        with contextlib.redirect_stdout(io.StringIO()):
            self.refused("measures nothing", hios.bench, "squeezenet", help=True)
        with mock.patch.dict(os.environ, HIOS_PROGRAMS="/nowhere"):
            self.refused("/nowhere", hios.bench, "squeezenet")

    @unittest.skipUnless(PROGRAMS, "needs the programs")
    def test_bench_measures_and_writes_the_page(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            found = hios.bench("squeezenet", height=64, width=64, cores=1, rounds=1, iterations=1, budget=2, cut="none",
                               output=Path(folder) / "results")
            self.assertTrue(found.verified)
            self.assertIn("1 rank x 1 core", str(found))
            self.assertGreater(found.results["rows"][0]["latency_ms"]["min"], 0)
            self.assertTrue((found.folder / "report.html").read_text().lower().startswith("<!doctype html>"))

    @unittest.skipUnless(PROGRAMS, "needs the programs")
    def test_bench_refuses_what_the_program_refuses(self):
        self.refused("nothing_like_it", hios.bench, "nothing_like_it")


if __name__ == "__main__":
    unittest.main()

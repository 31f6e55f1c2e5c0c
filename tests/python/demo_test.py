"""demo.sh: --help answers before anything is installed or built, and the arguments reach hios bench."""

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

from support import FolderTest

ROOT = Path(__file__).resolve().parents[2]


class DemoTest(FolderTest):
    """A copy of the script, in which setup and cmake are recorded, not run."""

    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / "demo.sh", self.folder)
        shutil.copytree(ROOT / "python", self.folder / "python", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("scripts/setup.sh", "bin/cmake", "build/release/bin/hios"):
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f'#!/bin/sh\necho "{file.name}" "$@" >> "{self.folder}/calls"\n')
            file.chmod(0o755)

    def demo(self, *words):
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        self.done = subprocess.run([self.folder / "demo.sh", *words], capture_output=True, text=True, check=True,
                                   env={**os.environ, "PATH": path})
        calls = self.folder / "calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def test_help_answers_before_anything_is_done(self):
        for words in (["squeezenet", "-h"], ["--throughput", "--help"]):
            self.assertEqual(self.demo(*words), [])
            self.assertTrue(self.done.stdout.startswith("usage: hios bench "))

    def test_it_builds_only_what_it_runs(self):
        setup, configure, build, bench = self.demo()
        self.assertEqual(setup, "setup.sh")
        self.assertEqual(configure, "cmake --preset quick")
        self.assertEqual(build, "cmake --build build/release --target hios-profile hios-schedule hios-run")
        self.assertEqual(bench, f"hios bench --default-model inception_v3 --budget 180 --output {self.folder}/build/demo")

    def test_a_developer_s_options_stay(self):
        (self.folder / "build/release/build.ninja").write_text("")
        self.assertEqual([call.split(" --target")[0] for call in self.demo()[:2]], ["setup.sh", "cmake --build build/release"])

    def test_the_preset_release_undoes_what_a_quick_build_sets(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
        base, release, quick = ({preset["name"]: preset for preset in presets}[name]["cacheVariables"]
                                for name in ("base", "release", "quick"))
        self.assertEqual(sorted(quick.keys() - {**base, **release}.keys()), [])

    def test_arguments_come_last_so_that_they_win(self):
        self.assertTrue(self.demo("squeezenet", "--budget", "40")[-1].endswith("/build/demo squeezenet --budget 40"))


if __name__ == "__main__":
    unittest.main()

"""The documents: links have targets, pictures are small, every room is described, every flag exists."""

import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "slurm" / "README.md",
         ROOT / "bench" / "results" / "README.md",
         *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = ("hios-profile", "hios-schedule", "hios-run")
# Flags of programs that are not ours.
FOREIGN_FLAGS = {"--preset", "--config", "--build", "--test-dir", "--install", "--prefix", "--bind-to", "--mpi",
                 "--nodes", "--ntasks-per-node", "--cpus-per-task", "--gpus-per-node", "--gpus-per-task",
                 "--gtest_filter", "--with-pmi", "--mca", "--all", "--config-settings", "--keep-caps", "--cflags", "--libs"}
FLAG = r"(?<![\w-])--[a-z][a-z_-]*"


def headings(page):
    """The anchors of a page, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    titles = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


class DocsTest(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for page in PAGES:
            text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if target.startswith(("http://", "https://")):
                    continue
                name, _, anchor = target.partition("#")
                file = (page.parent / name).resolve() if name else page
                with self.subTest(page=page.name, link=target):
                    self.assertTrue(file.exists())
                    if anchor:
                        self.assertIn(anchor, headings(file))

    def test_pictures_are_small_and_shown(self):
        shown = "\n".join(page.read_text() for page in PAGES)
        for picture in (ROOT / "docs" / "pictures").iterdir():
            with self.subTest(picture=picture.name):
                self.assertLess(picture.stat().st_size, 200_000)
                self.assertIn(f"pictures/{picture.name})", shown)

    def test_every_room_is_in_the_page_and_in_the_picture(self):
        page = (ROOT / "docs" / "architecture.md").read_text()
        picture = (ROOT / "docs" / "pictures" / "architecture.svg").read_text()
        for floor in ("hios", "scheduler", "mpi", "engine", "cli"):
            self.assertIn(f">{floor}/<", picture)
            for room in sorted(p for p in (ROOT / floor).iterdir() if p.is_dir()):
                with self.subTest(room=f"{floor}/{room.name}"):
                    self.assertIn(f"`{room.name}/`", page)
                    self.assertIn(f">{room.name}<", picture)
        self.assertIn("`module/`", page)
        self.assertIn(">module<", picture)

    def test_promises_name_tests_that_exist(self):
        sources = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("*_test.cpp"))
        in_python = {each: (ROOT / "tests" / each / f"{each}_test.py").read_text() for each in ("slurm", "network")}
        page = (ROOT / "docs" / "reliability.md").read_text()
        rows = re.findall(r"^\| .* \| (`.*) \|$", page, flags=re.M)
        self.assertGreater(len(rows), 10)
        for name in re.findall(r"`([^`]+)`", " ".join(rows)):
            with self.subTest(name=name):
                suite, _, test = name.partition(".")
                if suite in in_python:
                    self.assertIn(f"class {test}(", in_python[suite])
                else:
                    self.assertTrue(re.search(rf"TEST(_F|_P)?\({suite}, {test}", sources), "there is no such test")

    def test_every_flag_exists(self):
        folder = os.environ.get("HIOS_BIN_DIR")
        if not folder:
            self.skipTest("HIOS_BIN_DIR is not set to the programs' folder")
        known = set(FOREIGN_FLAGS)
        for script in [*(ROOT / "bench").rglob("*.py"), *(ROOT / "scripts").rglob("*.*"), *(ROOT / "python").rglob("*.py"),
                       *(ROOT / "slurm").iterdir()]:
            if script.suffix in (".py", ".sh", ".sbatch"):
                known |= set(re.findall(FLAG, script.read_text()))
        for program in PROGRAMS:
            text = subprocess.run([Path(folder) / program, "--help=all"], capture_output=True, text=True, check=True).stdout
            known |= set(re.findall(FLAG, text))
        for page in PAGES:
            named = set(re.findall(FLAG, page.read_text()))
            self.assertEqual(sorted(named - known), [], str(page.relative_to(ROOT)))


if __name__ == "__main__":
    unittest.main()

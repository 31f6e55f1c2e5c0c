"""The commit and its date, which every build writes into a source file (cmake/HiosCommit.cmake)."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent",
               "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
               "GIT_AUTHOR_DATE": "2026-03-04T23:30:00 +0000", "GIT_COMMITTER_DATE": "2026-05-06T12:00:00 +0000",
               "GIT_CEILING_DIRECTORIES": tempfile.gettempdir()}
for role in ("AUTHOR", "COMMITTER"):
    ENVIRONMENT |= {f"GIT_{role}_NAME": "a test", f"GIT_{role}_EMAIL": "test@localhost"}


class Commit(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.source = self.folder / "source"
        (self.source / "inner").mkdir(parents=True)
        (self.source / "file").write_text("1\n")

    def git(self, *words):
        return subprocess.run(["git", "-C", self.source, *words], env=ENVIRONMENT, check=True, capture_output=True,
                              text=True).stdout

    def commit(self):
        self.git("init", "-q")
        self.git("add", "file")
        self.git("commit", "-q", "-m", "a test")
        return self.git("rev-parse", "--short=12", "HEAD").strip()

    def written(self, source=None, **environment):
        out = self.folder / "commit.cpp"
        subprocess.run(["cmake", f"-DSOURCE={source or self.source}", f"-DOUT={out}", "-P", ROOT / "cmake/HiosCommit.cmake"],
                       env={**ENVIRONMENT, **environment}, check=True)
        return out.read_text()

    def assert_written(self, text, commit, date):
        self.assertIn(f'std::string commit() {{ return "{commit}"; }}', text)
        self.assertIn(f'std::string commit_date() {{ return "{date}"; }}', text)

    def test_a_checkout_has_commit_and_date(self):
        commit = self.commit()
        self.assert_written(self.written(), commit, "2026-05-06")
        (self.source / "file").write_text("2\n")
        self.assert_written(self.written(), f"{commit}-dirty", "2026-05-06")

    def test_a_tarball_has_neither(self):
        self.assert_written(self.written(), "", "")

    def test_a_folder_of_another_projects_checkout_has_neither(self):
        self.commit()
        self.assert_written(self.written(self.source / "inner"), "", "")

    def test_the_file_changes_only_with_the_commit(self):
        self.commit()
        self.written()
        file = self.folder / "commit.cpp"
        os.utime(file, ns=(10**9, 10**9))
        self.written()
        self.assertEqual(file.stat().st_mtime_ns, 10**9)


if __name__ == "__main__":
    unittest.main()

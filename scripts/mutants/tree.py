"""A copy of the tree that holds the mutants, is built, and runs tests with one of them chosen."""

import json
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from mutants.mutation import SWITCH, SWITCH_TEXT, insert

MARK = ".mutants.json"  # lists the files that were copied
FAILED = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) \.+\*+(?!\*|Skipped)", re.MULTILINE)


@dataclass
class Outcome:
    """The end of a run of tests: whether all passed, the first that failed, and if there was no test."""
    passed: bool
    failed: str = ""
    text: str = ""
    seconds: float = 0


def sources(root):
    """Returns the files of the tree that Git knows or does not ignore."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"], check=True,
                            capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and (root / name).is_file()]


def end_session(leader):
    """Kills all processes of a session, also those in groups of their own, such as ranks."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader:
                os.kill(int(entry.name), signal.SIGKILL)
        except (OSError, IndexError):
            pass  # it has ended meanwhile


class Tree:
    """REQUIRES: the folder is empty, or a copy that an earlier run made."""

    def __init__(self, root, folder, preset, jobs):
        self.root, self.folder, self.preset, self.jobs = root, folder, preset, jobs
        if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
            raise SystemExit(f"error: {folder} is no copy that mutants made: give another --copy")

    def fill(self, mutants):
        """Copies what has changed, and inserts the mutants."""
        self.folder.mkdir(parents=True, exist_ok=True)
        mark = self.folder / MARK
        before = json.loads(mark.read_text()) if mark.exists() else []
        names = sources(self.root)
        mark.write_text(json.dumps(sorted({*before, *names})))  # also of a copy that is interrupted
        for name in names:
            own = [mutant for mutant in mutants if mutant.file == name]
            content = (self.root / name).read_bytes()
            if own:
                content = insert(own, content.decode()).encode()
            self.write(name, content, (self.root / name).stat().st_mode)
        self.write(SWITCH, SWITCH_TEXT.encode(), 0o644)
        for name in set(before) - set(names):
            (self.folder / name).unlink(missing_ok=True)
        mark.write_text(json.dumps(names))

    def write(self, name, content, mode):
        file = self.folder / name
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        file.chmod(mode & 0o777)

    def build(self, targets):
        """Builds the programs, after a configuration if there is none; ends the script if that fails."""
        commands = []
        if not (self.folder / "build" / self.preset / "CMakeCache.txt").exists():
            commands.append(["cmake", "--preset", self.preset])
        commands.append(["cmake", "--build", "--preset", self.preset, "-j", str(self.jobs), "--target", *targets])
        for command in commands:
            done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False)
            if done.returncode != 0:
                raise SystemExit(f"{done.stdout}\nerror: {' '.join(command)} failed: a mutant may not compile")

    def test(self, tests, mutant, limit_s):
        """Runs tests until one fails. Throws subprocess.TimeoutExpired after limit_s."""
        command = ["ctest", "--preset", self.preset, "-R", tests, "-j", str(self.jobs), "--stop-on-failure",
                   "--no-tests=error"]
        environment = {**os.environ, "HIOS_MUTANT": mutant.key if mutant else "0"}
        begin = time.monotonic()
        process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            text, _ = process.communicate(timeout=limit_s)
        except BaseException:
            end_session(process.pid)
            process.communicate()
            raise
        failed = FAILED.search(text)
        return Outcome(process.returncode == 0, failed.group(1) if failed else "", text, time.monotonic() - begin)

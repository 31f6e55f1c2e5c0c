"""The help of the three programs as a person gets it: its examples run when they are pasted, its lines fit, and the manual
pages have the same flags."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

from hios.manual import bash, troff
from hios.manual.commands import command_page
from hios.manual.pages import PROGRAMS, describe, page_of
from manual_test import check, flags_of_manual

BIN = Path(os.environ["HIOS_BIN_DIR"])


def help_of(program, *words, **environment):
    done = subprocess.run([BIN / program, *words], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, **environment})
    return done.stdout


def help_on_terminal(program, columns):
    """The help that the program prints on a terminal of so many columns, which COLUMNS does not name."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        with subprocess.Popen([BIN / program, "--help=all"], stdout=theirs, stdin=subprocess.DEVNULL, env=environment):
            os.close(theirs)
            text = b""
            try:
                while part := terminal.read(65536):
                    text += part
            except OSError:  # the program has closed the terminal
                pass
    return text.decode().replace("\r\n", "\n")


def flags_in(text):
    return re.findall(r"^  (?:-., )?--([a-z-]+)", text, flags=re.M)


def examples_in(text):
    """The commands of a help as they stand there, on one or more lines."""
    start = text[:text.index("\n\n" + text.split()[1] + ": ")]
    return re.findall(r"^  # .*\n((?:.*\\\n)*.*)$", start, flags=re.M)


class Help(unittest.TestCase):
    def test_lines_fit_80_columns(self):
        for program in PROGRAMS:
            for words in (["--help"], ["--help", "all"]):
                for columns in ("80", "200"):
                    lines = help_of(program, *words, COLUMNS=columns).splitlines()
                    self.assertLessEqual(max(map(len, lines)), 80, program)
            self.assertLessEqual(max(map(len, help_of(program, "--help", COLUMNS="60").splitlines())), 60)

    def test_lines_fit_the_terminal(self):
        for columns in (60, 132):
            widest = max(map(len, help_on_terminal("hios-schedule", columns).splitlines()))
            self.assertLessEqual(widest, columns)
            self.assertGreater(widest, columns - 12)

    def test_daily_flags_come_first_and_all_by_name(self):
        for program in PROGRAMS:
            daily, everything = help_of(program, "--help"), help_of(program, "--help", "all")
            self.assertLess(len(daily.splitlines()), 60)
            self.assertTrue(daily.splitlines()[-1].startswith(f"{program} --help all explains all "))
            self.assertLessEqual(set(flags_in(daily)), set(flags_in(everything)))
            self.assertGreater(len(flags_in(everything)), 2 * len(flags_in(daily)))
            self.assertEqual(everything, help_of(program, "--help=all"))

    def test_units_are_said(self):
        for program in PROGRAMS:
            for flag in describe(BIN / program)["flags"]:
                if "SECONDS" in flag["argument"]:
                    self.assertRegex(flag["text"], "second|time|long", flag["name"])

    def test_version_has_commit_and_date(self):
        line = help_of("hios-schedule", "--version")
        self.assertRegex(line, r"^hios \d+\.\d+\.\d+(, commit [0-9a-f]{12}(-dirty)? of \d{4}-\d\d-\d\d)? \(.*\)\n$")
        described = describe(BIN / "hios-schedule")
        if described["commit"]:
            self.assertIn(f", commit {described['commit']} of {described['date']} (", line)
        for program in PROGRAMS:
            self.assertEqual(help_of(program, "--version"), line)


class Manual(unittest.TestCase):
    def test_pages_have_the_flags_of_the_help(self):
        for program in PROGRAMS:
            text = troff.text(page_of(describe(BIN / program)))
            self.assertEqual(flags_of_manual(text), flags_in(help_of(program, "--help", "all")))

    def test_troff_and_bash_find_no_fault(self):
        pages = [page_of(describe(BIN / program)) for program in PROGRAMS]
        for page in [command_page(pages), *pages]:
            check(self, ["groff", "-man", "-Tutf8", "-wall", "-z"], troff.text(page))
            check(self, ["bash", "-n"], bash.text(page))

    def test_algorithms_models_and_backends_are_known(self):
        flags = {flag["name"]: flag["values"] for flag in describe(BIN / "hios-schedule")["flags"]}
        self.assertLessEqual({"hios-lp", "best", "all"}, set(flags["algorithm"]))
        self.assertIn("squeezenet", flags["model"])
        flags = {flag["name"]: flag["values"] for flag in describe(BIN / "hios-run")["flags"]}
        self.assertLessEqual({"auto", "reference", "cpu"}, set(flags["backend"]))


class Examples(unittest.TestCase):
    def test_run_when_pasted_in_the_order_of_their_files(self):
        examples = {program: examples_in(help_of(program, "--help")) for program in PROGRAMS}
        self.assertEqual({program: len(found) for program, found in examples.items()}, dict.fromkeys(PROGRAMS, 2))
        environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
        with tempfile.TemporaryDirectory() as folder:
            for program in PROGRAMS:
                for command in examples[program]:
                    if "mpirun" in command and len(os.sched_getaffinity(0)) < 2:
                        command += " --oversubscribe"  # two ranks refuse to share a core unasked
                    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                                          stdin=subprocess.DEVNULL)
                    self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
            written = {file.name for file in Path(folder).iterdir()}
        self.assertEqual(written, {"one-rank.json", "profile.json", "schedule.json"})


if __name__ == "__main__":
    unittest.main()

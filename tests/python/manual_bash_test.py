"""Completion in bash: a line is completed as the shell would ask for it."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from hios.manual import bash
from hios.manual.commands import command_page
from manual_pages import FLAGS, page, pages

# Completes $1 as bash does at its end: words are also broken at = and : (COMP_WORDBREAKS).
ASK = r"""
COMP_LINE=$1 COMP_POINT=${#1}
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { :; }  # it needs a completion that is under way
program=${COMP_WORDS[0]}
for file in "$FILES"/*; do . "$file"; done
start=$(complete -p "$program" | sed 's/.*-F \([^ ]*\) .*/\1/')
"$start" "$program"
for reply in "${COMPREPLY[@]}"; do printf '%s\n' "$reply"; done
"""


def broken(line):
    """The words of a line as bash breaks them; after a space there is an empty one."""
    words = re.findall(r"[=:]+|[^\s=:]+", line)
    return words + [""] if line.endswith(" ") else words


class Bash(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "files").mkdir()
        (self.folder / "work" / "models").mkdir(parents=True)
        (self.folder / "work" / "model.onnx").touch()
        for each in (page(), command_page(pages())):
            (self.folder / "files" / each.name).write_text(bash.text(each))

    def complete(self, line):
        """The candidates at the end of a line, each as the whole word that the shell would make of it."""
        words = broken(line)
        done = subprocess.run(["bash", "--norc", "-c", ASK, "ask", line, *words], capture_output=True, text=True,
                              cwd=self.folder / "work", env={"PATH": "/usr/bin:/bin", "FILES": str(self.folder / "files")})
        self.assertEqual(done.stderr, "", line)
        return done.stdout.split()

    def test_flags(self):
        self.assertEqual(self.complete("hios-run --b"), ["--backend"])
        self.assertEqual(self.complete("hios-run --force --ver"), ["--verify"])
        names = [f"--{flag.name}" for flag in FLAGS]
        self.assertEqual(set(self.complete("hios-run --")), set(names))
        self.assertEqual(self.complete("hios-run --nonsense"), [])

    def test_values(self):
        self.assertEqual(self.complete("hios-run --model squ"), ["squeezenet"])
        self.assertEqual(self.complete("hios-run --model=squ"), ["squeezenet"])
        self.assertEqual(sorted(self.complete("hios-run --force --model ")),
                         ["inception_v3", "model.onnx", "models", "squeezenet"])
        self.assertEqual(self.complete("hios-run --threads "), [])

    def test_a_model_without_its_flag(self):
        for line in ("hios-run ", "hios run ", "hios profile ", "hios schedule ", "hios bench "):
            self.assertEqual(sorted(self.complete(line)), ["inception_v3", "model.onnx", "models", "squeezenet"], line)
        self.assertEqual(self.complete("hios schedule squ"), ["squeezenet"])

    def test_files_and_folders(self):
        self.assertEqual(sorted(self.complete("hios-run --model mod")), ["model.onnx", "models"])
        self.assertEqual(self.complete("hios-run --outputs mod"), ["models"])
        self.assertEqual(self.complete("hios-run --outputs="), ["models"])

    def test_lists_with_commas(self):
        self.assertEqual(self.complete("hios-run --backend cu"), ["cuda"])
        self.assertEqual(self.complete("hios-run --backend auto,cu"), ["auto,cuda"])
        self.assertEqual(self.complete("hios-run --backend=auto,cu"), ["auto,cuda"])

    def test_words_with_a_colon(self):
        # The shell keeps "cpu:" and asks for the rest.
        self.assertEqual(self.complete("hios-run --backend cpu:a"), ["avx2"])
        self.assertEqual(self.complete("hios-run --backend cpu:"), ["avx2"])

    def test_values_that_may_be_left_out_are_joined(self):
        self.assertEqual(self.complete("hios-run --verify="), ["operators"])
        self.assertEqual(self.complete("hios-run --verify --fo"), ["--force"])
        self.assertNotIn("operators", self.complete("hios-run --verify "))
        self.assertEqual(self.complete("hios-run --help "), ["all"])
        self.assertEqual(self.complete("hios-run --help=a"), ["all"])

    def test_commands(self):
        self.assertEqual(self.complete("hios sch"), ["schedule"])
        self.assertIn("--version", self.complete("hios --v"))
        self.assertEqual(self.complete("hios run --ra"), ["--ranks"])
        self.assertEqual(self.complete("hios run --model squ"), ["squeezenet"])
        self.assertEqual(self.complete("hios schedule --ra"), [])
        self.assertIn("squeezenet", self.complete("hios bench "))
        self.assertIn("model.onnx", self.complete("hios check mod"))
        self.assertEqual(self.complete("hios nonsense --m"), [])


if __name__ == "__main__":
    unittest.main()

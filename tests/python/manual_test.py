"""Manual pages and completion of a described program: they have its flags, and the tools that read them find no fault."""

import io
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path

from hios.command import COMMANDS
from hios.manual import bash, commands, fish, troff, zsh
from hios.manual import __main__ as manual
from hios.manual.commands import STARTS, command_page, flags_in, own_flags
from hios.manual.pages import PROGRAMS, brief, describe, page_of
from hios.errors import HiosError
from manual_pages import DESCRIPTION, FLAGS, page, pages


def flags_of_manual(text):
    """The flags that have an entry, by name."""
    entries = re.findall(r"^\.TP\n(\\fB.*)$", text, flags=re.M)
    return [re.search(r"\\-\\-((?:[a-z0-9]|\\-)+)\\fR", entry)[1].replace("\\-", "-") for entry in entries if "\\-\\-" in entry]


def check(test, command, text):
    """Runs a checker on a text, if the machine has it: it must print nothing."""
    if shutil.which(command[0]) is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "text"
        file.write_text(text)
        done = subprocess.run([*command, file], capture_output=True, text=True)
        test.assertEqual((done.returncode, done.stderr), (0, ""), text)


class ManualPages(unittest.TestCase):
    def test_every_flag_has_an_entry(self):
        self.assertEqual(flags_of_manual(troff.text(page())), [flag.name for flag in FLAGS])

    def test_troff_finds_no_fault(self):
        for each in (page(), command_page(pages())):
            check(self, ["groff", "-man", "-Tutf8", "-wall", "-z"], troff.text(each))
            check(self, ["man", "--warnings", "-l"], troff.text(each))

    def test_characters_of_troff_stay_text(self):
        self.assertEqual(troff.escaped(".npy"), "\\&.npy")
        self.assertEqual(troff.escaped("a\\b --c '~^`\""), "a\\eb \\-\\-c \\(aq\\(ti\\(ha\\(ga\\(dq")
        self.assertEqual(troff.escaped("'x"), "\\(aqx")
        self.assertEqual(troff.escaped("a — b"), "a \\[u2014] b")

    def test_entries_have_values_defaults_and_words(self):
        text = troff.text(page())
        self.assertIn("\\fB\\-\\-threads\\fR \\fIN\\fR\ncores per rank (profile: 1). More text\n", text)
        self.assertIn("(default: auto); words that it takes: cuda\n", text)
        self.assertIn("\\fB\\-\\-verify\\fR[=\\fIoperators\\fR]", text)
        self.assertIn("\\fB\\-h, \\-\\-help".replace(", ", "\\fR, \\fB"), text)
        self.assertIn("\\[u2014]", text)
        self.assertRegex(text, r'^\.TH HIOS\\-RUN 1 "2026-11-26" "hios 0\.1\.0"')

    def test_examples_still_run_when_they_are_folded(self):
        command = DESCRIPTION["examples"][1]["command"]
        lines = troff.folded(command).split("\n")
        self.assertEqual(len(lines), 2)
        self.assertTrue(all(len(line) <= 74 for line in lines))
        self.assertEqual(re.sub(r"\\\n *", "", "\n".join(lines)), command)


class CommandPage(unittest.TestCase):
    def test_every_command_is_there(self):
        made = command_page(pages())
        self.assertEqual({each.name for each in made.commands}, set(COMMANDS))
        for name, (_, what) in COMMANDS.items():
            self.assertIn(f"\\fBhios {name}\\fR\n{troff.escaped(what)}", troff.text(made))

    def test_commands_that_start_a_program_have_its_flags(self):
        made = {each.name: each for each in command_page(pages()).commands}
        for name, (module, _) in COMMANDS.items():
            self.assertEqual(module.startswith("hios.launch."), name in STARTS, name)
        self.assertEqual([flag.name for flag in made["profile"].flags], ["ranks", *(flag.name for flag in FLAGS)])
        self.assertEqual([flag.name for flag in made["run"].flags],
                         ["ranks", "input", "preprocess", "top", "labels", *(flag.name for flag in FLAGS)])
        self.assertIn("; its flags: hios\\-run(1)", troff.text(command_page(pages())))

    def test_flags_of_a_help_text(self):
        first, second = flags_in("hios x: a text\n\n  --top K             the K largest\n  --how all|none|FILE\n"
                                 "                      a long\n                      text\n\nThe others:\n  --not N  this\n")
        self.assertEqual((first.name, first.argument, first.text, first.values), ("top", "K", "the K largest", ()))
        self.assertEqual((second.name, second.text), ("how", "a long text"))
        self.assertEqual((second.values, second.file), (("all", "none"), "input"))

    def test_flags_are_those_that_the_commands_read(self):
        for name, (_, flags) in STARTS.items():
            source = (Path(commands.__file__).parents[1] / "launch" / f"{name}.py").read_text()
            taken = set(re.findall(r'take\(\w+, "--([a-z]+)"\)', source)) - {"schedule"}  # which hios-run reads, too
            named = {flag.name for flag in flags}
            self.assertLessEqual(taken, named, name)
            if name != "run":  # whose help names them, and other modules read them
                self.assertEqual(taken, named, name)

    def test_own_commands_have_the_flags_of_their_parsers(self):
        flags = {flag.name: flag for flag in own_flags("hios.benchmark.command")}
        self.assertIn("output", flags)
        self.assertNotIn("%(", flags["seed"].text if "seed" in flags else "")
        self.assertTrue(flags["help"].letter == "h" and not flags["help"].argument)
        for name, (module, _) in COMMANDS.items():
            if name not in STARTS:
                self.assertGreater(len(own_flags(module)), 3, name)

    def test_a_command_that_cannot_be_imported_has_no_flags(self):
        self.assertEqual(own_flags("hios.no_such_module"), ())


class Completions(unittest.TestCase):
    def test_shells_find_no_fault(self):
        for each in (page(), command_page(pages())):
            check(self, ["bash", "-n"], bash.text(each))
            check(self, ["zsh", "-n"], zsh.text(each))
            check(self, ["fish", "-n"], fish.text(each))

    def test_zsh_and_fish_have_every_flag(self):
        for flag in FLAGS:
            self.assertRegex(zsh.text(page()), rf"--{flag.name}[=\[]")
            self.assertIn(f" -l {flag.name} ", fish.text(page()))

    def test_zsh_words_are_quoted(self):
        text = zsh.text(page())
        self.assertIn("'--backend=[cpu\\:avx2 is cpu without newer '\\''words'\\'']:", text)
        self.assertIn("'--verify=-[compare \\[bit by bit\\] at 3.0 ms]::operators:(operators)'", text)
        self.assertIn("'*--dim=[", text)
        self.assertIn("'(-h --help)-h[print the flags]", text)
        self.assertIn(r""" _alternative "words\:word\:(squeezenet inception_v3)" "files\:file\:_files"'""", text)
        self.assertIn(r" _values -s , word auto cpu cpu\\\:avx2 cuda'", text)

    def test_zsh_and_fish_know_a_model_without_its_flag(self):
        self.assertIn(r"""'*:model: _alternative "words\:word\:(squeezenet inception_v3)" "files\:file\:_files"'""", zsh.text(page()))
        self.assertIn("\ncomplete -c hios-run -a 'squeezenet inception_v3'\n", fish.text(page()))

    def test_fish_knows_what_a_flag_takes(self):
        text = fish.text(page())
        self.assertIn("complete -c hios-run -l model -rF -a 'squeezenet inception_v3' -d 'a built-in network'", text)
        self.assertIn("complete -c hios-run -l threads -x -d 'cores per rank'", text)
        self.assertIn("complete -c hios-run -l force -d 'replace files'", text)
        self.assertIn("complete -c hios-run -l verify -a 'operators' -d ", text)
        self.assertIn("complete -c hios-run -l backend -x -a '(__hios_list auto cpu cpu:avx2 cuda)' -d ", text)
        self.assertIn("-d 'cpu:avx2 is cpu without newer \\'words\\''", text)

    def test_a_menu_has_the_first_part_of_a_text(self):
        self.assertEqual(brief("cores per rank (profile: 1); more. And more"), "cores per rank")
        self.assertEqual(brief("word " * 40, most=12), "word word…")


class Program(unittest.TestCase):
    """python3 -m hios.manual, with programs that print a description."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def fake(self, name, body):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def fake_programs(self):
        for name in PROGRAMS:
            (self.folder / f"{name}.json").write_text(json.dumps({**DESCRIPTION, "program": name}))
            self.fake(name, f'[ "$*" = --describe-flags ] && cat "{self.folder}/{name}.json"')

    def test_writes_a_page_and_three_completions_for_each(self):
        self.fake_programs()
        output = self.folder / "share"
        for _ in range(2):  # files that are there are replaced
            self.assertEqual(manual.main(["--programs", str(self.folder), "--output", str(output)]), 0)
        files = sorted(str(file.relative_to(output)) for file in output.rglob("*") if file.is_file())
        names = ("hios", *PROGRAMS)
        self.assertEqual(files, sorted([*(f"man/man1/{name}.1" for name in names),
                                        *(f"bash-completion/completions/{name}" for name in names),
                                        *(f"zsh/site-functions/_{name}" for name in names),
                                        *(f"fish/vendor_completions.d/{name}.fish" for name in names)]))
        self.assertEqual((output / "man/man1/hios-run.1").read_text(), troff.text(page_of(DESCRIPTION)))

    def test_a_program_that_fails_ends_it(self):
        self.fake_programs()
        self.fake("hios-schedule", "echo it broke >&2; exit 3")
        with redirect_stderr(io.StringIO()) as said:
            self.assertEqual(manual.main(["--programs", str(self.folder), "--output", str(self.folder / "share")]), 3)
        self.assertIn("hios-schedule --describe-flags ended with status 3: it broke", said.getvalue())
        self.assertFalse((self.folder / "share").exists())
        with self.assertRaises(HiosError):
            describe(self.folder / "hios-schedule")


if __name__ == "__main__":
    unittest.main()

"""scripts/mutants: its list fits the tree, its insertion of mutants, and runs on a tree of the test's own."""

import contextlib
import io
import re
import subprocess
import unittest
from pathlib import Path

from mutants import __main__ as mutants
from mutants.mutation import ListError, Mutant, Suite, insert, place_of, read_list
from mutants.tree import FAILED, Outcome, Tree
from support import FolderTest

ROOT = Path(__file__).resolve().parents[2]
SUITE = Suite("fast", ("fast_tests",), "^Fast")


def mutant(text, becomes, file="a.cpp", equivalent=""):
    return Mutant(file, text, becomes, SUITE, equivalent)


class ListTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mutants = read_list(mutants.LIST)

    def test_every_text_occurs_once_in_its_file(self):
        for each in self.mutants:
            with self.subTest(each.title()):
                place_of(each, (ROOT / each.file).read_text())

    def test_the_mutants_of_a_file_are_apart(self):
        for file in {each.file for each in self.mutants}:
            insert([each for each in self.mutants if each.file == file], (ROOT / file).read_text())

    def test_suites_name_programs_and_suites_of_tests(self):
        parts = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("CMakeLists.txt"))
        known = {name for file in (ROOT / "tests").rglob("*_test.cpp")
                 for name in re.findall(r"^TEST(?:_F|_P)?\((\w+),", file.read_text(), re.MULTILINE)}
        for suite in {each.suite for each in self.mutants}:
            for target in suite.targets:
                self.assertTrue(f"_test({target}" in parts, target)
            if names := re.search(r"\)\(([\w|]+)\)\\\.", suite.tests):
                self.assertEqual(set(names.group(1).split("|")) - known, set(), suite.name)

    def test_every_room_has_mutants(self):
        for room in ("engine/run/", "mpi/", "hios/evaluate/", "hios/onnx/", "scheduler/best/"):
            self.assertGreaterEqual(sum(each.file.startswith(room) for each in self.mutants), 8, room)


class InsertTest(unittest.TestCase):
    def test_an_expression_asks_for_its_mutant(self):
        one = mutant("a < b", "a <= b")
        self.assertEqual(insert([one], "if (a < b) f();"),
                         f'#include "mutants_switch.h"\n#line 1\nif ((hios_mutant(0x{one.key}) ? (a <= b) : (a < b))) f();')

    def test_a_statement_becomes_nothing_or_another(self):
        one, other = mutant("f();", ""), mutant("g();", "h();")
        code = insert([one, other], "if (a) f(); else g();")
        self.assertIn(f"if (a) {{ if (hios_mutant(0x{one.key})) {{  }} else {{ f(); }} }} else", code)
        self.assertIn(f"else {{ if (hios_mutant(0x{other.key})) {{ h(); }} else {{ g(); }} }}", code)

    def test_one_place_may_have_several_mutants(self):
        one, other = mutant("a < b", "a <= b"), mutant("a < b", "a > b")
        self.assertIn(f"(hios_mutant(0x{one.key}) ? (a <= b) : hios_mutant(0x{other.key}) ? (a > b) : (a < b))",
                      insert([one, other], "a < b"))

    def test_texts_that_do_not_occur_once_are_refused(self):
        for code, count in (("a > b", 0), ("a < b; a < b", 2)):
            with self.assertRaisesRegex(ListError, rf"a\.cpp has the text 'a < b' {count} times"):
                insert([mutant("a < b", "a")], code)

    def test_texts_that_overlap_are_refused(self):
        with self.assertRaisesRegex(ListError, "overlaps"):
            insert([mutant("a < b", "a"), mutant("b + c", "b")], "a < b + c")


class ReadTest(FolderTest):
    def read(self, entry):
        file = self.folder / "list.toml"
        file.write_text(f'[suite.fast]\ntargets = ["fast_tests"]\ntests = "^Fast"\n{entry}')
        return read_list(file)

    def test_an_entry_is_read(self):
        entry = '[[mutant]]\nfile = "a.cpp"\ntext = "a < b"\nbecomes = "a"\nsuite = "fast"\n'
        self.assertEqual(self.read(entry), [mutant("a < b", "a")])

    def test_wrong_entries_are_refused(self):
        for wrong, message in (('becomes = "a"\nsuite = "fast"', "lacks text"),
                               ('text = "a"\nbecomes = ""\nsuite = "fast"', "cannot become nothing"),
                               ('text = "a"\nbecomes = "a"\nsuite = "fast"', "changes nothing"),
                               ('text = "a"\nbecomes = "b"\nsuite = "slow"', "no suite slow; there are fast"),
                               ('text = "a"\nbecomes = "b"\nsuite = "fast"\nwhy = ""', "unknown keys why")):
            with self.subTest(message), self.assertRaisesRegex(ListError, message):
                self.read(f'[[mutant]]\nfile = "a.cpp"\n{wrong}\n')

    def test_an_entry_is_listed_once(self):
        entry = '[[mutant]]\nfile = "a.cpp"\ntext = "a < b"\nbecomes = "a"\nsuite = "fast"\n'
        with self.assertRaisesRegex(ListError, "listed twice"):
            self.read(entry + entry)


class FakeTree(Tree):
    """Builds nothing; its tests fail, pass or take too long as the test says."""

    results = {}

    def build(self, targets):
        self.built = targets

    def test(self, tests, mutant, limit_s):
        result = self.results[mutant.becomes if mutant else "unchanged"]
        if result == "hangs":
            raise subprocess.TimeoutExpired("ctest", limit_s)
        self.asked = [*getattr(self, "asked", []), mutant.becomes if mutant else "unchanged"]
        return Outcome(result == "passes", "" if result == "passes" else result)


class RunTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.root, self.copy = self.folder / "tree", self.folder / "copy"
        self.root.mkdir()
        subprocess.run(["git", "init", "-q", self.root], check=True)
        (self.root / "a.cpp").write_text("a < b; f();")
        (self.root / "b.cpp").write_text("g();")
        self.mutants = [mutant("a < b", "a"), mutant("f();", "h();"), mutant("g();", "i();", "b.cpp", "it is the same")]

    def run_all(self, resume=False, **results):
        self.tree = FakeTree(self.root, self.copy, "release", 1)
        self.tree.results = {"unchanged": "passes", **results}
        judgements = mutants.Judgements(self.copy / "judgements.json", resume)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            survived = mutants.run(self.mutants, self.tree, judgements, 5, self.mutants)
        return survived, printed.getvalue()

    def test_the_table_names_the_test_that_caught_a_mutant_and_counts_survivors(self):
        survived, text = self.run_all(**{"a": "Fast.Compares", "h();": "passes"})
        self.assertEqual(survived, 1)
        self.assertIn("a.cpp\n    a < b\n -> a\n    caught by Fast.Compares\n", text)
        self.assertIn("a.cpp\n    f();\n -> h();\n    survived\n", text)
        self.assertIn("    equivalent: it is the same\n", text)
        self.assertTrue(text.endswith("3 mutants: 1 caught, 1 equivalent, 1 survived\n"), text)
        self.assertEqual(self.tree.built, ["fast_tests"])

    def test_tests_that_take_too_long_catch_a_mutant(self):
        survived, text = self.run_all(**{"a": "hangs", "h();": "Fast.Calls"})
        self.assertEqual(survived, 0)
        self.assertIn("caught: the tests take more than 5 s", text)

    def test_a_run_continues(self):
        self.run_all(**{"a": "Fast.Compares", "h();": "passes"})
        survived, text = self.run_all(resume=True)
        self.assertEqual(survived, 1)
        self.assertIn("caught by Fast.Compares", text)
        self.assertFalse(hasattr(self.tree, "asked"))

    def test_tests_that_fail_without_a_mutant_end_the_run(self):
        with self.assertRaisesRegex(SystemExit, "fail without any mutant"):
            self.run_all(unchanged="Fast.Compares")

    def test_the_tree_keeps_its_code_and_the_copy_follows_it(self):
        self.run_all(**{"a": "Fast.Compares", "h();": "passes"})
        self.assertEqual((self.root / "a.cpp").read_text(), "a < b; f();")
        self.assertIn("hios_mutant", (self.copy / "a.cpp").read_text())
        self.assertEqual((self.copy / "b.cpp").read_text(), "g();")
        time = (self.copy / "a.cpp").stat().st_mtime_ns
        (self.root / "b.cpp").unlink()
        self.run_all(**{"a": "Fast.Compares", "h();": "passes"})
        self.assertEqual((self.copy / "a.cpp").stat().st_mtime_ns, time)
        self.assertFalse((self.copy / "b.cpp").exists())

    def test_a_folder_of_somebody_else_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "no copy that mutants made"):
            Tree(self.root, self.root, "release", 1)

    def test_ctest_names_the_test_that_failed(self):
        text = ("1/3 Test  #7: Fast.Adds .......   Passed    0.01 sec\n"
                "2/3 Test #12: Routes/Fast.Sends/ipc ...***Failed    0.02 sec\n")
        self.assertEqual(FAILED.search(text).group(1), "Routes/Fast.Sends/ipc")
        self.assertEqual(FAILED.search("1/1 Test #2: Fast.Waits ....***Timeout 60.00 sec").group(1), "Fast.Waits")
        self.assertIsNone(FAILED.search("1/1 Test #2: Fast.Adds ....   Passed 0.01 sec"))
        self.assertIsNone(FAILED.search("1/1 Test #2: Fast.Adds ....***Skipped 0.01 sec"))


if __name__ == "__main__":
    unittest.main()

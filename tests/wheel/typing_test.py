"""Types: the stub of the compiled part is what nanobind writes of it, mypy accepts the library and a user of it, and every
public name has a docstring."""

import ast
import inspect
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import hios

USER = '''
import hios

g = hios.Graph.from_lists([("a", 1.0)], [])
s = hios.schedule(g, devices=hios.Platform.alike(2), algorithm="best", time_limit=10)
ms: float = s.latency_ms + s.gap + s.timeline().stages[0].start_ms
text: str = hios.compare(g, ["heft"], devices=[2, 4]).to_csv()
name: str | None = hios.validate(g, [["a"]])[0].operator

@hios.scheduler("mine")
def mine(problem: hios.Problem) -> list[list[str]]:
    return [problem.topological()]

wrong: int = s.latency_ms
hios.schedule(g, device=2)
'''


class TypingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.cache.cleanup)

    def mypy(self, *words):
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--allow-untyped-calls", "--no-error-summary",
                               "--cache-dir", self.cache.name, *words], capture_output=True, text=True)

    def test_the_stub_is_that_of_the_compiled_part(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "_core.pyi"
            subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "hios._core", "-o", file], check=True)
            ours = (Path(hios.__file__).parent / "_core.pyi").read_text()
            self.assertEqual(ast.dump(ast.parse(ours)), ast.dump(ast.parse(file.read_text())),
                             "python3 -m nanobind.stubgen -m hios._core -o python/hios/_core.pyi writes it again")

    def test_the_library_has_the_types_that_it_says(self):
        done = self.mypy("-p", "hios.planning")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_user_is_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "user.py"
            file.write_text(USER)
            said = self.mypy(file).stdout.splitlines()
        errors = [line for line in said if ": error: " in line]
        self.assertEqual(len(errors), 2, said)
        self.assertIn('has type "float", variable has type "int"', errors[0])
        self.assertIn('Unexpected keyword argument "device"', errors[1])

    def test_public_names_have_docstrings(self):
        for name in hios.__all__:
            value = getattr(hios, name)
            self.assertTrue(inspect.getdoc(value), name)
            if inspect.isclass(value) and value.__module__.startswith("hios.planning"):
                for member, function in inspect.getmembers(value):
                    if not member.startswith("_") and (inspect.isfunction(function) or isinstance(function, property)):
                        self.assertTrue(inspect.getdoc(function), f"{name}.{member}")


if __name__ == "__main__":
    unittest.main()

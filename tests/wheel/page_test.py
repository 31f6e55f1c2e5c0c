"""docs/python.md: each block of Python runs, in order, and prints what stands under it (… stands for any text)."""

import contextlib
import io
import os
import re
import tempfile
import unittest

from support import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)


def pattern_of(expected):
    return "".join(".*" if part == "…" else re.escape(part) for part in re.split("(…)", expected))


class PageTest(unittest.TestCase):
    def test_every_block_prints_what_stands_under_it(self):
        import matplotlib
        matplotlib.use("Agg")
        names = {"__name__": "page"}
        blocks = BLOCK.findall((ROOT / "docs/python.md").read_text())
        self.assertGreater(len(blocks), 6)
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for code, expected in blocks:
                    with self.subTest(code=code[:60]), contextlib.redirect_stdout(io.StringIO()) as out:
                        exec(compile(code, "docs/python.md", "exec"), names)
                        self.assertRegex(out.getvalue(), re.compile(pattern_of(expected) + r"\Z", re.S))
            finally:
                os.chdir(before)


if __name__ == "__main__":
    unittest.main()

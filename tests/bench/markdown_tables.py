"""The tables of pages in Markdown: found, read, and compared with what a results file gives."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
FIGURE = r"[-+−~]?\d[\d.,]*(e-?\d+)?( ?(%|x|s|ms|MB|KB|GB))?"
# A cell of figures, and of signs and words between them.
ALL_FIGURES = re.compile(rf"{FIGURE}( ?(,|;|/|to|of|and|\() ?{FIGURE}\)?)*")


@dataclass(frozen=True)
class Table:
    page: str  # its path in the tree
    line: int
    head: tuple
    rows: tuple  # of tuples of cells

    def shows_figures(self):
        return any(ALL_FIGURES.fullmatch(cell) for row in self.rows for cell in row)

    def key(self):
        """Page and title: the first three columns."""
        return self.page, " | ".join(self.head[:3])


def cells_of(line):
    return tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1])


def tables_in(text, page=""):
    """All tables but those of examples between fences."""
    found, block, fenced = [], [], False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if line.lstrip().startswith("|") and not fenced:
            block.append(cells_of(line))
        elif block:
            found.append(Table(page, number - len(block), block[0], tuple(block[2:])))
            block = []
    return found


def tables_of(page):
    return tables_in(page.read_text(), page.relative_to(ROOT).as_posix())


def rows_in(text):
    """The rows of the one table in a text that a generator wrote."""
    (table,) = tables_in(text)
    return table.rows


class Numbers(tuple):
    """The numbers of a cell of words, in order."""

    def __new__(cls, *numbers):
        return super().__new__(cls, numbers)

    def __eq__(self, cell):
        return tuple(re.findall(r"(?<![\w.-])\d+(?:,\d{3})*(?:\.\d+)?", cell)) == tuple(self)

    __hash__ = None


def differences(shown, expected):
    """One line for each cell that differs. None is expected where any text may be, Numbers where any words may be."""
    if len(shown) != len(expected):
        return [f"{len(shown)} rows, from the results {len(expected)}"]
    lines = []
    for have, want in zip(shown, expected):
        if len(have) != len(want):
            lines.append(f"{have[0]!r}: {len(have)} cells, from the results {len(want)}")
        lines += [f"{have[0]!r}: {cell!r}, from the results {right!r}" for cell, right in zip(have, want)
                  if right is not None and not right == cell]
    return lines

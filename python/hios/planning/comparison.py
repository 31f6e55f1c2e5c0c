"""Several algorithms on several numbers of devices, in one table."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Union

from hios.errors import InputError
from hios.planning.core import core
from hios.planning.graph import Graph
from hios.planning.numbers import file_name, short
from hios.planning.own import function_of
from hios.planning.platform import Devices, Platform
from hios.planning.problem import Problem
from hios.planning.schedule import Schedule, rows_of

ALGORITHMS = ("sequential", "ios", "heft", "hios-lp", "hios-mr", "best")
# A key of scripts, as in the tables of hios-schedule, and the title for people.
COLUMNS = {"algorithm": "algorithm", "devices": "devices", "latency_ms": "latency ms", "speedup_over_sequential": "vs sequential",
           "lower_bound_ms": "lower bound ms", "bound": "bound", "gap": "gap", "seconds": "seconds", "devices_used": "used",
           "waiting_share": "waiting", "outcome": "outcome", "refused": "refused"}


@dataclass(frozen=True)
class Row:
    """One algorithm on one platform: its schedule, or the reason why it has none."""
    algorithm: str
    devices: int
    schedule: Schedule | None
    refused: str | None
    speedup_over_sequential: float | None = None
    """The latency of `sequential` in the same comparison, divided by this one; None without it."""

    def values(self) -> dict[str, Any]:
        """The row's numbers by their keys; None where there are none."""
        values: dict[str, Any] = dict.fromkeys(COLUMNS)
        values.update(algorithm=self.algorithm, devices=self.devices, refused=self.refused)
        if self.schedule is not None:
            row = self.schedule._row
            values.update(latency_ms=row.latency_ms, speedup_over_sequential=self.speedup_over_sequential,
                          lower_bound_ms=row.lower_bound_ms, bound=row.bound, gap=row.gap, seconds=row.seconds,
                          devices_used=row.devices_used, waiting_share=row.waiting_share, outcome=row.outcome)
        return values


class Comparison(Sequence[Row]):
    """The rows of a comparison, by platform, then by algorithm. print() shows them as a table."""

    def __init__(self, graph: Graph, rows: Iterable[Row], interrupted: bool = False) -> None:
        self.graph = graph
        self.rows = list(rows)
        self.interrupted = interrupted
        """True if Ctrl-C ended it: rows that it had not started are not there."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def row(self, algorithm: str, devices: int | None = None) -> Row:
        """The first row of an algorithm, on so many devices if they are named. Throws InputError where there is none."""
        for row in self.rows:
            if row.algorithm == algorithm and devices in (None, row.devices):
                return row
        raise InputError(f"the comparison has no row of {short(algorithm)}" + (f" on {devices} devices" if devices else ""))

    def best(self) -> Row:
        """The row with the least latency. Throws InputError where all algorithms refused."""
        planned = [row for row in self.rows if row.schedule is not None]
        if not planned:
            raise InputError("all algorithms refused: " + "; ".join(f"{row.algorithm}: {row.refused}" for row in self.rows))
        return min(planned, key=lambda row: row.schedule.latency_ms if row.schedule else 0)

    def to_csv(self, file: "str | PathLike[str] | None" = None) -> str:
        """The rows as CSV, with a line of keys; numbers with all their digits. Also writes them, if a file is named."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in self.rows:
            writer.writerow(["" if value is None else repr(value) if isinstance(value, float) else value
                             for value in row.values().values()])
        return _written(text.getvalue(), file)

    def to_latex(self, file: "str | PathLike[str] | None" = None) -> str:
        """The rows as a LaTeX table (tabular). Also writes it, if a file is named."""
        keys = self._shown()
        lines = [rf"\begin{{tabular}}{{{''.join('l' if key in _TEXTS else 'r' for key in keys)}}}", r"\hline",
                 " & ".join(_latex(COLUMNS[key]) for key in keys) + r" \\", r"\hline"]
        lines += [" & ".join(map(_latex, cells)) + r" \\" for cells in self._cells(keys)]
        return _written("\n".join([*lines, r"\hline", r"\end{tabular}"]) + "\n", file)

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame. Throws InputError where pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise InputError("to_pandas() needs pandas: pip install pandas") from None
        return pandas.DataFrame([row.values() for row in self.rows], columns=list(COLUMNS))

    def _shown(self) -> list[str]:
        """The columns that have something to say."""
        rows = [row.values() for row in self.rows]
        return [key for key in COLUMNS if key == "algorithm" or any(row[key] is not None for row in rows)]

    def _cells(self, keys: list[str]) -> list[list[str]]:
        return [[_text(key, row.values()[key]) for key in keys] for row in self.rows]

    def __str__(self) -> str:
        keys = [key for key in self._shown() if key != "refused"]
        table = [[COLUMNS[key] for key in keys], *self._cells(keys)]
        widths = [max(len(line[i]) for line in table) for i in range(len(keys))]
        lines = ["  ".join(cell.ljust(width) if key in _TEXTS else cell.rjust(width)
                           for key, cell, width in zip(keys, line, widths, strict=True)).rstrip() for line in table]
        lines += [f"{row.algorithm} on {row.devices} refused: {row.refused}" for row in self.rows if row.refused]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<hios.Comparison of {self.graph.name!r}: {len(self)} rows>"


def compare(graph: Graph, algorithms: Iterable[str] = ALGORITHMS, devices: Union[Devices, Iterable[Devices]] = 2,
            time_limit: float | None = 10, *, options: Mapping[str, Mapping[str, Any]] | None = None, seed: int = 0) -> Comparison:
    """Runs algorithms one after the other on each number of devices, or Platform.

    time_limit: seconds for each algorithm. options: those of each algorithm by name. An algorithm that refuses the problem,
    or a Python function that raises, breaks a rule or takes too long, has a row that says so, and the others go on. Ctrl-C
    keeps the rows so far, with a HiosWarning."""
    names = list(algorithms) if isinstance(algorithms, Iterable) and not isinstance(algorithms, str) else [algorithms]
    if not names:
        raise InputError("compare() needs an algorithm: hios.algorithms() lists them")
    for name in names:
        function_of(name)
    if options is not None and not isinstance(options, Mapping):
        raise InputError(f"options is {short(options)}: algorithms with their options are wanted")
    for name in options or {}:
        if name not in names:
            raise InputError(f"options of {short(name)}, which is not among the algorithms")
    several = list(devices) if isinstance(devices, Iterable) else [devices]
    if not several:
        raise InputError("compare() needs a number of devices: devices=[2, 4]")
    problems = [Problem(graph, each) for each in several]
    rows: list[Row] = []
    for problem in problems:
        found, interrupted = rows_of(problem, names, time_limit, options or {}, seed)
        rows += _rows(problem, found)
        if interrupted:
            return Comparison(graph, rows, interrupted=True)
    return Comparison(graph, rows)


def _rows(problem: Problem, found: list[core.Row]) -> Iterator[Row]:
    sequential = next((row.latency_ms for row in found if row.algorithm == "sequential" and row.refusal is None), None)
    for row in found:
        if row.refusal is not None:
            yield Row(row.algorithm, len(problem.platform), None, row.refusal)
        else:
            speedup = sequential / row.latency_ms if sequential is not None and row.latency_ms > 0 else None
            yield Row(row.algorithm, len(problem.platform), Schedule(problem, row), None, speedup)


_TEXTS = ("algorithm", "bound", "outcome", "refused")


def _text(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key in ("latency_ms", "lower_bound_ms"):
        return f"{value:.3f}"
    if key == "speedup_over_sequential":
        return f"{value:.2f}x"
    if key in ("gap", "waiting_share"):
        return f"{100 * value:.1f} %"
    return f"{value:.4f}" if key == "seconds" else str(value)


def _latex(text: str) -> str:
    escaped = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(escaped.get(each, "\\" + each if each in "&%$#_{}" else each) for each in text)


def _written(text: str, file: "str | PathLike[str] | None") -> str:
    if file is not None:
        path = file_name(file)
        try:
            Path(path).write_text(text)
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    return text

"""Files to show: the examples of docs/formats.md, and traces and comparisons as the programs write them."""

import contextlib
import copy
import io
import json
import re
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

from hios.command import main

ROOT = Path(__file__).resolve().parents[2]


def examples():
    """The examples of docs/formats.md that belong together, by format."""
    found = {}
    for text in re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "formats.md").read_text(), re.DOTALL):
        data = json.loads(text)
        found.setdefault(data["format"].removeprefix("hios-"), data)
    return found


REPORT, SCHEDULE, SUMMARY = (examples()[name] for name in ("report", "schedule", "summary"))


def report(**changed):
    return {**copy.deepcopy(REPORT), **changed}


def schedule(**changed):
    return {**copy.deepcopy(SCHEDULE), **changed}


def renamed(data, names):
    """The same file with other names of operators."""
    if isinstance(data, dict):
        return {key: renamed(value, names) for key, value in data.items()}
    if isinstance(data, list):
        return [renamed(value, names) for value in data]
    return names.get(data, data) if isinstance(data, str) else data


def many_operators(number):
    """A report of a chain of operators on one rank, each 1 ms long, predicted 0.9 ms."""
    stages, operators = [], []
    for at in range(number):
        name = f"conv_{at}"
        stages.append({"rank": 0, "stage": at, "operators": [[name]], "predicted_start_ms": 0.9 * at,
                       "predicted_end_ms": 0.9 * (at + 1), "measured_start_ms": float(at), "measured_end_ms": at + 1.0})
        operators.append({"operator": name, "rank": 0, "stage": at, "predicted_ms": 0.9, "measured_ms": 1.0, "output_bytes": 4,
                          "sent_bytes": 0})
    return report(ranks=REPORT["ranks"][:1], stages=stages, operators=operators, transfers=[])


def events(process, number, slices):
    """The events of one process of a trace: slices as (lane, name, start ms, end ms)."""
    lanes = list(dict.fromkeys(lane for lane, *_ in slices))
    yield {"ph": "M", "pid": number, "tid": 0, "name": "process_name", "args": {"name": process}}
    for at, lane in enumerate(lanes):
        yield {"ph": "M", "pid": number, "tid": 10 * number + at, "name": "thread_name", "args": {"name": lane}}
    for lane, name, start, end in slices:
        yield {"ph": "X", "pid": number, "tid": 10 * number + lanes.index(lane), "name": name, "ts": 1e3 * start,
               "dur": 1e3 * (end - start)}


def message(number, process, lanes, name, start, end):
    for phase, lane, ms in (("s", lanes[0], start), ("f", lanes[1], end)):
        yield {"ph": phase, "pid": process, "tid": 10 * process + lane, "name": name, "ts": 1e3 * ms, "cat": "message",
               "id": number}


def trace():
    plan = [("rank 0 stream 0", "conv_1", 0, 2), ("rank 1 stream 0", "waiting", 0, 3), ("rank 1 stream 0", "pool_2", 3, 4)]
    run = [("rank 0 stream 0", "conv_1", 0, 5), ("rank 1 stream 0", "waiting", 0, 6), ("rank 1 stream 0", "pool_2", 6, 7)]
    all_events = [*events("planned", 1, plan), *events("measured", 2, run), *message(1, 1, (0, 1), "conv_1", 2, 3),
                  *message(2, 2, (0, 1), "conv_1", 5, 6)]
    return {"displayTimeUnit": "ms", "traceEvents": all_events}


def comparison():
    return {**examples()["comparison"], "schedules": [schedule()]}


class Table:
    """A table of a page: headings, and rows of (text, data-value or None)."""

    def __init__(self):
        self.headings, self.rows = [], []

    def column(self, heading):
        """The cells of a column by the text of the first cell."""
        at = next(i for i, text in enumerate(self.headings) if text.startswith(heading))
        return {row[0][0]: row[at] for row in self.rows}


class Page(HTMLParser):
    """The content of a page: its text, tables, embedded data, and every address in it."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.addresses, self.tags, self.words = [], [], [], []
        self.cell, self.element = None, None
        self.data, self.styles, self.scripts = "", "", ""
        self.feed(text)
        self.payload = json.loads(self.data)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        self.addresses += [value for name, value in attributes if name in ("src", "href", "xlink:href", "action", "data")]
        if tag in ("script", "style"):
            self.element = "data" if given.get("id") == "data" else tag
        elif tag == "table":
            self.tables.append(Table())
        elif tag == "tr" and self.tables:
            self.tables[-1].rows.append([])
        elif tag in ("td", "th"):
            self.cell = [[], given.get("data-value")]

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.element = None
        elif tag in ("td", "th") and self.cell:
            text = " ".join(" ".join(self.cell[0]).split())
            self.tables[-1].rows[-1].append((text, self.cell[1]))
            self.cell = None
        elif tag == "thead":
            self.tables[-1].headings = [text for text, _ in self.tables[-1].rows.pop()]

    def handle_data(self, text):
        if self.element == "data":
            self.data += text
        elif self.element == "style":
            self.styles += text
        elif self.element == "script":
            self.scripts += text
        else:
            self.words.append(text)
            if self.cell:
                self.cell[0].append(text)

    def table(self, heading):
        """The first table with this heading."""
        return next(table for table in self.tables if any(text.startswith(heading) for text in table.headings))

    def has(self, form):
        return any(form in given.get("class", "").split() for _, given in self.tags)

    def id(self, prefix):
        return any(given.get("id", "").startswith(prefix) for _, given in self.tags)


class PageTest(unittest.TestCase):
    """Tests that run the command in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, data):
        path = self.folder / name
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return str(path)

    def command(self, *words):
        """(exit status, standard output, standard error) of hios report."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(["report", *words])
        return status, out.getvalue(), err.getvalue()

    def page(self, *words):
        """The page that the command writes for the words."""
        output = self.folder / "report.html"
        done = self.command(*words, "-o", str(output), "--force")
        self.assertEqual(done, (0, f"wrote {output}: open it in a browser\n", ""))
        return Page(output.read_text())

    def refused(self, *words):
        """The one line with which the command refuses the words, without writing anything."""
        output = self.folder / "refused.html"
        status, out, err = self.command(*words, "-o", str(output))
        self.assertEqual((status, out), (2, ""), err)
        self.assertRegex(err, r"\Aerror: [^\n]+\n\Z")
        self.assertFalse(output.exists())
        return err

"""Files that the programs write, read and checked: what each of them is, and its content."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from hios.errors import InputError
from hios.files import LARGEST_JSON, strict_json
from hios.page.schema import finding

SHOWN = {"hios-report": "report", "hios-schedule": "schedule", "hios-summary": "summary", "hios-comparison": "comparison"}
WANTED = ("hios report shows reports (hios-run --json), schedules, comparisons (hios-schedule --compare --json), summaries "
          "and traces")


@dataclass
class File:
    """A file: its name, its kind (report, schedule, summary, comparison or trace) and its content."""
    name: str
    kind: str
    data: dict
    folder: Path | None = None  # None: standard input


def parse(text, name):
    try:
        return strict_json(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}: line {error.lineno}, column {error.colno}: not valid JSON. {WANTED}") from None
    except ValueError as error:
        raise InputError(f"{name} {error}") from None
    except RecursionError:
        raise InputError(f"{name} is nested too deeply to be one of our files") from None


def read_bytes(name):
    if name == "-":
        return sys.stdin.buffer.read(LARGEST_JSON + 1)
    path = Path(name)
    if path.is_dir():
        raise InputError(f"{name} is a folder: name a file in it")
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_JSON + 1)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def trace_finding(data):
    """The first event of a trace that is not one, as one line; None where all are."""
    events = data["traceEvents"]
    if not isinstance(events, list):
        return "$.traceEvents is not of type array"
    for index, event in enumerate(events):
        place = f"$.traceEvents[{index}]"
        if not isinstance(event, dict) or not isinstance(event.get("ph"), str):
            return f"{place} is no event"
        needed = {"X": ("ts", "dur"), "s": ("ts",), "f": ("ts",)}.get(event["ph"], ())
        if not all(number(event.get(key)) for key in needed):
            return f"{place} lacks its time"
        if event["ph"] in "XsfM" and not isinstance(event.get("name"), str):
            return f"{place} lacks its name"
        if event["ph"] in "XsfM" and not isinstance(event.get("pid"), int):
            return f"{place} lacks its process"
        if not all(isinstance(event.get(key, 0), (int, str)) for key in ("tid", "id")):
            return f"{place} has a thread or an id that is neither a number nor a text"
        if event["ph"] == "M" and event["name"] in ("process_name", "thread_name"):
            if not isinstance(event.get("args"), dict) or not isinstance(event["args"].get("name"), str):
                return f"{place} lacks its name"
    return None


def comparison_finding(data):
    if found := finding(data, "hios-comparison"):
        return found
    return next((f"$.schedules: {text}" for one in data["schedules"] if (text := finding(one, "hios-schedule"))), None)


def kind_of(data, name):
    """The kind of a file, after its format and version are found to be ours."""
    if not isinstance(data, dict):
        raise InputError(f"{name} is JSON, but no file of our programs. {WANTED}")
    written = data.get("format")
    if isinstance(written, str) and written in SHOWN:
        if data.get("version") != 1:
            version = json.dumps(data.get("version"))[:40]
            raise InputError(f"{name} is a {written} of version {version}, and this is hios for version 1: "
                             "make the file again with the programs that you use")
        return SHOWN[written]
    if isinstance(written, str) and written.startswith("hios-"):
        raise InputError(f"{name} is a {written}, which has no picture. {WANTED}")
    if "traceEvents" in data:
        return "trace"
    raise InputError(f"{name} is JSON, but no file of our programs. {WANTED}")


def check(data, kind, name):
    checks = {"trace": trace_finding, "comparison": comparison_finding}
    found = checks[kind](data) if kind in checks else finding(data, f"hios-{kind}")
    if found:
        raise InputError(f"{name} is no complete {kind}: {found}")


def read(name):
    """The file of this name; `-` is standard input."""
    name = str(name)
    content = read_bytes(name)
    shown = "standard input" if name == "-" else name
    if len(content) > LARGEST_JSON:
        raise InputError(f"{shown} has more than {LARGEST_JSON >> 20} MiB, the most that is read")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{shown} is no UTF-8 text, so no JSON file. {WANTED}") from None
    data = parse(text, shown)
    kind = kind_of(data, shown)
    check(data, kind, shown)
    return File(shown, kind, data, None if name == "-" else Path(name).resolve().parent)


def near_summary(summary, known):
    """The reports, schedules and traces in the summary's folder, but those that are known."""
    if summary.folder is None:
        return []
    names = [path for kind in ("report", "schedule", "trace") for path in sorted(summary.folder.glob(f"{kind}-*.json"))]
    return [read(path) for path in names if path.resolve() not in known]


def in_place_of(name):
    """The file itself; for a folder, its summary, or those of the folders in it, as a sweep over networks has them."""
    path = Path(name)
    if name == "-" or not path.is_dir():
        return [name]
    found = [path / "summary.json"] if (path / "summary.json").is_file() else sorted(path.glob("*/summary.json"))
    if not found:
        raise InputError(f"{name} is a folder without summary.json, and so are the folders in it: name its files, "
                         f"such as {path / 'report.json'}")
    return [str(file) for file in found]


def read_all(names):
    """All files, each once, with those in the folders of summaries; a folder stands for the summaries in it."""
    names = [file for name in names for file in in_place_of(str(name))]
    if names.count("-") > 1:
        raise InputError("standard input (-) is given twice, and can be read once")
    files = [read(name) for name in dict.fromkeys(names)]
    known = {Path(name).resolve() for name in names if name != "-"}
    for file in list(files):
        if file.kind == "summary":
            files += near_summary(file, known)
    return files

"""The page as one HTML text: templates filled, style and scripts inline, nothing that is fetched."""

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hios.errors import InputError
from hios.page import kinds, numbers
from hios.page.view import view_of

TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("page.css", "charts.css")
SCRIPTS = ("tables.js", "timeline.js", "page.js")
LARGEST = 1_900_000  # bytes of a page, below the 2 MB that it may have


@dataclass(frozen=True)
class Limits:
    """The most of each that a page has: rows of layers, timelines (of the fastest runs)."""
    layers: int
    timelines: int


# A page that is too large is made again with less.
LIMITS = (Limits(1000, 40), Limits(400, 12), Limits(200, 4), Limits(100, 1), Limits(40, 0))


def jinja():
    try:
        import jinja2
    except ModuleNotFoundError:
        raise InputError("the page needs Jinja2, which this Python lacks: apt-get install python3-jinja2") from None
    return jinja2


def embedded(data):
    """JSON for a script element: no character in it can end the element or begin a comment."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def environment():
    jinja2 = jinja()
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                             undefined=jinja2.StrictUndefined)
    env.filters.update(ms=numbers.ms, percent=numbers.percent, ratio=numbers.ratio, size=numbers.size, plain=numbers.plain,
                       count=numbers.count, kind=kinds.kind_of, kind_index=kinds.NAMES.index)
    return env


def joined(names):
    return "\n".join((TEMPLATES / name).read_text() for name in names)


def payload_of(view):
    timelines = {section["id"]: section["timeline"] for section in view["runs"] if section["timeline"]}
    difference = view["difference"]
    if difference and difference.get("timeline"):
        timelines["difference"] = difference["timeline"]
    return {"kinds": view["all_kinds"], "timelines": timelines, "first": view["first"]}


def fill(view):
    env = environment()
    from markupsafe import Markup
    script = joined(SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Both stand inside elements whose text the browser takes literally: script and style are ours, the data is escaped.
    return env.get_template("page.html").render(view=view, css=Markup(joined(STYLES)), script=Markup(script), digest=digest,
                                                data=Markup(embedded(payload_of(view))))


def page_of(files, runs, title=None, difference=None):
    """The page's text, with as much of large files as keeps it small."""
    for limits in LIMITS:
        text = fill(view_of(files, runs, limits, title, difference(limits) if difference else None))
        if len(text.encode()) <= LARGEST:
            return text
    raise InputError(f"the page of {len(files)} files would be larger than {LARGEST / 1e6:.1f} MB: name fewer files")

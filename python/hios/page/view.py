"""The content of the page: the sections of each run, the tables, the comparison. Sections without content are None."""

import re
from pathlib import PurePath

from hios.page import kinds, numbers
from hios.page.devices import in_flight_uses, memory_of, uses_of
from hios.page.latency import latency_of
from hios.page.layers import by_kind, layers_of
from hios.page.provenance import provenance_of
from hios.page.timeline import bound_of, parts_of
from hios.page.ways import bound_ms, sentences_of, tables_of

WAIT, LOAD = -1, -2  # instead of a kind of operators, as timeline.js knows them


def tile(label, value, unit="", note="", form=""):
    return {"label": label, "value": value, "unit": unit, "note": note, "form": form}


def latency_tiles(report):
    one = report["latency_ms"]
    disturbed = f", {one['disturbed']} disturbed" if one["disturbed"] else ""
    yield tile("latency", numbers.ms(one["best_quarter"]), "ms", f"best quarter of {one['samples']} iterations{disturbed}")
    yield tile("median", numbers.ms(one["median"]), "ms", f"p95 {numbers.ms(one['p95'])} ms, p99 {numbers.ms(one['p99'])} ms")
    for name, value in one.get("percentiles", {}).items():
        yield tile(name, numbers.ms(value), "ms")


def throughput_tiles(many):
    note = f"{many['inferences']} inferences, {many['in_flight']} in flight"
    yield tile("inputs per second", numbers.ms(many["per_second"]), "", note)
    note = "" if many["predicted_period_ms"] is None else f"predicted {numbers.ms(many['predicted_period_ms'])} ms"
    yield tile("period", numbers.ms(many["period_ms"]["best_quarter"]), "ms", note)
    yield tile("bottleneck", f"rank {many['bottleneck']}", "", "the rank that is busy longest")


def report_tiles(report):
    many = report.get("throughput")
    if many:
        yield from throughput_tiles(many)
    yield from latency_tiles(report)
    if report["predicted_ms"] is not None:
        error = report["prediction_error"]
        note = "" if error is None else f"error {numbers.percent(error, sign=True)}"
        yield tile("predicted", numbers.ms(report["predicted_ms"]), "ms", note)


def verified_tiles(report):
    checked = report["verified"]
    if checked:
        bits = {True: "bit for bit the results of one rank", False: "not the bits of one rank", None: ""}[checked["bitwise"]]
        yield tile("verified", "yes" if checked["passed"] else "no", "", bits, "good" if checked["passed"] else "bad")
    if report.get("incomplete"):
        yield tile("incomplete", "ended early", "", report["incomplete"], "bad")


def bound_tiles(run):
    predicted = (run.schedule or {}).get("predicted", {})
    if not run.report and "latency_ms" in predicted:
        yield tile("predicted", numbers.ms(predicted["latency_ms"]), "ms", "the latency of the simulated schedule")
    if bound_ms(run) is not None:
        gap = f"the plan is {numbers.percent(predicted['gap'])} above it" if "gap" in predicted else ""
        yield tile("lower bound", numbers.ms(bound_ms(run)), "ms", f"{predicted.get('bound', '')}; {gap}".strip("; "))


def tiles_of(run):
    tiles = list(report_tiles(run.report)) if run.report else []
    tiles += bound_tiles(run)
    return tiles + (list(verified_tiles(run.report)) if run.report else [])


class Names:
    """Texts by number, so that the page has each once."""

    def __init__(self):
        self.numbers = {}

    def __call__(self, text):
        return self.numbers.setdefault(text, len(self.numbers))


def rounded(value):
    return None if value is None else round(value, 5)


def slice_data(one, names):
    kind = WAIT if one.waits else LOAD if one.loads else kinds.NAMES.index(kinds.kind_of(one.name))
    times = (one.start_ms, one.end_ms, one.predicted_ms, one.measured_ms)
    row = [names(one.name), kind, *map(rounded, times)]
    return row + [names(one.why)] if one.why else row


def part_data(part, names):
    return {"title": part.title, "end": rounded(part.end_ms),
            "lanes": [{"label": lane.label, "title": lane.title, "slices": [slice_data(one, names) for one in lane.slices]}
                      for lane in part.lanes],
            "messages": [[names(name), source, target, rounded(start), rounded(end), size]
                         for name, source, target, start, end, size in part.messages]}


def timeline_data(parts, bound):
    """A timeline for the page's script, or None."""
    if not parts:
        return None
    names = Names()
    data = {"parts": [part_data(part, names) for part in parts], "bound": bound}
    return {**data, "names": list(names.numbers)}


def used_kinds(parts):
    used = {kinds.kind_of(one.name) for part in parts for lane in part.lanes for one in lane.slices if one.computes}
    return [kind for kind in kinds.NAMES if kind in used]


def layers_view(run, limit):
    layers = layers_of(run)
    if not layers:
        return None
    rest = layers[limit:]
    return {"rows": layers[:limit], "kinds": by_kind(layers), "number": len(layers), "rest": len(rest),
            "rest_share": sum(layer.share for layer in rest), "differ": sum(layer.differs for layer in layers),
            "measured": any(layer.measured_ms is not None for layer in layers),
            "predicted": any(layer.predicted_ms is not None for layer in layers),
            "ranks": len({layer.rank for layer in layers}) > 1, "sends": any(layer.sent_bytes for layer in layers),
            "alone": bool(run.report and run.report.get("operators")), "longest": layers[0].share}


def legend_of(parts, bound=None):
    """The kinds and marks that the legend of a timeline explains."""
    return {"kinds": used_kinds(parts), "waits": any(one.waits for part in parts for lane in part.lanes for one in lane.slices),
            "loads": any(one.loads for part in parts for lane in part.lanes for one in lane.slices),
            "messages": any(part.messages for part in parts), "bound": bound}


def section_of(run, index, limits, place):
    parts = parts_of(run) if place < limits.timelines else []
    return {"id": index, "name": run.name, "why": sentences_of(run.report or {}), "tiles": tiles_of(run), "parts": parts,
            **legend_of(parts, bound_of(run)), "timeline": timeline_data(parts, bound_of(run)),
            "layers": layers_view(run, limits.layers), "latency": latency_of(run), "memory": memory_of(run),
            "uses": uses_of(run), "flight": in_flight_uses(run),
            "provenance": [*provenance_of(run), ("files", ", ".join(shown_names(run.files)), "")]}


def shown_names(names):
    """The names of files without their folders, where these are the names of one file each."""
    last = [PurePath(name).name for name in names]
    return [short if last.count(short) == 1 else name for short, name in zip(last, names)]


def best_ms(run):
    if run.report:
        return run.report["latency_ms"]["best_quarter"]
    return (run.schedule or {}).get("predicted", {}).get("latency_ms", float("inf"))


def verdict_of(files):
    """The lines of the summaries' verdicts, each as its parts: the programs set figures apart by several spaces."""
    lines = []
    for file in files:
        extra = file.data.get("extra") if file.kind == "summary" else None
        verdict = extra.get("verdict") if isinstance(extra, dict) else None
        if isinstance(verdict, str):
            lines += verdict.splitlines()
        elif isinstance(verdict, list):
            lines += [line for line in verdict if isinstance(line, str)]
    return [re.split(r"\s{2,}", line.strip()) for line in lines if line.strip()]


def model_name(model):
    """The name of a network, of a file without its folder and ending; a built-in network may have points in its name."""
    return re.sub(r"\.(onnx|json)$", "", PurePath(model).name) or model


def title_of(files, runs):
    models = [file.data["model"] for file in files if file.kind == "summary"] + [run.model for run in runs if run.model]
    models += [file.data["graph"]["name"] for file in files if file.kind == "comparison"]
    models = list(dict.fromkeys(model_name(model) for model in models))
    if not models:
        return "HIOS"
    return ", ".join(models[:3]) + (f" and {len(models) - 3} more" if len(models) > 3 else "")


def subtitle_of(runs):
    """The machine of the measurements, if it is one."""
    reports = [run.report for run in runs if run.report]
    hosts = list(dict.fromkeys(rank["host"] for report in reports for rank in report["ranks"]))
    dates = sorted(report["date"][:10] for report in reports if report.get("date"))
    commits = list(dict.fromkeys(report["versions"].get("commit", "") for report in reports))
    words = [", ".join(hosts[:4]) + (f" and {len(hosts) - 4} more hosts" if len(hosts) > 4 else "")] if hosts else []
    words += dates[-1:]
    words += [f"commit {commits[0]}"] if len(commits) == 1 and commits[0] else []
    return words


def view_of(files, runs, limits, title=None, difference=None):
    """All that the templates show; `limits` keeps a page of huge files small."""
    order = sorted(range(len(runs)), key=lambda index: best_ms(runs[index]))
    places = {index: place for place, index in enumerate(order)}
    sections = [section_of(run, index, limits, places[index]) for index, run in enumerate(runs)]
    left_out = sum(bool(parts_of(run)) for index, run in enumerate(runs) if places[index] >= limits.timelines)
    return {"title": title or title_of(files, runs), "subtitle": subtitle_of(runs), "verdict": verdict_of(files),
            "tables": tables_of(files, runs), "difference": difference, "runs": sections, "first": order[0] if order else None,
            "files": shown_names([file.name for file in files]), "left_out": left_out,
            "all_kinds": kinds.NAMES, "limits": limits}

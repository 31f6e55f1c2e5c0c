"""Runs: a report with the schedule and the trace that belong to it, and its row of a summary; or a part of these."""

from dataclasses import dataclass
from pathlib import PurePath

from hios.page.reading import File


@dataclass
class Run:
    """A run or a plan: any of a report, a schedule, a trace and a row may be absent."""
    name: str
    report: dict | None = None
    schedule: dict | None = None
    trace: dict | None = None
    row: dict | None = None
    files: tuple = ()

    @property
    def model(self):
        if self.report:
            return self.report["model"]["name"]
        return self.schedule["graph"]["name"] if self.schedule else None


def stem(file):
    """The part of a file's name that says which run it belongs to: report-2x1-hios-lp.json has 2x1-hios-lp."""
    name = PurePath(file.name).stem
    return name.removeprefix(f"{file.kind}-")


def folder_stem(file):
    return file.folder, stem(file)


def argument(report, flag):
    """The value of a flag in the report's command line, or None."""
    words = report["arguments"]
    for at, word in enumerate(words):
        if word == flag and at + 1 < len(words):
            return words[at + 1]
        if word.startswith(flag + "="):
            return word.removeprefix(flag + "=")
    return None


def named_by(report, flag, candidates):
    """The candidate that the report's command line names."""
    value = argument(report, flag)
    if value is None:
        return None
    same = [file for file in candidates if PurePath(file.name).name == PurePath(value).name]
    return same[0] if len(same) == 1 else None


def stages_of(schedule):
    """The operators of each device's stages, as reports list them."""
    def name(operator):
        return operator if isinstance(operator, str) else operator["operator"]
    return [[[[name(operator) for operator in group] for group in stage] for stage in device["stages"]]
            for device in schedule["devices"]]


def stages_of_report(report):
    devices = [[] for _ in report["ranks"]]
    for stage in report["stages"]:
        if stage["rank"] < len(devices):
            devices[stage["rank"]].append(stage["operators"])
    return devices


def fits_schedule(report, file):
    return (file.data["graph"]["digest"] == report["digests"]["graph"] and file.data.get("algorithm") == report["algorithm"]
            and stages_of(file.data) == stages_of_report(report))


def slice_names(trace):
    """The names of operators and groups in a trace, without waits and the loads of cold starts."""
    names = {event["name"] for event in trace["traceEvents"] if event["ph"] == "X"}
    return {name for name in names if name != "waiting" and not name.startswith("load ")}


def fits_trace(report, file):
    """True if the trace has the report's stages at its times."""
    starts = {round(event["ts"] / 1e3, 4) for event in file.data["traceEvents"] if event["ph"] == "X"}
    measured = {round(stage["measured_start_ms"], 4) for stage in report["stages"] if stage["measured_start_ms"] is not None}
    return bool(measured) and len(measured & starts) > 0.9 * len(measured)


def belongs(file, candidates, flag, fits):
    """The candidate that belongs to a report: by its content, then by its name, then by the command line."""
    fitting = [one for one in candidates if fits(file.data, one)]
    same_name = [one for one in fitting or candidates if folder_stem(one) == folder_stem(file)]
    named = named_by(file.data, flag, fitting)
    found = same_name or ([named] if named else fitting)
    return found[0] if found else None


def names_report(row, summary, file):
    """True if the row of a summary names the report's file (extra.report), in the summary's folder."""
    extra = row.get("extra")
    name = extra.get("report") if isinstance(extra, dict) else None
    return isinstance(name, str) and name == PurePath(file.name).name and summary.folder == file.folder


def row_of(file, summaries):
    """The row of a summary that names the report, or else whose statistics are the report's."""
    rows = [(row, summary) for summary in summaries for row in summary.data["rows"]]
    same = [row for row, summary in rows if names_report(row, summary, file)]
    same += [row for row, _ in rows if all(row[key] == file.data[key] for key in ("algorithm", "latency_ms"))]
    return same[0] if same else None


def device_text(threads):
    return f"{threads} core{'s' if threads != 1 else ''}" if threads else "1 GPU"


def run_name(report):
    """The name of a run that no summary names: its ranks, their devices and its algorithm."""
    ranks, many = len(report["ranks"]), ", many in flight" if report.get("throughput") else ""
    devices = list(dict.fromkeys(device_text(rank["threads"]) for rank in report["ranks"]))
    form = f" x {devices[0]}" if len(devices) == 1 else f" ({', '.join(devices)})"
    return f"{ranks} rank{'s' if ranks > 1 else ''}{form} {report['algorithm']}{many}"


def numbered(runs):
    """Gives runs of equal names the name of their file, too."""
    names = [run.name for run in runs]
    for run in runs:
        if names.count(run.name) > 1 and run.files:
            run.name = f"{run.name} ({PurePath(run.files[0]).name})"
    return runs


def of_reports(files, used):
    kinds = {kind: [file for file in files if file.kind == kind] for kind in ("report", "schedule", "trace", "summary")}
    runs = []
    for file in kinds["report"]:
        schedule = belongs(file, kinds["schedule"], "--schedule", fits_schedule)
        trace = belongs(file, kinds["trace"], "--trace", fits_trace)
        used += [one for one in (schedule, trace) if one]
        row = row_of(file, kinds["summary"])
        name = row["name"] if row else run_name(file.data)
        runs.append(Run(name, file.data, schedule and schedule.data, trace and trace.data, row,
                        tuple(one.name for one in (file, schedule, trace) if one)))
    order = [row["name"] for file in kinds["summary"] for row in file.data["rows"]]
    return sorted(runs, key=lambda run: order.index(run.name) if run.name in order else len(order))


def plan_name(schedule):
    count = len(schedule["devices"])
    return f"{schedule.get('algorithm', 'a schedule')} on {count} device{'s' if count != 1 else ''}"


def of_plans(files, used):
    """Schedules without a report, each with its timeline, and traces that belong to nothing."""
    runs, traces = [], [file for file in files if file.kind == "trace" and file not in used]
    for file in files:
        if file.kind != "schedule" or file in used:
            continue
        names = {name for device in stages_of(file.data) for stage in device for group in stage for name in group}
        fitting = [trace for trace in traces if names and slice_names(trace.data) <= names]
        same = [trace for trace in fitting if folder_stem(trace) == folder_stem(file)] or fitting
        trace = same[0] if same else None
        if trace:
            traces.remove(trace)
        runs.append(Run(plan_name(file.data), None, file.data, trace and trace.data, None,
                        tuple(one.name for one in (file, trace) if one)))
    return runs + [Run(PurePath(file.name).stem, None, None, file.data, None, (file.name,)) for file in traces]


def join(files: list[File]):
    """The runs in the files, in the order of a summary's rows where there is one."""
    used = []
    return numbered(of_reports(files, used) + of_plans(files, used))

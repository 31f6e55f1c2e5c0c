"""Timelines of a run: the plan above, the run below, or the inferences in flight. Times in ms from the iteration's start."""

import re
from dataclasses import dataclass, field

from hios.page import numbers
from hios.page.devices import longest_ms, waits_of

SHORTEST_WAIT_MS = 0.005  # as in traces: shorter ones would clutter the picture


@dataclass
class Slice:
    """An operator, operators of a group, a wait (then `why` names the tensor and its rank), or a load of parameters (then
    `why` names its ends)."""
    name: str
    start_ms: float
    end_ms: float
    predicted_ms: float | None = None
    measured_ms: float | None = None
    waits: bool = False
    loads: bool = False
    why: str = ""

    @property
    def computes(self):
        return not (self.waits or self.loads)


@dataclass
class Lane:
    """A stream of a device, a pair of devices between which tensors travel, or loads of a cold start, one at a time."""
    label: str
    title: str = ""
    slices: list = field(default_factory=list)


@dataclass
class Part:
    """The plan, the run, or what else has an axis of its own within the timeline."""
    title: str
    lanes: list
    messages: list = field(default_factory=list)  # (name, from lane, to lane, start ms, end ms, bytes or None)
    end_ms: float = 0


def device_title(run, rank):
    """"cpu0, 1 core, on n1", by what is known."""
    words = []
    if run.schedule and rank < len(run.schedule["devices"]):
        words.append(run.schedule["devices"][rank]["name"])
    if run.report and rank < len(run.report["ranks"]):
        facts = run.report["ranks"][rank]
        if facts["threads"]:
            words.append(f"{facts['threads']} core{'s' if facts['threads'] > 1 else ''}")
        words.append(facts["host"])
    return " · ".join(words)


def streams_of(stages):
    """The number of lanes of each rank: as many as its widest stage has groups."""
    streams = {}
    for stage in stages:
        streams[stage["rank"]] = max(streams.get(stage["rank"], 1), len(stage["operators"]))
    return streams


def empty_lanes(run, streams):
    """Lanes of all ranks, in order, and the first lane of each rank."""
    lanes, first = [], {}
    for rank in sorted(set(streams) | set(range(len(run.report["ranks"])))):
        first[rank] = len(lanes)
        for stream in range(streams.get(rank, 1)):
            label = f"rank {rank}" + (f" stream {stream}" if streams.get(rank, 1) > 1 else "")
            lanes.append(Lane(label, device_title(run, rank)))
    return lanes, first


def stage_ms(stage, which):
    start, end = stage[f"{which}_start_ms"], stage[f"{which}_end_ms"]
    return None if start is None or end is None else end - start


def add_stage(lanes, first, stage, which, wait):
    start, end = stage[f"{which}_start_ms"], stage[f"{which}_end_ms"]
    if wait and wait.ms > SHORTEST_WAIT_MS:
        lanes[first].slices.append(Slice("waiting", start - wait.ms, start, waits=True, why=wait.why))
    for group, names in enumerate(stage["operators"]):
        lanes[first + group].slices.append(
            Slice(" + ".join(names), start, end, stage_ms(stage, "predicted"), stage_ms(stage, "measured")))


def load_text(source, target, size):
    return f"from {source} to {target}, {numbers.size(size)}"


def load_lanes(report, which):
    """A lane for each lane of a cold start's loads."""
    lanes = {}
    for load in report.get("loads", []):
        start, end = load[f"{which}_start_ms"], load[f"{which}_end_ms"]
        if start is None or end is None:
            continue
        source = f"rank {load['from']}" if isinstance(load["from"], int) else load["from"]
        lane = lanes.setdefault(load["lane"], Lane(f"loads {load['lane']}"))
        lane.slices.append(Slice(f"load {load['of']}", start, end, stage_ms(load, "predicted"), stage_ms(load, "measured"),
                                 loads=True, why=load_text(source, f"rank {load['to']}", load["size_bytes"])))
    return [lanes[number] for number in sorted(lanes)]


def part_of_report(run, which, title):
    """The planned ("predicted") or the measured timeline in a report; None where it has none."""
    stages = [stage for stage in run.report["stages"] if stage_ms(stage, which) is not None]
    if not stages:
        return None
    lanes, first = empty_lanes(run, streams_of(stages))
    waits = waits_of(run.report, which)
    lane_of = {}
    for stage in sorted(stages, key=lambda one: one[f"{which}_start_ms"]):
        add_stage(lanes, first[stage["rank"]], stage, which, waits.get((stage["rank"], stage["stage"])))
        for group, names in enumerate(stage["operators"]):
            lane_of.update({(stage["rank"], name): first[stage["rank"]] + group for name in names})
    messages = []
    for transfer in run.report.get("transfers", []):
        if transfer[f"{which}_start_ms"] is None or transfer[f"{which}_end_ms"] is None:
            continue
        source = lane_of.get((transfer["from"], transfer["producer"]), first.get(transfer["from"]))
        if source is not None and transfer["to"] in first:
            messages.append((transfer["producer"], source, first[transfer["to"]], transfer[f"{which}_start_ms"],
                             transfer[f"{which}_end_ms"], transfer["size_bytes"]))
    return Part(title, lanes + load_lanes(run.report, which), messages, longest_ms(stages, which))


def lane_label(process_lanes, label):
    """"rank 0", with its stream only if another lane is of the same rank."""
    owner = re.sub(r" stream \d+$", "", label)
    alone = sum(re.sub(r" stream \d+$", "", other) == owner for other in process_lanes) == 1
    return owner if alone else label


def parts_of_trace(run):
    """A part for each process of a trace (planned, measured, in flight)."""
    events = run.trace["traceEvents"]
    processes = {event["pid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "process_name"}
    names = {(event["pid"], event.get("tid")): event["args"]["name"] for event in events
             if event["ph"] == "M" and event["name"] == "thread_name"}
    parts = []
    for pid, process in processes.items():
        keys = [key for key in names if key[0] == pid]
        labels = [names[key] for key in keys]
        at = {key: index for index, key in enumerate(keys)}
        lanes = [Lane(lane_label(labels, label), trace_title(run, label)) for label in labels]
        # Inferences in flight are timed from the start of the job's first one; here from the first that is shown.
        shown = [event for event in events if event["ph"] in "Xsf" and (event["pid"], event.get("tid")) in at]
        zero = min((event["ts"] for event in shown), default=0) if process == "in flight" else 0
        for event in shown:
            if event["ph"] == "X":
                start = (event["ts"] - zero) / 1e3
                lane = lanes[at[event["pid"], event.get("tid")]]
                lane.slices.append(trace_slice(event, start, start + event["dur"] / 1e3, process, lane.label))
        end = max((one.end_ms for lane in lanes for one in lane.slices), default=0)
        title = {"planned": "plan", "measured": "run"}.get(process, process)
        parts.append(Part(title, lanes, trace_messages(shown, at, zero), end))
    return parts


def trace_title(run, label):
    found = re.match(r"rank (\d+)(?: stream \d+)?$", label)
    return device_title(run, int(found.group(1))) if found else ""


def trace_slice(event, start, end, process, label):
    name, facts = event["name"], event.get("args", {})
    if name == "waiting":
        return Slice(name, start, end, waits=True)
    if re.match(r"loads \d+$", label):
        known = {"from", "to", "size_bytes"} <= set(facts)
        return Slice(name, start, end, loads=True, why=load_text(facts["from"], facts["to"], facts["size_bytes"]) if known else "")
    planned = end - start if process == "planned" else None
    return Slice(name, start, end, planned, None if process == "planned" else end - start)


def trace_messages(events, at, zero):
    ends = {}
    for event in events:
        if event["ph"] in "sf":
            ends.setdefault(event.get("id"), {})[event["ph"]] = event
    return [(pair["s"]["name"], at[pair["s"]["pid"], pair["s"].get("tid")], at[pair["f"]["pid"], pair["f"].get("tid")],
             (pair["s"]["ts"] - zero) / 1e3, (pair["f"]["ts"] - zero) / 1e3, None)
            for pair in ends.values() if len(pair) == 2]


def join_measured(parts):
    """Gives each operator of a plan its measured time, and the other way round, where both parts of a trace have it."""
    times = {}
    for part in parts:
        for lane in part.lanes:
            for one in lane.slices:
                if one.computes:
                    times.setdefault(one.name, {})[part.title] = one.end_ms - one.start_ms
    for part in parts:
        for lane in part.lanes:
            for one in lane.slices:
                if one.computes and part.title in ("plan", "run"):
                    one.predicted_ms = times[one.name].get("plan")
                    one.measured_ms = times[one.name].get("run")


def bound_of(run):
    """(ms, name) of the lower bound on the latency, or None."""
    predicted = (run.schedule or {}).get("predicted", {})
    if "lower_bound_ms" not in predicted or (run.schedule or {}).get("objective") == "throughput":
        return None
    return predicted["lower_bound_ms"], predicted.get("bound", "")


def parts_of(run):
    """The parts of a run's timeline: of its report; of its trace where the report has no times, or joins operators."""
    parts = []
    if run.report:
        parts = [part_of_report(run, "predicted", "plan"), part_of_report(run, "measured", "run")]
        parts = [part for part in parts if part]
    if run.trace:
        traced = parts_of_trace(run)
        join_measured(traced)
        parts += [part for part in traced if part.title not in {known.title for known in parts}]
    return [part for part in parts if any(lane.slices for lane in part.lanes)]

"""Schedules that IOS published, next to ours: imported, their stages measured, simulated with one profile, and run in turns."""

import json
import statistics
import tempfile
from pathlib import Path

CORES = STREAMS = 2
OURS = ("sequential", "ios")
ROUNDS = 5


def cpu():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def schedule_row(name, file, predicted):
    content = json.loads(Path(file).read_text())
    merge = content["graph"].get("merge", "none")
    return {"schedule": name, "merged": len(merge) if isinstance(merge, list) else merge,
            "stages": sum(len(device["stages"]) for device in content["devices"]),
            "estimated_stages": predicted["estimated_stages"], "predicted_ms": predicted["latency_ms"]}


def measure(programs, model, profile, runs, iterations):
    """The latencies of each schedule in ms, one a round: its best quarter. The first round verifies. Every other round runs
    them in the reverse order."""
    measured = [[] for _ in runs]
    for turn in range(ROUNDS):
        order = list(enumerate(runs))
        for at, (file, flags) in reversed(order) if turn % 2 else order:
            report = programs.json("hios-run", "--model", model, *flags, "--schedule", file, "--profile", profile,
                                   "--iterations", iterations, *([] if turn else ["--verify"]))
            measured[at].append(report["latency_ms"]["best_quarter"])
    return measured


def compare(programs, hios, model, files, iterations=8):
    """A row for each published schedule, merged and apart, and for ours: predicted, and measured in turns."""
    rows, runs = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        profile, device = folder / "profile.json", ["--threads", CORES, "--streams", STREAMS]
        measuring = ["--model", model, *device, "--warmup", 2, "--iterations", iterations, "--output", profile,
                     "--update", "-q"]
        programs.run("hios-profile", *measuring, "--stages", "ios")
        for algorithm in OURS:
            file = folder / f"{algorithm}.json"
            programs.run("hios-schedule", "--model", model, "--profile", profile, "--devices", 1, *device, "--algorithm",
                         algorithm, "--output", file, "-q")
            rows.append(schedule_row(f"ours, `{algorithm}`", file, json.loads(file.read_text())["predicted"]))
            runs.append((file, []))
        for source in files:
            for merge in ("as-published", "none"):
                file = folder / f"{Path(source).stem}-{merge}.json"
                hios("import", source, "--model", model, "--merge", merge, *device, "-o", file)
                flags = ["--merge", file] if "merge" in json.loads(file.read_text())["graph"] else []
                programs.run("hios-profile", *measuring, *flags, "--stages", file)
                found = programs.json("hios-schedule", "--model", model, *flags, "--profile", profile, "--check", file)
                rows.append(schedule_row(f"{Path(source).stem}, {'merged' if merge != 'none' else 'apart'}", file, found))
                runs.append((file, flags))
        for row, latencies in zip(rows, measure(programs, model, profile, runs, 2 * iterations)):
            row["measured_ms"] = statistics.median(latencies)
            row["rounds_ms"] = latencies
    return rows

"""Schedules that IOS published, next to ours: imported, their stages measured, and simulated with the same profile."""

import json
import tempfile
from pathlib import Path

CORES = STREAMS = 2
OURS = ("sequential", "ios")


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


def compare(programs, hios, model, files, iterations=8):
    """A row for each published schedule, merged and apart, and for ours."""
    rows = []
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
        for source in files:
            for merge in ("as-published", "none"):
                file = folder / f"{Path(source).stem}-{merge}.json"
                hios("import", source, "--model", model, "--merge", merge, *device, "-o", file)
                flags = ["--merge", file] if "merge" in json.loads(file.read_text())["graph"] else []
                programs.run("hios-profile", *measuring, *flags, "--stages", file)
                found = programs.json("hios-schedule", "--model", model, *flags, "--profile", profile, "--check", file)
                rows.append(schedule_row(f"{Path(source).stem}, {'merged' if merge != 'none' else 'apart'}", file, found))
    return rows

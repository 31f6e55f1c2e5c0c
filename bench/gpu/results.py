"""The results file: bench/results/<gpu>.json. Parts are added one by one, also by several calls. A replaced number is
kept as `previous`, so that every run is compared with the one before.
"""

import json
import os
import re
from pathlib import Path

from refusal import Refusal

FORMAT, VERSION = "hios-gpu-bench", 1


def file_name(gpu):
    """"NVIDIA H200" → "nvidia-h200"."""
    return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")


def empty(gpu):
    return {"format": FORMAT, "version": VERSION, "gpu": gpu, "parts": {}}


def read(path):
    """The file's results; None if there is no file. Raises Refusal if it is something else."""
    try:
        document = json.loads(Path(path).read_text())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise Refusal(f"{path}: no JSON ({error}): move it away") from error
    if (document.get("format"), document.get("version")) != (FORMAT, VERSION):
        raise Refusal(f"{path}: no {FORMAT} of version {VERSION}: move it away")
    return document


def write(path, text):
    """Writes the whole file or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    os.replace(part, path)


def row_key(row):
    return row["network"], row["size"], row["math"], row["row"]


def merge_rows(old, new, when):
    """All rows of `old`, replaced by those of `new`. A failed row keeps earlier numbers as `previous`."""
    merged = {row_key(row): row for row in old}
    for row in new:
        before = merged.get(row_key(row))
        merged[row_key(row)] = {**row, "date": when, **previous_of(before)}
    return list(merged.values())


def previous_of(row):
    if not row:
        return {}
    if "latency_ms" in row:
        return {"previous": {"best_quarter": row["latency_ms"]["best_quarter"], "date": row.get("date")}}
    return {"previous": row["previous"]} if "previous" in row else {}


def merge_transfers(old, new, when):
    """The transfers by path; each keeps the points that it replaces."""
    merged = {"paths": dict(old.get("paths", {})), "raw": new["raw"] or old.get("raw", {}),
              "failed": dict(new["failed"])}
    for name, path in new["paths"].items():
        before = merged["paths"].get(name)
        merged["paths"][name] = {**path, "date": when}
        if before:
            merged["paths"][name]["previous"] = {"points": before["points"], "date": before.get("date")}
    return merged


class Results:
    """The results. Earlier ones (`base`) are read once; every update writes the whole file."""

    def __init__(self, gpu, path, base, when):
        self.path, self.when = path, when
        self.base = base or empty(gpu)
        self.document = json.loads(json.dumps(self.base))
        self.document["gpu"] = gpu

    def describe(self, **facts):
        self.document.setdefault("machine", {}).update(facts)

    def put_tests(self, record, about):
        before = self.base["parts"].get("tests")
        self.document["parts"]["tests"] = {**about, **record, "date": self.when, **(
            {"previous": {"date": before.get("date"), "passed": passed_tests(before)}} if before else {})}
        self.save()

    def put_latency(self, rows, about):
        old = self.base["parts"].get("latency", {}).get("rows", [])
        self.document["parts"]["latency"] = {**about, "date": self.when, "rows": merge_rows(old, rows, self.when)}
        self.save()

    def put_cold(self, rows, about):
        old = self.base["parts"].get("cold", {}).get("rows", [])
        self.document["parts"]["cold"] = {**about, "date": self.when, "rows": merge_rows(old, rows, self.when)}
        self.save()

    def put_transfer(self, record, about):
        old = self.base["parts"].get("transfer", {})
        self.document["parts"]["transfer"] = {**about, "date": self.when, **merge_transfers(old, record, self.when)}
        self.save()

    def save(self):
        write(self.path, json.dumps(self.document, indent=1) + "\n")


def passed_tests(part):
    return sum(program["passed"] for program in part.get("programs", []))

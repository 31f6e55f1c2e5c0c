#!/usr/bin/env python3
"""One table of all reports under a folder: the last step of sweep.sbatch.

Prints it and writes table.txt and table.csv, and in the folder of each network summary.json, which hios report shows with
the schedules and reports there. A row's best quarter is the median of the fastest
quarter of its iterations, each the maximum over ranks. "x single" is the speed-up over the fastest row of the
same network and size that uses one device only; empty without such a row.
"""

import argparse
import csv
import io
import json
import os
import sys
import tempfile
from pathlib import Path

COLUMNS = ("model", "height", "width", "algorithm", "ranks", "best_quarter_ms", "median_ms", "p99_ms", "samples",
           "predicted_ms", "prediction_error_percent", "x_single", "verified", "bitwise", "note")


def used_devices(report):
    return len({stage["rank"] for stage in report["stages"]})


def row_of(report):
    latency, model, verified = report["latency_ms"], report["model"], report["verified"]
    error = report["prediction_error"]
    return {"model": model["name"], "height": model["height"], "width": model["width"],
            "algorithm": report["algorithm"], "ranks": len(report["ranks"]),
            "best_quarter_ms": latency["best_quarter"], "median_ms": latency["median"], "p99_ms": latency["p99"],
            "samples": latency["samples"], "predicted_ms": report["predicted_ms"],
            "prediction_error_percent": None if error is None else 100 * error, "x_single": None,
            "verified": None if verified is None else verified["passed"],
            "bitwise": None if verified is None else verified["bitwise"],
            "note": "incomplete" if report.get("incomplete") else ""}


def summary_row(path, report):
    """A row of hios-summary (docs/formats.md#summary)."""
    names = ("min", "best_quarter", "median", "p95", "p99", "mean", "samples", "disturbed")
    ranks, verified = report["ranks"], report["verified"]
    schedule = path.with_name(path.name.replace("report-", "schedule-"))
    return {"name": f"{len(ranks)} ranks {report['algorithm']}", "ranks": len(ranks), "threads": ranks[0]["threads"],
            "algorithm": report["algorithm"], "latency_ms": {name: report["latency_ms"][name] for name in names},
            "predicted_ms": report["predicted_ms"], "prediction_error": report["prediction_error"],
            "verified": None if verified is None else verified["passed"],
            "bitwise_equal_to_one_rank": None if verified is None else verified["bitwise"],
            "extra": {"batch": report["model"]["batch"], "report": path.name, "schedule": schedule.name}}


def summary_of(reports):
    """The hios-summary of the reports of one network, by path; the fastest comes first."""
    rows = sorted((summary_row(path, report) for path, report in reports), key=lambda row: row["latency_ms"]["best_quarter"])
    model = reports[0][1]["model"]
    return {"format": "hios-summary", "version": 1, "rows": rows,
            "model": f"{model['name']}, {model['height']}x{model['width']}"}


def read_rows(folder):
    """The rows, a message for each report that cannot be read, and the other reports by folder."""
    rows, messages, single, reports = [], [], {}, {}
    for path in sorted(folder.rglob("report-*.json")):
        try:
            report = json.loads(path.read_text())
            row = row_of(report)
            devices = used_devices(report)
            summary_row(path, report)
        except (OSError, ValueError, KeyError, TypeError) as error:
            messages.append(f"{path}: not a report of hios-run: {error!r}")
            continue
        rows.append(row)
        reports.setdefault(path.parent, []).append((path, report))
        cell = row["model"], row["height"], row["width"]
        if devices == 1:
            single[cell] = min(single.get(cell, float("inf")), row["best_quarter_ms"])
    for row in rows:
        cell = row["model"], row["height"], row["width"]
        if cell in single:
            row["x_single"] = single[cell] / row["best_quarter_ms"]
    rows.sort(key=lambda row: (row["model"], row["height"], row["width"], row["best_quarter_ms"]))
    return rows, messages, reports


def missing_reports(folder, algorithms):
    """A message for each missing report of a sweep; the jobs' output has the reason."""
    networks = sorted(path for path in folder.iterdir() if path.is_dir())
    paths = [network / f"report-{algorithm}.json" for network in networks for algorithm in algorithms]
    return [f"{path}: is missing, see the output of its job" for path in paths if not path.exists()]


def cell_text(value):
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def text_of(rows):
    lines = [[name.replace("_", " ") for name in COLUMNS]]
    lines += [[cell_text(row[name]) for name in COLUMNS] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    return "".join("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip() + "\n" for line in lines)


def csv_of(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write(path, text):
    """Writes the whole file or nothing."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, delete=False) as aside:
        aside.write(text)
        aside.flush()
        os.fsync(aside.fileno())
    os.chmod(aside.name, 0o644)
    os.replace(aside.name, path)


def main():
    parser = argparse.ArgumentParser(prog="table.py", description=" ".join(__doc__.split()))
    parser.add_argument("folder", type=Path, help="with reports named report-ALGORITHM.json, at any depth")
    parser.add_argument("--algorithms", default="",
                        help="A[,A...]: report each folder of a network that lacks a report of one of them")
    arguments = parser.parse_args()
    folder = arguments.folder
    if not folder.is_dir():
        sys.exit(f"error: {folder}: there is no such folder")
    rows, messages, reports = read_rows(folder)
    messages += missing_reports(folder, [name for name in arguments.algorithms.split(",") if name])
    for message in messages:
        print(f"warning: {message}", file=sys.stderr)
    if not rows:
        sys.exit(f"error: {folder}: there are no reports in it; the jobs' output says why")
    text = text_of(rows)
    write(folder / "table.txt", text)
    write(folder / "table.csv", csv_of(rows))
    for network, its_reports in reports.items():
        write(network / "summary.json", json.dumps(summary_of(its_reports), indent=1) + "\n")
    print(text, end="")
    if messages or any(row["note"] or row["verified"] is False or row["bitwise"] is False for row in rows):
        sys.exit("error: not all rows are complete and verified")


if __name__ == "__main__":
    main()

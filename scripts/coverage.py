#!/usr/bin/env python3
"""Lists the lines of a source folder that no test executed, from a build that counts (preset coverage, gcov).

A line counts as executed if any program of the build has executed it: a source that several programs compile, or a header
that several sources include, is one file here. Lines without code do not count. Standard library only; calls gcov.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("engine/cuda", "mpi/device", "mpi/routes")


def counted(answers, root, folders):
    """{file: {line: executed}} of gcov's answers, for files below the folders."""
    files = {}
    for answer in answers:
        for source in answer["files"]:
            path = (Path(answer.get("current_working_directory", ".")) / source["file"]).resolve()
            if not path.is_relative_to(root):
                continue
            name = path.relative_to(root).as_posix()
            if not any(name.startswith(folder + "/") for folder in folders):
                continue
            lines = files.setdefault(name, {})
            for line in source["lines"]:
                number = line["line_number"]
                lines[number] = lines.get(number, False) or line["count"] > 0
    return files


def ranges(numbers):
    """"3, 7-9" of 3, 7, 8, 9."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def table(files):
    """The lines of the report: each file with lines that were not executed, and the sum."""
    report, missing, all_lines = [], 0, 0
    for name, lines in sorted(files.items()):
        not_executed = [number for number, executed in lines.items() if not executed]
        missing += len(not_executed)
        all_lines += len(lines)
        if not_executed:
            report.append(f"{len(not_executed):5} of {len(lines):4}  {name}: {ranges(not_executed)}")
    report.append(f"{missing:5} of {all_lines:4} lines with code were not executed, in {len(files)} files")
    return report, missing


def ask_gcov(build):
    """gcov's answers about all objects of the build that count; their notes are there even if nothing ran."""
    notes = sorted(build.rglob("*.gcno"))
    if not notes:
        sys.exit(f"coverage: {build} has no counting objects: cmake --preset coverage && cmake --build --preset coverage")
    done = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, notes)], capture_output=True, text=True,
                          cwd=build, check=False)
    if done.returncode != 0:
        reasons = [line for line in done.stderr.splitlines() if not line.endswith("assuming not executed")]
        sys.exit(f"coverage: gcov failed: {' '.join(reasons) or 'no reason given'}; build again from scratch")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/coverage", help="the build (build/coverage)")
    parser.add_argument("--folders", nargs="+", default=FOLDERS, help=" ".join(FOLDERS))
    parser.add_argument("--most", type=int, help="exit status 1 if more lines than that were not executed")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    report, missing = table(counted(ask_gcov(options.build.resolve()), options.root.resolve(), options.folders))
    print("\n".join(report))
    return 1 if options.most is not None and missing > options.most else 0


if __name__ == "__main__":
    sys.exit(main())

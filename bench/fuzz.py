#!/usr/bin/env python3
"""bench/fuzz, once the targets are built: runs clang's libFuzzer for each file format and for values of flags, from the
corpus of the tests. Writes bench/results/fuzz.json and fuzz.md. Inputs that fail are in build/fuzz/found; after the fix
they belong in tests/corpus/found.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"
FORMATS = ["graph", "platform", "model", "fusion", "profile", "schedule", "flight", "onnx", "words"]
MOST_FINDINGS = 5  # of one target; then it must be fixed first
LARGEST_BYTES = 20000
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}


def arguments():
    parser = argparse.ArgumentParser(prog="bench/fuzz", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("formats", nargs="*", metavar="FORMAT", default=FORMATS, help=", ".join(FORMATS))
    parser.add_argument("--minutes", type=float, default=10, help="minutes for each target (10)")
    parser.add_argument("--at-once", type=int, default=2, help="concurrent targets (2)")
    return parser.parse_args()


def strings_of(value):
    """Every key and text of a JSON value, so that a fuzzer need not guess them."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from strings_of(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings_of(member)
    elif isinstance(value, str):
        yield value


def write_dictionary(name, file):
    words = {"1e308", "-1", "0", "null", "true", "18446744073709551615", "9007199254740993"}
    good = ROOT / "tests" / "corpus" / f"{name}_ok.json"
    if good.exists():
        words |= {f'"{word}"' for word in strings_of(json.loads(good.read_text()))}
    schema = ROOT / "schedules" / "schemas" / f"hios-{name}.json"
    if schema.exists():
        words |= {f'"{word}"' for word in strings_of(json.loads(schema.read_text())) if re.fullmatch(r"\w+", word)}
    if name == "words":
        words |= {"n=", "edges=", "layers=", "p=", "seed=", "transfer=", "window=", "islands=", "insertion=true"}
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in sorted(words) if len(word) < 60)
    file.write_text("".join(f'"{word}"\n' for word in quoted))


def figures_of(text):
    """The statistics that libFuzzer prints at its end."""
    stats = {name: int(value) for name, value in re.findall(r"stat::(\w+):\s+(\d+)", text)}
    progress = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)/", text)
    edges, features, inputs = map(int, progress[-1]) if progress else (0, 0, 0)
    return {"executions": stats.get("number_of_executed_units", 0), "peak_mb": stats.get("peak_rss_mb", 0),
            "edges": edges, "features": features, "inputs": inputs}


def command(name, seconds):
    work = BUILD / "inputs" / name
    return ["nice", "-n", "19", BUILD / "bin" / f"hios_fuzz_{name}", work, BUILD / "seeds" / name,
            f"-dict={BUILD / 'inputs' / (name + '.dict')}", f"-artifact_prefix={BUILD / 'found' / name}_",
            f"-max_total_time={max(1, int(seconds))}", f"-max_len={LARGEST_BYTES}", "-timeout=20", "-rss_limit_mb=2048",
            "-print_final_stats=1"]


def run(name, seconds):
    """Runs one target until its time is up, and continues after each finding."""
    (BUILD / "inputs" / name).mkdir(parents=True, exist_ok=True)
    write_dictionary(name, BUILD / "inputs" / f"{name}.dict")
    total = {"executions": 0, "seconds": 0.0, "findings": []}
    begin = time.monotonic()
    while (left := seconds - (time.monotonic() - begin)) > 1 and len(total["findings"]) < MOST_FINDINGS:
        done = subprocess.run(command(name, left), capture_output=True, text=True, errors="replace",
                              env={**os.environ, **ENVIRONMENT})
        log = BUILD / "found" / f"{name}.log"
        log.write_text(done.stderr)
        figures = figures_of(done.stderr)
        total["executions"] += figures.pop("executions")
        total.update(figures)
        if done.returncode != 0:
            saved = re.findall(r"Test unit written to (\S+)", done.stderr)
            what = re.findall(r"(?:ERROR: |runtime error: |what\(\):\s*)(.*)", done.stderr)
            total["findings"].append({"file": Path(saved[-1]).name if saved else None, "what": what[:2]})
    total["seconds"] = round(time.monotonic() - begin)
    print(f"{name}: {total['executions']} executions, {total['edges']} edges, {len(total['findings'])} findings", flush=True)
    return total


def table(results):
    lines = ["| target | minutes | at once | executions | per second | edges reached | features | inputs kept | findings |",
             "|---|---|---|---|---|---|---|---|---|"]
    for name, one in results.items():
        rate = one["executions"] // max(1, one["seconds"])
        lines.append(f"| {name} | {one['minutes']:g} | {one['at_once']} | {one['executions']:,} | {rate:,} | {one['edges']:,} | {one['features']:,} | "
                     f"{one['inputs']:,} | {len(one['findings'])} |")
    return "\n".join(lines) + "\n"


def main():
    options = arguments()
    for folder in ("inputs", "found", "seeds"):
        (BUILD / folder).mkdir(parents=True, exist_ok=True)
    subprocess.run([BUILD / "bin" / "hios_write_seeds", BUILD / "seeds"], check=True)
    with concurrent.futures.ThreadPoolExecutor(max(1, options.at_once)) as pool:
        futures = {name: pool.submit(run, name, options.minutes * 60) for name in options.formats}
        results = {name: future.result() for name, future in futures.items()}
    for one in results.values():
        one.update(minutes=options.minutes, at_once=options.at_once)
    stem = ROOT / "bench" / "results" / "fuzz"
    targets = {**json.loads(stem.with_suffix(".json").read_text())["targets"], **results}  # other targets keep their last results
    targets = {name: targets[name] for name in FORMATS if name in targets}
    stem.with_suffix(".json").write_text(json.dumps({"targets": targets}, indent=1) + "\n")
    text = "# Fuzzing\n\nMade by `bench/fuzz`, with the address and undefined-behaviour sanitizers.\n\n"
    stem.with_suffix(".md").write_text(text + table(targets))
    print(table(results))
    raise SystemExit(1 if any(one["findings"] for one in results.values()) else 0)


if __name__ == "__main__":
    main()

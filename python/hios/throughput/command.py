"""Measures the inputs per second of a network on two cores: on one rank, as copies of the network, and as a pipeline over
two ranks with many inferences in flight; then of networks that consist of weights, and of one that no device can hold alone.
Rows of a network use one profile and run in turn. Writes throughput.json.
"""

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

from hios.launch.programs import Programs, programs_folder
from hios.throughput import table, weights
from hios.throughput.measuring import Bench, write_platform
from hios.throughput.rows import Row, distinct, rows_of, short_rows_of

BATCHES = (2, 4, 8)


def arguments(words):
    parser = argparse.ArgumentParser(prog="throughput", description=" ".join(__doc__.split()))
    parser.add_argument("--model", default="inception_v3", help="a built-in network or a file (%(default)s)")
    parser.add_argument("--height", type=int, help="in pixels (default: the network's)")
    parser.add_argument("--programs", type=Path, help="folder of the three programs (default: beside hios, or in PATH)")
    parser.add_argument("--output", type=Path, required=True, help="folder for throughput.json and its sources")
    parser.add_argument("--rounds", type=int, default=2, help="rounds; each runs every row once (%(default)s)")
    parser.add_argument("--seconds", type=float, default=2, help="measured seconds per row and round (%(default)s)")
    parser.add_argument("--sweeps", type=int, default=16, help="sweeps of the profiler (%(default)s)")
    parser.add_argument("--time-limit", type=float, default=5, metavar="SECONDS", help="time limit of best (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and inputs (%(default)s)")
    return parser.parse_args(words)


def flags_of(args, batch):
    size = ["--height", args.height] if args.height else []
    return ["--model", args.model, "--batch", batch, *size]


def best_batch(args, bench):
    """The batch with the most inputs per second, from short runs of copies: a batch that helps there helps in all rows."""
    def per_second(batch):
        row = Row(Path(args.model).stem, batch, 1, 1, 2, "sequential")
        bench.programs.run("hios-run", *flags_of(args, batch), "--copies", 2, "--inferences", 10, "-q", "--json",
                           bench.folder / "batch.json", "--force", ranks=2)
        row.reports.append(json.loads((bench.folder / "batch.json").read_text()))
        return row.result()["per_second"]
    return max(BATCHES, key=per_second)


def network_rows(args, bench, batch):
    rows = rows_of(Path(args.model).stem, batch)
    flags = flags_of(args, batch)
    profile = bench.profile(flags, rows)
    bench.schedule(flags, rows, profile)
    rows = distinct(rows)
    bench.turns(flags, rows, profile, args.rounds)
    print(table.page(f"{args.model}, batch {batch}, 2 cores", rows), flush=True)
    return rows


def weights_rows(args, bench):
    every, lines = [], []
    cache = weights.cache_bytes()
    for factor in weights.FACTORS:
        file = bench.folder / f"{weights.name_of(factor)}.json"
        file.write_text(json.dumps(weights.network(factor, cache)))
        rows = short_rows_of(weights.name_of(factor))
        flags = ["--model", file]
        profile = bench.profile(flags, rows)
        bench.schedule(flags, rows, profile)
        bench.turns(flags, rows, profile, args.rounds)
        every += rows
        copies = table.copies_of(rows)
        lines += [[rows[0].model, *table.cells(row, copies)] for row in rows]
    print(f"\n1x1 convolutions whose weights are a multiple of a core's share of the caches ({cache / 2**20:.1f} MiB)\n")
    print(table.text(["network", *table.COLUMNS], lines), flush=True)
    return every


def memory_rows(args, bench, rows):
    """Rows for two devices that each hold three quarters of the network's memory."""
    batch = rows[0].batch
    held = max(rank["held_bytes"] for row in rows if row.copies > 1 for rank in row.reports[0]["ranks"])
    limit = held * 3 // 4
    flags = flags_of(args, batch)
    profile = bench.stem(rows[0]).with_suffix(".profile.json")
    copies, pipeline = short_rows_of(f"{rows[0].model}, {limit / 1e6:.0f} MB per device", batch)
    copies.refused = f"needs {held / 1e6:.0f} MB per device"
    platform = write_platform(bench.folder / "small-platform.json", 2, 1, limit)
    bench.schedule(flags, [pipeline], profile, platform)
    bench.turns(flags, [pipeline], profile, args.rounds)
    print(table.page(f"{args.model}, batch {batch}, two devices of {limit / 1e6:.0f} MB each", [copies, pipeline]), flush=True)
    return [pipeline]


def main(words):
    args = arguments(words)
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit(f"the comparison needs 2 cores and may use {len(os.sched_getaffinity(0))}")
    started = time.monotonic()
    folder = args.output / "throughput"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    bench = Bench(Programs(args.programs or programs_folder()), folder, args.seconds, args.sweeps, args.time_limit, args.seed)
    rows = network_rows(args, bench, 1)
    limited = memory_rows(args, bench, rows)
    batched = network_rows(args, bench, best_batch(args, bench))
    everything = rows + batched + weights_rows(args, bench) + limited
    results = [row.result() for row in everything if row.result()]
    file = args.output / "throughput.json"
    file.write_text(json.dumps({"rows": results, "seconds": time.monotonic() - started}, indent=1) + "\n")
    print(f"\n{file} holds the rows ({time.monotonic() - started:.0f} s)")
    if not all(row["verified"] for row in results):
        sys.exit("a row did not verify")


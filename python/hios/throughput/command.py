"""hios bench --throughput: measures the inputs per second of a network on one rank, as copies of the network, and as a
pipeline over ranks with many inferences in flight; then with larger batches. With --all-rows also networks that consist of
weights, and one that no device can hold alone. Rows of a network use one profile and run in turns. Writes throughput.json.
"""

import json
import shutil
import sys

from hios.benchmark import folder as folders
from hios.benchmark.budget import Budget, clamp
from hios.benchmark.network import first_answer, network_of, programs_of
from hios.benchmark.table import folded, folded_verdict
from hios.benchmark.verdict import ms_text, rate_text
from hios.benchmark.ways import machine_of
from hios.throughput import table, weights
from hios.throughput.measuring import Bench, write_platform
from hios.throughput.rows import Row, distinct, rows_of, short_rows_of
from hios.throughput.verdict import verdict

BATCHES = (2, 4, 8)
FIRST_SHARE = 0.45  # of the budget for batch 1, the rest is for larger batches


def flags_of(network, batch):
    """The network's flags with another batch."""
    flags = list(network.flags)
    if "--batch" in flags:
        at = flags.index("--batch")
        del flags[at:at + 2]
    return [*flags, "--batch", batch]


class Sections:
    """The measured tables of one network."""

    def __init__(self, args, network, machine, bench, budget):
        self.args, self.network, self.machine = args, network, machine
        self.bench, self.budget = bench, budget

    def best_batch(self):
        """The batch with the most inputs per second, from short runs of copies: a batch that helps there helps in all
        rows."""
        copies = self.machine.cores if self.machine.ranks > 1 else 1
        several = ["--copies", copies] if copies > 1 else []

        def per_second(batch):
            row = Row(self.network.label, batch, 1, 1, copies, "sequential")
            row.reports.append(self.bench.programs.json("hios-run", *flags_of(self.network, batch), *several, "--inferences",
                                                        10, ranks=copies))
            return row.result()["per_second"]
        return max(BATCHES, key=per_second)

    def of_batch(self, batch, share):
        flags = flags_of(self.network, batch)
        rows = rows_of(self.network.label, batch, self.machine.cores, self.machine.ranks)
        profile = self.bench.profile(flags, rows)
        self.bench.schedule(flags, rows, profile)
        rows = distinct(rows)
        limit = self.args.rounds
        self.bench.turns(flags, rows, profile,
                         lambda turn, last_s: (limit is None or turn < limit) and self.budget.fits(last_s, share))
        heading = f"{self.network.label}, batch {batch}, {self.machine.cores} cores; times in ms"
        print(table.page(heading, rows), flush=True)
        return rows

    def measure(self):
        """All rows of the network: batch 1 in any case, a larger one if time is left for it."""
        batch = self.args.batch or 1
        if self.args.batch:
            return self.of_batch(batch, 1.0)
        first = []
        first_s = self.budget.timed(lambda: first.extend(self.of_batch(batch, FIRST_SHARE)))
        if not self.budget.fits(first_s):
            print(folded(f"no time for larger batches (--budget {2 * self.budget.spent() + first_s:.0f})"))
            return first
        return [*first, *self.of_batch(self.best_batch(), 1.0)]


def rounds_of(args):
    """Returns the limit of rounds of sections outside the budget."""
    return lambda turn, _: turn < (args.rounds or 2)


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
        bench.turns(flags, rows, profile, rounds_of(args))
        every += rows
        copies = table.copies_of(rows)
        lines += [[rows[0].model, *table.cells(row, copies)] for row in rows]
    print("\n" + folded(f"1x1 convolutions whose weights are a multiple of a core's share of the caches "
                        f"({cache / 2**20:.1f} MiB)") + "\n")
    print(table.text(["network", *table.COLUMNS], lines, table.DROPPED), flush=True)
    return every


def memory_rows(args, network, bench, rows):
    """Rows for two devices that each hold three quarters of the network's memory."""
    batch = rows[0].batch
    held = max(rank["held_bytes"] for row in rows if row.copies > 1 for rank in row.reports[0]["ranks"])
    limit = held * 3 // 4
    flags = flags_of(network, batch)
    profile = bench.stem(rows[0]).with_suffix(".profile.json")
    copies, pipeline = short_rows_of(f"{rows[0].model}, {limit / 1e6:.0f} MB per device", batch)
    copies.refused = f"needs {held / 1e6:.0f} MB per device"
    platform = write_platform(bench.folder / "small-platform.json", 2, 1, limit)
    bench.schedule(flags, [pipeline], profile, platform)
    bench.turns(flags, [pipeline], profile, rounds_of(args))
    print(table.page(f"{network.label}, batch {batch}, two devices of {limit / 1e6:.0f} MB each", [copies, pipeline]),
          flush=True)
    return [pipeline]


def prepare(args):
    """Returns the folder of the sources."""
    folders.prepare(args.output, args.force, folders=("throughput",))
    return args.output / "throughput"


def measure(args):
    """Returns the exit status."""
    programs = programs_of(args)
    network = network_of(args)
    machine = machine_of(args.cores, args.ranks, shutil.which("mpirun") is not None)
    network.operators(programs)
    folder = prepare(args)
    budget = Budget(args.budget)
    print("measuring 1 rank x 1 core ...", file=sys.stderr, flush=True)
    report = first_answer(programs, network, args.output)
    one_core_ms = report["latency_ms"]["best_quarter"]
    print(folded(f"first answer: 1 rank x 1 core {ms_text(one_core_ms)} ms, one inference after the other: "
                 f"{rate_text(1000 * report['model']['batch'] / one_core_ms)}", "  "), flush=True)
    for remark in machine.remarks:
        print(folded(remark, "  "))
    bench = Bench(programs, folder, clamp(0.015 * args.budget, 0.3, 2),
                  args.sweeps or round(clamp(0.02 * args.budget / (one_core_ms / 1000), 4, 16)),
                  clamp(0.03 * args.budget, 1, 5), network.seed, clamp(0.01 * args.budget, 0.5, 20),
                  round(clamp(0.06 * args.budget / (one_core_ms / 1000), 12, 40)))
    rows = Sections(args, network, machine, bench, budget).measure()
    if budget.left() < -0.1 * args.budget:
        print(folded(f"{args.budget:.0f} s are too few here: the profile and one round of every row took {budget.spent():.0f} s "
                     f"(--budget {budget.spent():.0f})", "  "))
    judged = [row.result() for row in rows if row.result()]
    if args.all_rows and machine.ranks > 1 and machine.cores > 1:
        batch = rows[0].batch
        rows += memory_rows(args, network, bench, [row for row in rows if row.batch == batch])
        rows += weights_rows(args, bench)
    return finish(args, rows, judged, budget)


def finish(args, rows, judged, budget):
    """Prints the verdict and writes throughput.json. Returns the exit status."""
    results = [row.result() for row in rows if row.result()]
    said = list(verdict(judged))
    print("\n" + "\n".join(map(folded_verdict, said)))
    file = args.output / "throughput.json"
    file.write_text(json.dumps({"rows": results, "verdict": said, "seconds": budget.spent()}, indent=1) + "\n")
    print(f"\n{file} holds the rows ({budget.spent():.0f} s)")
    wrong = [result["name"] for result in results if not result["verified"]]
    if wrong:
        print(f"a row did not verify: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0

"""Cold starts of decoders on servers: calls of hios-schedule, and their rows in a CSV file for each part."""

import csv
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import decoders
from cold_servers import SERVERS
from store import Store

KEY = ("model", "batch", "sequence", "server", "algorithm", "options")
VALUES = ("devices", "limit_s", "latency_ms", "bound_ms", "seconds", "devices_used", "outcome",
          "over_load_then_run", "over_pipelined", "over_interleaved")
EMULATED = "emulated"  # the part that runs plans
EMULATED_VALUES = ("devices", "time_scale", "predicted_ms", "emulated_ms", "error_percent")
SHARED = "shared"  # the part of several models
SHARED_VALUES = ("devices", "outcome", "expected_ms", "bound_ms", "kept_gb", "latencies_ms", "seconds")
WITHOUT_SPEEDUPS = ("remaining", EMULATED, SHARED)
FAR_S = 600  # a limit that no call without one reaches
INTERLEAVED = "split=interleaved"
BASES = {"over_load_then_run": ("load-then-run", ""), "over_pipelined": ("pipelined", ""),
         "over_interleaved": ("deepplan", INTERLEAVED)}
MODELS = {model.name: model for model in decoders.MODELS}


def store_of(folder, part):
    return Store(folder / f"cold-{part}.csv", KEY, {EMULATED: EMULATED_VALUES, SHARED: SHARED_VALUES}.get(part, VALUES))


@dataclass(frozen=True)
class Problem:
    """A decoder at an input's shape on a server, or, with `only`, on some of its GPUs."""
    model: str
    batch: int
    sequence: int
    server: str
    only: tuple = ()

    def names(self):
        """The columns of the problem."""
        gpus = "+".join(name.removeprefix("gpu") for name in self.only)
        return {"model": self.model, "batch": self.batch, "sequence": self.sequence,
                "server": f"{self.server}, GPUs {gpus}" if gpus else self.server}

    def devices(self):
        return len(self.only or SERVERS[self.server].gpus)

    def graph(self):
        return decoders.graph(MODELS[self.model], self.batch, self.sequence, SERVERS[self.server].kinds)

    def flags(self, folder):
        """Writes the problem's files into the folder, and returns the flags that name them."""
        graph, platform = folder / "graph.json", folder / "platform.json"
        graph.write_text(json.dumps(self.graph()))
        platform.write_text(json.dumps(SERVERS[self.server].platform(self.only or None)))
        return ["--graph", graph, "--platform", platform, "--objective", "cold-start"]


@dataclass(frozen=True)
class Call:
    """A problem, and (algorithms, options) whose rows are added together."""
    problem: Problem
    variants: tuple
    limit_s: float = 0  # none

    def keys(self):
        return [self.key(algorithm, options) for algorithms, options in self.variants for algorithm in algorithms]

    def key(self, algorithm, options):
        return {**self.problem.names(), "algorithm": algorithm, "options": " ".join(options)}

    def title(self):
        names = [f"{', '.join(algorithms)} {' '.join(options)}".strip() for algorithms, options in self.variants]
        return f"{', '.join(map(str, self.problem.names().values()))}: {'; '.join(names)}"

    def answers(self, programs):
        """A row for each algorithm, without speed-ups."""
        made = []
        with tempfile.TemporaryDirectory() as folder:
            flags, table = self.problem.flags(Path(folder)), Path(folder) / "table.csv"
            for algorithms, options in self.variants:
                words = [word for option in options for word in ("--option", option)]
                programs.run("hios-schedule", *flags, "--algorithm", ",".join(algorithms), *words,
                             "--time-limit", self.limit_s or FAR_S, "--csv", table, "--force", "-q")
                with table.open(newline="") as file:
                    rows = {row["algorithm"]: row for row in csv.DictReader(file)}
                made += [{**self.key(name, options), **row_of(rows[name]), "devices": self.problem.devices(),
                          "limit_s": self.limit_s or ""} for name in algorithms]
        return made


def row_of(row):
    return {"latency_ms": f"{float(row['latency_ms']):.6g}", "bound_ms": f"{float(row['lower_bound_ms']):.6g}",
            "seconds": f"{float(row['seconds']):.3g}", "devices_used": row["devices_used"], "outcome": row["outcome"]}


def longest_path_ms(graph, kind):
    """Time of the longest path, transfers free, on devices of one kind."""
    end = {}
    producers = {}
    for edge in graph["edges"]:
        producers.setdefault(edge["to"], []).append(edge["from"])
    for operator in graph["operators"]:  # in topological order
        start = max((end[each] for each in producers.get(operator["name"], ())), default=0)
        end[operator["name"]] = start + operator["time_ms"][kind]
    return max(end.values())


def critical_path(problem, load_then_run_ms):
    """The row of the paper's Critical Path: all parameters are loaded over one bus, and then the longest path runs on
    the fastest kind of device."""
    graph = problem.graph()
    kind = max(SERVERS[problem.server].kinds, key=lambda name: SERVERS[problem.server].kinds[name][0].tflops)
    saved = sum(operator["time_ms"][kind] for operator in graph["operators"]) - longest_path_ms(graph, kind)
    return {**problem.names(), "algorithm": "critical-path", "options": "", "devices": problem.devices(),
            "latency_ms": f"{load_then_run_ms - saved:.6g}", "outcome": "no schedule"}


def with_speedups(rows, bases):
    """The rows with their speed-ups; `bases`: a store that has the rows of one device on the whole server, where these are not
    among the rows."""
    for row in rows:
        server = {**row, "server": row["server"].partition(",")[0]}
        for column, (algorithm, options) in BASES.items():
            key = {name: str({**server, "algorithm": algorithm, "options": options}[name]) for name in KEY}
            own = [each for each in rows if all(str(each[name]) == value for name, value in key.items())]
            base = own[0] if own else bases.get(**key)
            row[column] = f"{float(base['latency_ms']) / float(row['latency_ms']):.4f}" if base else ""
    return rows


def run(programs, folder, part, calls, deadline):
    """Makes the missing calls; returns True when none is missing. Part `starts` comes first: it has the bases. Those of
    `remaining` would be others, `emulated` judges predictions, and `shared` is of several models: their rows have no speed-ups."""
    store = store_of(folder, part)
    bases = store if part == "starts" else store_of(folder, "starts")
    for count, call in enumerate(calls, 1):
        if all(store.has(**key) for key in call.keys()):
            continue
        if deadline.passed():
            return False
        print(f"{part} {count}/{len(calls)}: {call.title()}", file=sys.stderr, flush=True)
        rows = call.answers(programs)
        if part == "starts":
            rows += [critical_path(call.problem, float(row["latency_ms"])) for row in rows if row["algorithm"] == "load-then-run"]
        store.add(rows if part in WITHOUT_SPEEDUPS else with_speedups(rows, bases))
    return True

"""The tables of docs/study.md that come from CSV files of this study, as Markdown: tables.md has them all. A table
without its file is left out, and a cell without results is empty."""

import csv
import statistics

import levels
from rules import PAPER, PUBLISHED

FILE = "tables.md"
NETWORKS = {"squeezenet": "SqueezeNet", "inception_v3": "Inception-v3", "nasnet_large": "NASNet-A large",
            "randwire_large": "RandWire large"}
MEASURED = {"sequential 1x1": "sequential, one core", "ios 1x1": "ios, one core",
            "inter-mr 2x1": "inter-mr, two ranks x one core", "hios-mr 2x1": "hios-mr", "inter-lp 2x1": "inter-lp",
            "hios-lp 2x1": "hios-lp", "best 2x1": "best", "sequential 1x2": "sequential, one rank x two cores",
            "ios 1x2": "ios, one rank x two cores"}
# The paper's latencies in ms with 4 devices: figure 10 where the text gives them, else from the speed-ups and shares
# of its sections V-D and V-E.
PAPER_MS = {"sequential": "411", "ios": "371", "inter-mr": "352 to 357", "hios-mr": "305", "inter-lp": "",
            levels.ANY_PATH: "212 to 216", "hios-lp": "200"}
LEVELS = {name: name for name in PAPER_MS} | {"inter-lp": "inter-lp (Alg. 1)", levels.ANY_PATH: "Alg. 1 by any path"}


def read_rows(file):
    with file.open(newline="") as content:
        return list(csv.DictReader(content))


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" if line[0] != "---" else "|" + "---|" * len(line) for line in lines]


def shown(value, scale=1.0, unit="", digits=1):
    """A number of a CSV file, or nothing."""
    return f"{scale * float(value):.{digits}f}{unit}" if value not in (None, "") else ""


def gaps_by_devices(folder):
    rows = [row for row in read_rows(folder / "figures.csv") if row["figure"] == "7"]
    devices = sorted({int(row["value"]) for row in rows})
    gap = {(row["algorithm"], int(row["value"])): row["gap_to_bound"] for row in rows}
    return markdown(["devices", *devices], [[name, *(shown(gap.get((name, value)), 100, " %") for value in devices)]
                                            for name in ("hios-lp", "best")])


class Levels:
    """The rows of levels.csv: latencies by setting, algorithm and rules, over the seeds."""

    def __init__(self, folder):
        self.ms = {}
        for row in levels.open_store(folder).rows.values():
            for rule in (PAPER, PUBLISHED):
                key = int(row["devices"]), row["algorithm"], row["decided_by"], rule
                self.ms.setdefault(key, {})[row["seed"]] = float(row[f"{rule}_ms"])

    def of(self, devices, name, decided_by, timed_by):
        """By seed; where both rules decide alike, the schedule by the paper's rule."""
        key = devices, name, decided_by, timed_by
        return self.ms.get(key) or self.ms.get((devices, name, PAPER, timed_by), {})

    def mean(self, *key):
        ms = self.of(*key).values()
        return statistics.fmean(ms) if ms else None


def levels_by_rule(folder):
    found = Levels(folder)
    columns = [(decided_by, timed_by) for decided_by in (PAPER, PUBLISHED)
               for timed_by in ((PAPER, PUBLISHED) if decided_by == PAPER else (PUBLISHED, PAPER))]
    rows = [[label, *(shown(found.mean(levels.DEFAULT.devices, name, *column)) for column in columns), PAPER_MS[name]]
            for name, label in LEVELS.items()]
    return markdown(["mean ms", "paper's rule", "its schedules by the evaluator", "evaluator",
                     "its schedules by the paper's rule", "in the paper"], rows)


def speedups_by_rule(folder):
    found = Levels(folder)
    sequential = found.of(levels.DEFAULT.devices, "sequential", PAPER, PAPER)
    devices = [setting.devices for setting in levels.SETTINGS]

    def speedup(value, name):
        ms = found.of(value, name, PUBLISHED, PUBLISHED)
        return shown(statistics.fmean(sequential[seed] / ms[seed] for seed in ms) if ms else None, digits=2)

    return markdown(["over sequential, devices", *devices],
                    [[name, *(speedup(value, name) for value in devices)] for name in ("hios-mr", "hios-lp")])


def network_gaps(folder):
    rows = [row for row in read_rows(folder / "network_gaps.csv") if row["time_limit_s"] == "10"]
    gap = {(row["network"], int(row["devices"]), row["algorithm"]): row["gap"] for row in rows}
    devices = sorted({value for _, value, _ in gap})

    def cell(network, value):
        return " / ".join(shown(gap.get((network, value, name)), 100) for name in ("hios-lp", "hios-mr", "best"))

    return markdown(["devices", *devices],
                    [[label, *(cell(name, value) for value in devices)] for name, label in NETWORKS.items()])


def measured_medians(folder):
    rows = read_rows(folder / "networks.csv")
    median = {(row["network"], row["pixels"], row["row"]): row["latency_ms_median"] for row in rows}
    columns = list(dict.fromkeys((network, pixels) for network, pixels, _ in median))
    named = [f"{NETWORKS[network]} {pixels}" if columns[i - 1][0] != network else pixels
             for i, (network, pixels) in enumerate(columns)]
    return markdown(["median latency, ms", *named],
                    [[label, *(shown(median.get((*column, row))) for column in columns)] for row, label in MEASURED.items()])


TABLES = {
    "Gap to the lower bound by devices": ("figures.csv", gaps_by_devices),
    "Latencies by both rules": ("levels.csv", levels_by_rule),
    "Speed-ups by the evaluator": ("levels.csv", speedups_by_rule),
    "Gaps on networks": ("network_gaps.csv", network_gaps),
    "Measured medians": ("networks.csv", measured_medians),
}


def tables(folder):
    """The lines of every table by its title, from the results in the folder."""
    return {title: table(folder) for title, (file, table) in TABLES.items() if (folder / file).exists()}


def write(folder):
    blocks = ["# Tables of docs/study.md"]
    blocks += [f"## {title}\n\nFrom {TABLES[title][0]}.\n\n" + "\n".join(lines)
               for title, lines in tables(folder).items()]
    (folder / FILE).write_text("\n\n".join(blocks) + "\n")

"""The tables of single benches, from their JSON files in bench/results: mixed, peers, fuzz, milp, quality, unlike devices, exchange, soak,
cold and onnx_networks."""

import json

import cold_rows
import exchange_tables
import fuzz
import milp
import mixed
import prediction
import quality
import soak
import unlike_devices
import zoo_tables
from markdown_tables import RESULTS, rows_in, tables_in
from peer_report import shown
from peer_rounds import OURS, PEERS


def results(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def mixed_rows(name):
    """All columns, as bench/mixed writes them."""
    return rows_in(mixed.table(results(name)["rows"], results(name)["inputs"]))


def mixed_columns(*columns):
    """Some columns of mixed.json; best quarter is the page's "ms"."""
    rows = results("mixed")["rows"]
    texts = mixed.columns_of(rows, 1)
    by_name = {row["name"]: row for row in rows}
    return [[None, *(texts[column](by_name[name]) for column in columns)]
             for name in ("cpu alone", "cpu:avx2 alone", "together, heft", "together, hios-lp", "together, best",
                          "together, hios-lp, cut", "together, best, cut")]


def mixed_page():
    return mixed_columns("best quarter", "over cpu alone", "predicted", "error")


def mixed_readme():
    """One digit of the times; the ranks alone share a row."""
    rows = {row["name"]: row for row in results("mixed")["rows"]}
    best = {name: row["latency_ms"]["best_quarter"] for name, row in rows.items()}

    def row_of(*names):
        return [None, ", ".join(f"{best[name]:.1f}" for name in names),
                ", ".join(f"{best['cpu alone'] / best[name]:.2f}x" for name in names),
                ", ".join(f"{rows[name]['predicted_ms']:.1f}" for name in names)]

    return [row_of("cpu alone", "cpu:avx2 alone"), row_of("together, hios-lp"), row_of("together, best"),
            row_of("together, best, cut")]


def cold(name="cold"):
    """All columns, as bench/cold.sh writes them."""
    return rows_in(cold_rows.page(results(name)))


def peers(name):
    """Rows by network and threads."""
    ort = PEERS[0]
    lines = []
    for network, measured in results(name)["networks"].items():
        for row in measured["rows"]:
            lines.append([network, str(row["threads"]), *(f"{row[who]['ms']:.2f}" for who in (OURS, *PEERS)), f"{row['ratio']:.3f}",
                          f"{100 * row[OURS]['moved']:.1f} %", shown(measured["values"][f"{OURS} - {ort}"])])
    return lines


def fuzzing():
    return rows_in(fuzz.table(results("fuzz")["targets"]))


def optima(modules=None):
    """`modules`: only those of milp-split, or only the others."""
    groups = results("milp")["groups"]
    return rows_in(milp.table({name: group for name, group in groups.items() if modules in (None, name.startswith("modules"))}))


def weaknesses():
    return rows_in(quality.table(results("quality")["groups"]))


def unlike():
    kept = results("unlike-devices")
    return rows_in(unlike_devices.table(kept["problems"], kept["groups"]))


def soak_part(part):
    return next(table.rows for table, name in zip(tables_in(soak.table(results("soak"))), results("soak")) if name == part)


def read_back():
    return rows_in(exchange_tables.table(results("exchange")))


def published():
    return rows_in(exchange_tables.published_table(results("exchange")["published"]))


def cutting(name="cutting"):
    """A network a line: one core, and the best rows of each kind."""
    lines = []
    for network, rows in results(name)["networks"].items():
        ms = {row["name"]: row["best_quarter_ms"] for row in rows}
        cut = min((row for row in rows if row["name"].endswith(", cut")), key=lambda row: row["best_quarter_ms"])
        one = ms["1 rank x 1 core sequential"]
        best = [min(value for name, value in ms.items() if "2 cores" in name),
                min(value for name, value in ms.items() if name.startswith("2 ranks") and not name.endswith(", cut")),
                cut["best_quarter_ms"]]
        lines.append([network, f"{one:.2f}", *(f"{each:.2f} ({one / each:.2f}x)" for each in best), str(cut["cut_operators"]),
                      f"{100 * cut['prediction_error']:+.1f} %"])
    return lines


def cutting_readme():
    return [line[:5] for line in cutting("cutting-xeon")]


def zoo(name="onnx-networks"):
    """The kinds of networks, as bench/onnx_networks prints them."""
    return rows_in(zoo_tables.markdown(zoo_tables.HEAD, zoo_tables.families(results(name)["rows"])))


def predictions():
    return rows_in(prediction.table(results("prediction")["networks"]))


RECOMPUTED = {
    ("docs/numbers.md", "network | ranks and schedule | predicted, ms"): [predictions],
    ("bench/results/prediction.md", "network | ranks and schedule | predicted, ms"): [predictions],
    ("README.md", "network | one core, ms | two threads"): [cutting_readme],
    ("docs/cutting.md", "network | one core, ms | two threads"): [cutting, lambda: cutting("cutting-xeon")],
    ("README.md", "ranks and schedule | ms | over `cpu` alone"): [mixed_readme],
    ("docs/mixed.md", "ranks and schedule | ms | over `cpu` alone"): [mixed_page],
    ("bench/results/mixed.md", "ranks and schedule | min ms | best quarter"): [lambda: mixed_rows("mixed")],
    ("bench/results/mixed-16.md", "ranks and schedule | min ms | best quarter"): [lambda: mixed_rows("mixed-16")],
    ("docs/onnx.md", "network | threads | ours ms"): [lambda: peers("peers"), lambda: peers("peers-epyc")],
    ("docs/onnx.md", "networks | exported | accepted"): [zoo],
    ("bench/results/onnx-networks.md", "networks | exported | accepted"): [zoo],
    ("bench/results/onnx-networks-emulated-cuda.md", "networks | exported | accepted"):
        [lambda: zoo("onnx-networks-emulated-cuda")],
    ("docs/reliability.md", "target | minutes | at once"): [fuzzing],
    ("bench/results/fuzz.md", "target | minutes | at once"): [fuzzing],
    ("docs/study.md", "devices | problems | s each"): [lambda: optima(False), lambda: optima(True)],
    ("bench/results/milp.md", "devices | problems | s each"): [optima],
    ("docs/study.md", "problems |  | hios-lp/heft"): [weaknesses],
    ("bench/results/unlike-devices.md", "problem | best ms | bound ms"): [unlike],
    ("bench/results/quality.md", "problems |  | hios-lp/heft"): [weaknesses],
    ("bench/results/cold.md", "network | store | ranks x cores"): [cold],
    ("bench/results/cold-xeon.md", "network | store | ranks x cores"): [lambda: cold("cold-xeon")],
    ("bench/results/exchange.md", "network | plan | nodes"): [read_back],
    ("bench/results/exchange.md", "schedule | merged sets | stages"): [published],
    ("bench/results/soak.md", " | "): [lambda part=part: soak_part(part) for part in ("steady", "record", "kills")],
}

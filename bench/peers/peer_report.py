"""The results of bench/peers.sh as JSON, CSV and a table; files are written after every network."""

import csv
import json
from dataclasses import asdict

from machine import processor
from peer_rounds import ALIKE, OURS, PEERS, STILL, alike

COLUMNS = ["network", "threads", "ours ms", "ONNX Runtime ms", "OpenVINO ms", "ours/faster", "varied", "ours-ORT",
           "OpenVINO-ORT"]


class Report:
    def __init__(self, file, versions, protocol):
        self.file, self.networks = file, {}
        self.head = {"processor": processor(), "versions": versions, "protocol": {
            **asdict(protocol), "statistic": "median of a round's runs, median over rounds; each round new processes, "
            "in turn, on the same cores", "ratio": "to the faster peer in the same round, median over rounds", "values": "max |a - b| / max |b|"}}

    def add(self, name, results):
        self.networks[name] = results
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps({**self.head, "networks": self.networks}, indent=1) + "\n")
        with open(self.file.with_suffix(".csv"), "w", newline="") as file:
            csv.writer(file).writerows([["network", "threads", *(f"{who}_ms" for who in (OURS, *PEERS)), "ratio", "moved"],
                                        *([name, row["threads"], *(f"{row[who]['ms']:.4f}" for who in (OURS, *PEERS)),
                                           f"{row['ratio']:.4f}", f"{row[OURS]['moved']:.4f}"]
                                          for name, row in self.rows())])

    def rows(self):
        for name, results in self.networks.items():
            for row in results["rows"]:
                yield name, row

    def table(self):
        lines = [COLUMNS]
        for name, row in self.rows():
            values = self.networks[name]["values"]
            ort, vino = PEERS
            lines.append([name, str(row["threads"]), *(f"{row[who]['ms']:.2f}" for who in (OURS, *PEERS)),
                          f"{row['ratio']:.3f}", f"{100 * row[OURS]['moved']:.1f} %",
                          *(shown(values[pair]) for pair in (f"{OURS} - {ort}", f"{vino} - {ort}"))])
        widths = [max(len(line[c]) for line in lines) for c in range(len(COLUMNS))]
        text = "\n".join("  ".join(cell.ljust(widths[c]) if c == 0 else cell.rjust(widths[c])
                                   for c, cell in enumerate(line)).rstrip() for line in lines)
        return "\n".join([text, *self.notes()])

    def right(self):
        return all(alike(results["values"]) for results in self.networks.values())

    def notes(self):
        for name, results in self.networks.items():
            if not alike(results["values"]):
                yield f"{name}: ours and ONNX Runtime's values differ by more than {ALIKE:.0e} of the largest"
            if results["moved"] > STILL:
                yield (f"{name}: our row on the fewest cores varied by {100 * results['moved']:.1f} % between rounds, in the "
                       f"least varying of {results['attempts']} attempts")


def shown(difference):
    return "NaN" if difference is None else f"{difference:.1e}"

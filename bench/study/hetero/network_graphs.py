"""The built-in networks as graphs with the work of their operators: arithmetic, bytes, weights. Nothing is measured:
hios-schedule exports the edges of a model, and gets a profile in which every operator takes 1 ms.
"""

import json
import math
import tempfile
from pathlib import Path

NETWORKS = ("squeezenet", "inception_v3", "randwire_large", "nasnet_large")
BYTES = 4  # of an element: single precision


def profile_of_ones(signatures):
    return {"format": "hios-profile", "version": 1, "configurations": [
        {"backend": "cpu", "kind": "cpu", "threads": 1, "math": "fp32", "ranks": 1,
         "operators": {signature: {"ms": 1.0, "min": 1.0, "samples": 1} for signature in signatures}}]}


def work(listed, edges):
    """The work of every operator of --list-operators: its arithmetic (at least one operation per output element), the bytes
    that it reads and writes, and its weights."""
    written = {each["name"]: math.prod(each["shape"]) * BYTES for each in listed}
    read = {each["name"]: each["weights_bytes"] for each in listed}
    for edge in edges:
        read[edge["to"]] += edge["bytes"]
    return [{"name": each["name"], "flop": max(each["mflop"] * 1e6, written[each["name"]] / BYTES),
             "bytes": read[each["name"]] + written[each["name"]], "weight_bytes": each["weights_bytes"]} for each in listed]


def network(programs, name, fusion):
    """Operators with their work, and edges with their bytes."""
    model = ["--model", name, "--fusion", fusion]
    listed = programs.json("hios-schedule", *model, "--list-operators")["operators"]
    with tempfile.TemporaryDirectory() as folder:
        profile, graph = Path(folder) / "profile.json", Path(folder) / "graph.json"
        profile.write_text(json.dumps(profile_of_ones({each["signature"] for each in listed})))
        programs.run("hios-schedule", *model, "--profile", profile, "--devices", 1, "--export-graph", graph, "-q")
        exported = json.loads(graph.read_text())
    edges = [{key: edge[key] for key in ("from", "to", "bytes")} for edge in exported["edges"]]
    return work(listed, edges), edges

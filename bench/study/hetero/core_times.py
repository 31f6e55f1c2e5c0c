"""Times of the built-in networks' operators on one core, the only ones here that are measured.

They are kept with the results, core.json, a hios-profile file: whoever repeats the study plans with the same
costs, on any machine. Remove it, and the CSV files, to measure anew.
"""

import json
import sys
import tempfile
from pathlib import Path

NETWORKS = ("squeezenet", "inception_v3", "randwire_large", "nasnet_large")
FUSIONS = ("none", "default")
SWEEPS = 10


def measure(programs, file):
    """In one go, into a file of another name until all is there."""
    unfinished = file.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    for network in NETWORKS:
        for fusion in FUSIONS:
            print(f"times on one core: {network}, fusion {fusion}", file=sys.stderr, flush=True)
            programs.run("hios-profile", "--model", network, "--fusion", fusion, "--backend", "auto", "--threads", 1,
                         "--stages", "none", "--warmup", 2, "--iterations", SWEEPS, "--output", unfinished, "--update",
                         "-q", ranks=1)
    unfinished.rename(file)


def measured_graph(study, network, fusion):
    """Operators with their times, edges with their bytes."""
    file = study.folder / "core.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        measure(study.programs, file)
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "graph.json"
        study.programs.run("hios-schedule", "--model", network, "--fusion", fusion, "--profile", file, "--devices", 1,
                           "--threads", 1, "--streams", 1, "--export-graph", graph, "-q")
        return json.loads(graph.read_text())

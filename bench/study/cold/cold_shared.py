"""Beyond the paper: several decoders share a server, whose GPUs keep some of their parameters between requests."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import decoders
from cold_servers import SERVERS

KEEP_GB = 2  # of each GPU
LIMIT_S = 3600  # that no call reaches
OPTIONS = ("exchanges=150", "iterations=150", "islands=1", "threads=1")  # the same plan on any machine
TUNED_FROM = 0.75  # a sibling differs in this last part of its layers
TUNED = " tuned"
SIBLINGS = (("GPT2-xl", 0.4), (f"GPT2-xl{TUNED} 1", 0.3), (f"GPT2-xl{TUNED} 2", 0.3))
PLANNED, NO_ROOM = "planned", "no room"  # outcomes; no room: for a model's cold start next to what is kept
APART = "siblings apart"  # whose labels are all different, as if nobody knew that values are equal
# Models and their shares of the requests.
SETS = {"three decoders": (("GPT2-large", 0.5), ("GPT2-xl", 0.3), ("OpenLLaMA-3B", 0.2)), "siblings": SIBLINGS, APART: SIBLINGS}
KINDS = {"planned": "planned", "whole models by share": "whole models", "in order of use": "in order of use", "nothing": "nothing"}


def layer_of(name):
    """The number of the layer to which an operator belongs; None for one of no layer."""
    word = name.partition("_")[0]
    return int(word[1:]) if word[:1] == "l" and word[1:].isdigit() else None


def labelled(name, batch, sequence, kinds, apart=False):
    """The decoder's graph, whose parameters have labels: of the model, or of its sibling where that has other values, or,
    `apart`, everywhere."""
    base = name.partition(TUNED)[0]
    model = next(model for model in decoders.MODELS if model.name == base)
    graph = {**decoders.graph(model, batch, sequence, kinds), "name": name.replace(" ", "-")}
    first_tuned = model.layers * TUNED_FROM
    for operator in graph["operators"]:
        if not operator.get("parameter_bytes"):
            continue
        layer = layer_of(operator["name"])
        own = name if apart or (layer is not None and layer >= first_tuned) else base
        operator["parameters"] = f"{own} {operator.get('parameters', operator['name'])}"
    return graph


@dataclass(frozen=True)
class Shared:
    """A set of models at an input's shape on a server; a row for each keeping that is compared."""
    models: str
    batch: int
    sequence: int
    server: str

    def key(self, kept):
        return {"model": self.models, "batch": self.batch, "sequence": self.sequence, "server": self.server, "algorithm": kept,
                "options": " ".join((f"keep={KEEP_GB}", *OPTIONS))}

    def keys(self):
        return [self.key(kept) for kept in KINDS]

    def title(self):
        return f"{self.models}, {self.batch}, {self.sequence}, {self.server}: {KEEP_GB} GB kept on each GPU"

    def answers(self, programs):
        served = SETS[self.models]
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / f"{number}.json" for number in range(len(served))]
            for file, (name, _) in zip(files, served):
                graph = labelled(name, self.batch, self.sequence, SERVERS[self.server].kinds, self.models == APART)
                file.write_text(json.dumps(graph))
            platform = Path(folder) / "platform.json"
            platform.write_text(json.dumps(SERVERS[self.server].platform()))
            words = [word for option in OPTIONS for word in ("--option", option)]
            found = programs.json("hios-schedule", "--models", ",".join(map(str, files)),
                                  "--shares", ",".join(str(share) for _, share in served), "--keep", KEEP_GB,
                                  "--platform", platform, "--objective", "cold-start", "--time-limit", LIMIT_S, *words)
        compared = {each["kept"]: each for each in found["compared"]}
        return [self.row(found, kept, compared.get(kept)) for kept in KINDS]

    def row(self, found, kept, compared):
        """The row of a keeping; `compared`: None where a model has no room next to it."""
        bound = found["lower_bound_ms"]
        row = {**self.key(kept), "devices": len(found["devices"]), "outcome": PLANNED if compared else NO_ROOM,
               "bound_ms": f"{bound:.6g}" if bound else "", "seconds": f"{found['seconds']:.3g}"}
        if compared:
            row |= {"expected_ms": f"{compared['expected_ms']:.6g}", "kept_gb": f"{compared['bytes'] / 1e9:.4g}",
                    "latencies_ms": " ".join(f"{latency:.6g}" for latency in compared["latencies_ms"])}
        return row

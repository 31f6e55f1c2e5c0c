"""Operators by their share of the time, predicted next to measured."""

from dataclasses import dataclass

from hios.page import kinds
from hios.page.timeline import parts_of

FACTOR = 2  # measured and predicted times that differ by this factor have a badge


@dataclass
class Layer:
    """An operator, or operators that were measured as one."""
    name: str
    rank: object
    predicted_ms: float | None
    measured_ms: float | None
    output_bytes: int | None = None
    sent_bytes: int | None = None
    share: float = 0

    @property
    def kind(self):
        return kinds.kind_of(self.name)

    @property
    def ms(self):
        return self.predicted_ms if self.measured_ms is None else self.measured_ms

    @property
    def ratio(self):
        return self.measured_ms / self.predicted_ms if self.measured_ms is not None and self.predicted_ms else None

    @property
    def differs(self):
        return self.ratio is not None and (self.ratio >= FACTOR or self.ratio <= 1 / FACTOR)


def stage_layers(report):
    """Stages as they ran: the times of concurrent operators cannot be separated."""
    layers = []
    for stage in report["stages"]:
        times = [stage[f"{which}_end_ms"] - stage[f"{which}_start_ms"] if stage[f"{which}_end_ms"] is not None else None
                 for which in ("predicted", "measured")]
        if times != [None, None]:
            layers.append(Layer(" + ".join(name for group in stage["operators"] for name in group), stage["rank"], *times))
    return layers


def trace_layers(run):
    """Operators of a trace alone: each name once, with its time in the plan and in the run."""
    layers = {}
    for part in parts_of(run):
        if part.title not in ("plan", "run"):
            continue
        for lane in part.lanes:
            for one in lane.slices:
                if one.computes:
                    layers[one.name] = Layer(one.name, lane.label.removeprefix("rank "), one.predicted_ms, one.measured_ms)
    return list(layers.values())


def layers_of(run):
    """A run's layers, the longest first: of --layers where it has them, else its stages, else its trace."""
    if run.report and run.report.get("operators"):
        layers = [Layer(row["operator"], row["rank"], row["predicted_ms"], row["measured_ms"], row["output_bytes"],
                        row["sent_bytes"])
                  for row in run.report["operators"]]
        layers = [layer for layer in layers if layer.ms is not None]
    elif run.report:
        layers = stage_layers(run.report)
    else:
        layers = trace_layers(run) if run.trace else []
    total = sum(layer.ms for layer in layers)
    for layer in layers:
        layer.share = layer.ms / total if total else 0
    return sorted(layers, key=lambda layer: (-layer.ms, layer.name))


def by_kind(layers):
    """(kind, share, number of operators) of each kind, the largest share first."""
    sums = {}
    for layer in layers:
        share, number = sums.get(layer.kind, (0, 0))
        sums[layer.kind] = (share + layer.share, number + 1)
    return sorted(((kind, *both) for kind, both in sums.items()), key=lambda item: -item[1])

"""The parameters of the simulated figures: Kundu and Shu, HIOS, sections V-A and V-C to V-G.

A setting is a point of a figure: devices, operators, edges, layers and p. The paper varies one of them
at a time and keeps the others at their defaults. There are twice as many edges as operators unless
edges vary.
"""

from dataclasses import dataclass

# Not in the paper: at most 8 groups in a stage (IOS's pruning limit s), also for the other algorithms.
STREAMS = 8
SEEDS = 30


@dataclass(frozen=True, order=True)
class Setting:
    devices: int = 4
    n: int = 200
    edges: int = 400
    layers: int = 14
    p: float = 0.8

    def random_keys(self, seed):
        return f"n={self.n},edges={self.edges},layers={self.layers},p={self.p},seed={seed}"


@dataclass(frozen=True)
class Figure:
    number: int
    axis: str  # the field of Setting that varies
    label: str
    values: tuple
    edges_per_operator: int = 0  # 0: the default number of edges

    def settings(self):
        for value in self.values:
            fields = {self.axis: value}
            if self.edges_per_operator:
                fields["edges"] = self.edges_per_operator * value
            yield Setting(**fields)


FIGURES = (
    Figure(7, "devices", "devices", (2, 4, 6, 8, 10, 12)),
    Figure(8, "n", "operators", (100, 150, 200, 250, 300, 350, 400), edges_per_operator=2),
    Figure(9, "edges", "dependencies", (400, 450, 500, 550, 600)),
    Figure(10, "layers", "layers", (6, 10, 14, 18, 22)),
    Figure(11, "p", "transfer time / producer's time, p", (0.4, 0.6, 0.8, 1.0, 1.2)),
)


def all_settings():
    """Every setting once; the figures share the default."""
    return sorted({setting for figure in FIGURES for setting in figure.settings()})


def as_published(algorithms):
    """Flags that restrict schedulers to the paper's decisions, if their defaults try more."""
    return ["--option", "any_paths=false"] if {"inter-lp", "hios-lp"} & set(algorithms) else []

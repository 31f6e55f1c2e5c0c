"""The graphs: networks by a profile of this machine, networks by formula, and graphs like REGAL's."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WORK = ROOT / "build" / "study" / "pipelines"
DEVICES = (2, 4, 8, 16, 32, 64)
NETWORKS = ("inception_v3", "nasnet_large", "squeezenet", "randwire_large")
FORMULAS = {"bert": "family=bert,layers=12,heads=12", "lstm": "family=lstm,layers=4,length=32"}
REGAL_BASES = ("er", "ba", "ws", "sbm")
REGAL_SEEDS = 12
SWEEPS = 8


@dataclass(frozen=True)
class Network:
    """A network by a profile of two ranks of one core each, whose costs are used for more devices, too."""
    name: str
    seed: int = 0

    def flags(self, programs):
        WORK.mkdir(parents=True, exist_ok=True)
        profile = WORK / f"{self.name}.json"
        if not profile.exists():
            programs.run("hios-profile", "--model", self.name, "--stages", "none", "--iterations", SWEEPS, "--objective",
                         "throughput", "--output", profile, "-q", ranks=2)
        return ["--model", self.name, "--profile", profile, "--extrapolate-ranks", "--streams", 1]


@dataclass(frozen=True)
class Random:
    name: str
    keys: str
    seed: int = 0

    def flags(self, programs):
        return ["--random", f"{self.keys},seed={self.seed}", "--streams", 1]


def regal(seed):
    """A graph of 50 to 200 operators, as in the paper."""
    return Random("regal", f"family=regal,base={REGAL_BASES[seed % len(REGAL_BASES)]},n={50 + 37 * seed % 151}", seed)


def production():
    """The graphs that replace the paper's production models."""
    return [Network(name) for name in NETWORKS] + [Random(name, keys) for name, keys in FORMULAS.items()]


def synthetic():
    return [regal(seed) for seed in range(REGAL_SEEDS)]


PARTS = {"networks": production, "regal": synthetic}

"""The problems: random modules, the built-in networks, and GPT-3. Each returns the flags of hios-schedule that describe it,
and writes their files into build/study/hetero."""

import json
from dataclasses import dataclass
from pathlib import Path

import costs
import network_graphs
import platforms
import transformer

ROOT = Path(__file__).resolve().parents[3]
WORK = ROOT / "build" / "study" / "hetero"
SERVER = ROOT / "schedules" / "platforms" / "cpu-2gpu.json"  # DiviML's: a CPU and two GPUs
PARTS = 4  # DiviML, V-C


def written(name, content):
    WORK.mkdir(parents=True, exist_ok=True)
    file = WORK / name
    file.write_text(json.dumps(content) + "\n")
    return file


@dataclass(frozen=True)
class Modules:
    """Random modules by --random; with `inputs` above 1, several inputs at once (costs.many_inputs)."""
    case: str
    seed: int
    keys: str
    inputs: int = 1
    tensors: int = 1

    def flags(self, study):
        random = ["--random", f"{self.keys},seed={self.seed}"]
        if self.inputs == 1:
            return [*random, "--platform", SERVER]
        WORK.mkdir(parents=True, exist_ok=True)
        one = WORK / "one-input.json"
        study.programs.run("hios-schedule", *random, "--platform", SERVER, "--export-graph", one, "--force", "-q")
        graph = costs.many_inputs(json.loads(one.read_text()), self.inputs, PARTS, self.tensors)
        return ["--graph", written("many-inputs.json", graph), "--parts", PARTS, "--platform", SERVER]


@dataclass(frozen=True)
class Pairs:
    """A random network on two fast and two slow devices, equal in pairs."""
    case: str
    seed: int
    keys: str

    def flags(self, study):
        return ["--random", f"{self.keys},speeds=1x2:0.5x2,seed={self.seed}", "--streams", 1]


@dataclass(frozen=True)
class Network:
    """A built-in network on DiviML's server, at the level of its Table II."""
    network: str
    seed: int
    inputs: int = 1

    @property
    def case(self):
        return self.network

    def flags(self, study):
        work = network_graphs.network(study.programs, self.network, "default")
        graph = costs.like_table_2(costs.on_machines(self.network, *work, {"gpu0": platforms.A100}), self.seed)
        if self.inputs == 1:
            return ["--graph", written("network.json", graph), "--platform", SERVER]
        graph = costs.many_inputs(graph, self.inputs, PARTS, self.inputs)
        return ["--graph", written("network.json", graph), "--parts", PARTS, "--platform", SERVER]


@dataclass(frozen=True)
class OnMoirai:
    """A built-in network or a GPT-3 on MOIRAI's devices, coarsened by fusion or not."""
    name: str
    scenario: str
    coarse: bool
    seed: int = 0

    @property
    def case(self):
        return f"{self.name}, {self.scenario}, {'coarsened' if self.coarse else 'original'}"

    def graph(self, study):
        size = next((size for size in transformer.SIZES if size.name == self.name), None)
        work = (transformer.gpt3(size, self.coarse) if size else
                network_graphs.network(study.programs, self.name, "default" if self.coarse else "none"))
        return costs.on_machines(self.name, *work, platforms.machines(self.scenario))

    def flags(self, study):
        return ["--graph", written("moirai.json", self.graph(study)),
                "--platform", written(f"{self.scenario}.json", platforms.moirai(self.scenario))]


@dataclass(frozen=True)
class Decoding:
    """Layers of GPT-3 (hidden size 12288, heads in as many groups as said), coarsened, one step of 20 tokens, on
    servers of 2 + 2 equal GPUs."""
    layers: int
    groups: int
    servers: int
    seed: int = 0

    @property
    def case(self):
        layers = "1 layer" if self.layers == 1 else f"{self.layers} layers"
        return f"{layers} in {self.groups} groups, {self.servers * 4} GPUs"

    def flags(self, study):
        platform, machines = platforms.servers(self.servers)
        size = transformer.Size("GPT-3 part", self.layers, 12288, self.groups, 20)
        graph = costs.on_machines(size.name, *transformer.gpt3(size, True), machines)
        return ["--graph", written("decoding.json", graph),
                "--platform", written("servers.json", platform)]

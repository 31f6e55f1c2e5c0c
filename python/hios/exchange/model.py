"""Operators and edges of a model, as hios-schedule lists them."""

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hios.errors import InputError
from hios.exchange.ios_file import Node, Window, consumers_of
from hios.launch.programs import programs_folder

JOINS = ("Sum", "Concat", "Move")
WINDOW = re.compile(r"^(\w+)(?: (\d+))? k(\d+)x(\d+) s(\d+)x(\d+) p(\d+)x(\d+)(?: g(\d+))?(?: b)?$")


@dataclass
class Operator(Node):
    """A node of the model's graph. `names` are its layers' names, and `types` their types."""
    names: list = field(default_factory=list)
    types: list = field(default_factory=list)


@dataclass
class ModelGraph:
    name: str
    digest: str
    batch: int
    size: tuple  # height, width of the input
    nodes: dict  # by name, in order

    def consumers(self):
        return consumers_of(self.nodes)

    def of_layer(self):
        """The operators by their layers' names."""
        return {layer: node for node in self.nodes.values() for layer in node.names}


def layer(text, channels):
    """A layer of a signature; what is no window is its text."""
    found = WINDOW.match(text)
    if not found:
        return text.split()[0]
    kind, out, *numbers = found.groups()
    k0, k1, s0, s1, p0, p1, groups = (int(number or 1) for number in numbers)
    return Window(kind, int(out or channels), (k0, k1), (s0, s1), (p0, p1), groups)


def operator(listed):
    """An operator of `--list-operators`: its layers without sums, concats and slices, from its signature."""
    texts = listed["signature"].split(" > ")[1:-1]
    shape = tuple(listed["shape"][1:])
    layers = [layer(text, shape[0]) for text in texts if text.split()[0] not in JOINS]
    return Operator(listed["name"], layers, shape, [], listed["layers"], listed["kind"].split("+"))


class Schedules:
    """hios-schedule for one model: `flags` are those that name it, its size and its operators."""

    def __init__(self, flags, folder=None):
        self.program = Path(folder or programs_folder()) / "hios-schedule"
        self.flags = list(map(str, flags))

    def run(self, *flags):
        """Runs it, and returns what it printed. Throws InputError with the program's own line."""
        done = subprocess.run([self.program, *self.flags, *map(str, flags)], text=True, stdin=subprocess.DEVNULL,
                              capture_output=True)
        if done.returncode:
            raise InputError(done.stderr.strip().removeprefix("error: ") or f"hios-schedule ended with {done.returncode}")
        return done.stdout

    def json(self, *flags, by="--json"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "written.json"
            self.run(*flags, "-q", by, file)
            return json.loads(file.read_text())

    def graph(self, merge="none"):
        """The model's graph, with these siblings merged (a word or a file)."""
        flags = [] if merge == "none" else ["--merge", merge]
        listed = self.json(*flags, "--list-operators")
        model = self.json(*flags, by="--export-graph")
        nodes = {each["name"]: operator(each) for each in listed["operators"]}
        for edge in model["edges"]:
            nodes[edge["to"]].inputs.append(edge["from"])
        batch, size = self.input_size(listed)
        return ModelGraph(listed["model"], listed["digest"], batch, size, nodes)

    @staticmethod
    def input_size(listed):
        batch, _, height, width = listed["input"]["shape"]
        return batch, (height, width)

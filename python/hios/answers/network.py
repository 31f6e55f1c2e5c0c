"""The form of a network's input and outputs, as hios-schedule lists them."""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hios.errors import InputError
from hios.launch import mpirun
from hios.launch.programs import programs_folder


def text_of(dims):
    return "x".join(map(str, dims)) or "a single value"


@dataclass(frozen=True)
class Tensor:
    name: str
    dims: tuple

    def text(self):
        return f"'{self.name}' {text_of(self.dims)}"


@dataclass(frozen=True)
class Network:
    name: str
    inputs: tuple
    outputs: tuple
    rows: int = 0  # the batch of several inputs together

    @property
    def input(self):
        """The one input, where pictures go."""
        if len(self.inputs) > 1:
            raise InputError(f"the model has the inputs {', '.join(each.text() for each in self.inputs)}: give each as an .npy "
                             f"file, --input {self.inputs[0].name}:FILE and so on")
        return self.inputs[0]

    @property
    def batch(self):
        return self.rows or (self.inputs[0].dims[0] if self.inputs[0].dims else 1)


def network(model):
    """The network that these words name: ["--model", "squeezenet", "--batch", "2"]. Ends the command with the program's own
    message where they name none."""
    with tempfile.TemporaryDirectory(prefix="hios-") as folder:
        file = Path(folder) / "operators.json"
        done = subprocess.run([str(programs_folder() / "hios-schedule"), *model, "--list-operators", "-q", "--json", str(file)],
                              env=mpirun.environment(), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["error: hios-schedule failed"]
            raise InputError(lines[-1].removeprefix("error: "))
        listed = json.loads(file.read_text())
    tensor = lambda each: Tensor(each["name"], tuple(each["dims"]))  # noqa: E731
    return Network(listed["model"], tuple(map(tensor, listed["inputs"])), tuple(map(tensor, listed["outputs"])),
                   listed["input"]["shape"][0] if len(listed["inputs"]) > 1 else 0)

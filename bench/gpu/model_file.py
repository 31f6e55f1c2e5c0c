"""Reads a hios-model file: the layers with their output shapes and parameters.

Shapes are inferred here again, by ONNX's rules, so that a layer that PyTorch builds differently is found by its
shape.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Layer:
    """A layer. `shape`: of the output, N, C, H, W. `pads`: (top, left, bottom, right)."""

    name: str
    type: str
    inputs: tuple
    shape: tuple
    in_shapes: tuple
    out_channels: int = 0
    kernel: tuple = (1, 1)
    strides: tuple = (1, 1)
    pads: tuple = (0, 0, 0, 0)
    group: int = 1
    bias: bool = True

    def parameters(self):
        if self.type != "Conv":
            return 0
        weights = self.out_channels * self.in_shapes[0][1] // self.group * self.kernel[0] * self.kernel[1]
        return weights + (self.out_channels if self.bias else 0)


@dataclass
class Model:
    name: str
    input: tuple
    layers: list = field(default_factory=list)

    def outputs(self):
        """The layers without consumers, in order."""
        read = {name for layer in self.layers for name in layer.inputs}
        return [layer.name for layer in self.layers if layer.name not in read]

    def parameters(self):
        return sum(layer.parameters() for layer in self.layers)


def windows(extent, kernel, stride, before, after):
    return (extent + before + after - kernel) // stride + 1


def output_shape(kind, shapes, layer):
    n, c, h, w = shapes[0]
    if kind in ("Relu", "Sum", "Add"):
        if any(shape != shapes[0] for shape in shapes):
            raise ValueError(f"{layer['name']}: adds unequal shapes {shapes}")
        return shapes[0]
    if kind == "Concat":
        if any((shape[0], *shape[2:]) != (n, h, w) for shape in shapes):
            raise ValueError(f"{layer['name']}: concatenates unequal images {shapes}")
        return (n, sum(shape[1] for shape in shapes), h, w)
    if kind == "GlobalAveragePool":
        return (n, c, 1, 1)
    if kind in ("Conv", "MaxPool", "AveragePool"):
        kernel, strides, pads = window_of(layer)
        return (n, layer["out_channels"] if kind == "Conv" else c,
                windows(h, kernel[0], strides[0], pads[0], pads[2]),
                windows(w, kernel[1], strides[1], pads[1], pads[3]))
    raise ValueError(f"{layer['name']}: layers of type {kind} are not supported here")


def window_of(layer):
    return (tuple(layer["kernel_shape"]), tuple(layer.get("strides", (1, 1))), tuple(layer.get("pads", (0, 0, 0, 0))))


def read_model(path):
    """Returns the file's Model. Raises ValueError if a layer has an unknown type or unsuitable inputs."""
    return model_of(json.loads(Path(path).read_text()))


def model_of(root):
    if (root.get("format"), root.get("version")) != ("hios-model", 1):
        raise ValueError("no hios-model of version 1")
    model = Model(root["name"], tuple(root["input"]["shape"]))
    shapes = {"input": model.input}
    for entry in root["layers"]:
        kind = entry["type"]
        in_shapes = tuple(shapes[name] for name in entry["inputs"])
        shape = output_shape(kind, in_shapes, entry)
        more = {}
        if "kernel_shape" in entry:
            more = dict(zip(("kernel", "strides", "pads"), window_of(entry)))
        if kind == "Conv":
            more |= {"out_channels": entry["out_channels"], "group": entry.get("group", 1),
                     "bias": entry.get("bias", True)}
        model.layers.append(Layer(entry["name"], kind, tuple(entry["inputs"]), shape, in_shapes, **more))
        shapes[entry["name"]] = shape
    return model

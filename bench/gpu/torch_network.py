"""A hios-model as a PyTorch module: the same layers in the same order, in any memory format of PyTorch.

torch.fx writes the module, a line per layer, so that a call costs no more than that of a handwritten module, and
torch.compile can analyse it. A relu is a layer of its own, as PyTorch's users write it; torch.compile fuses it.
"""

import operator

import torch
import torch.nn.functional as F
from torch import fx, nn


def build(model):
    """Returns the module; it returns a tuple of the model's outputs. Raises ValueError if PyTorch lacks a layer."""
    graph, holder, values = fx.Graph(), nn.Module(), {}
    values["input"] = graph.placeholder("image")
    for index, layer in enumerate(model.layers):
        inputs = [values[name] for name in layer.inputs]
        if layer.type == "Conv":
            holder.add_module(f"conv_{index}", convolution(layer))
            node = graph.call_module(f"conv_{index}", (inputs[0],))
        else:
            node = apply(graph, layer, inputs)
        node.meta["layer"] = layer
        values[layer.name] = node
    graph.output(tuple(values[name] for name in model.outputs()))
    return fx.GraphModule(holder, graph, model.name)


def symmetric(layer):
    top, left, bottom, right = layer.pads
    if (top, left) != (bottom, right):
        raise ValueError(f"{layer.name}: unequal padding {layer.pads}, which PyTorch's layers do not have")
    return top, left


def convolution(layer):
    return nn.Conv2d(layer.in_shapes[0][1], layer.out_channels, layer.kernel, layer.strides, symmetric(layer),
                     groups=layer.group, bias=layer.bias)


def apply(graph, layer, inputs):
    if layer.type == "Relu":
        return graph.call_function(F.relu, (inputs[0],))
    if layer.type in ("Sum", "Add"):
        total = inputs[0]
        for term in inputs[1:]:
            total = graph.call_function(operator.add, (total, term))
        if total is inputs[0]:  # a sum of one input is a value of its own, too
            total = graph.call_function(torch.clone, (total,))
        return total
    if layer.type == "Concat":
        return graph.call_function(torch.cat, (inputs,), {"dim": 1})
    if layer.type == "GlobalAveragePool":
        return graph.call_function(torch.mean, (inputs[0],), {"dim": (2, 3), "keepdim": True})
    window = (inputs[0], layer.kernel, layer.strides, symmetric(layer))
    if layer.type == "MaxPool":
        return graph.call_function(F.max_pool2d, window)
    if layer.type == "AveragePool":
        return graph.call_function(F.avg_pool2d, window, {"count_include_pad": False})
    raise ValueError(f"{layer.name}: layers of type {layer.type} are not supported here")


class Checked(fx.Interpreter):
    """Runs a module of build() and compares every layer's shape with the model's."""

    def run_node(self, node):
        value = super().run_node(node)
        layer = node.meta.get("layer")
        if layer and tuple(value.shape) != layer.shape:
            raise ValueError(f"{layer.name}: PyTorch makes {tuple(value.shape)}, the model says {layer.shape}")
        return value


def random_weights(network, seed=0):
    """Sets weights of convolutions that keep the scale of values, so that none is infinite or denormal."""
    generator = torch.Generator().manual_seed(seed)
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            fan_in = module.weight[0].numel()
            with torch.no_grad():
                module.weight.normal_(0, fan_in**-0.5, generator=generator)
                if module.bias is not None:
                    module.bias.normal_(0, 0.1, generator=generator)

"""A small network: as a hios-model, as IOS writes its graphs with a schedule, and as hios-schedule lists its operators."""

import json

from hios.exchange.ios_file import Window
from hios.exchange.model import ModelGraph, Operator


def conv(name, reads, channels, kernel, shape, hint=None):
    return {"type": "conv", "name": name, "hint_name": hint or name, "inputs": [[list(value)] for value in reads],
            "out_channels": channels, "kernel": [kernel, kernel], "stride": [1, 1], "padding": [kernel // 2, kernel // 2],
            "groups": 1, "act": "relu", "output_shape": [channels, *shape]}


def small_ios(merged=True):
    """A stem, then three branches whose results are concatenated; "2" and "3" are merged, or apart."""
    image, size = {"type": "placeholder", "name": "0", "hint_name": "0", "output_shape": [8, 16, 16]}, [16, 16]
    pool = {"type": "pool", "name": "5", "hint_name": "5", "inputs": [[["1", 0, 16]]], "pool_type": "avg", "kernel": [3, 3],
            "stride": [1, 1], "padding": [1, 1], "output_shape": [16, *size]}
    first = [conv("2", [("1", 0, 16)], 16, 1, size, "2 3")] if merged else [
        conv("2", [("1", 0, 16)], 8, 1, size), conv("3", [("1", 0, 16)], 8, 1, size)]
    four = conv("4", [("2", 8, 16) if merged else ("3", 0, 8)], 8, 3, size)
    inner = [*first, four, pool, conv("6", [("5", 0, 16)], 4, 1, size)]
    join = {"type": "identity", "name": "7", "hint_name": "7", "inputs": [[["2", 0, 8]], [["4", 0, 8]], [["6", 0, 4]]],
            "output_shape": [20, *size]}
    head = {"type": "pool", "name": "8", "hint_name": "8", "inputs": [[["7", 0, 20]]], "pool_type": "global_avg",
            "kernel": [16, 16], "stride": [1, 1], "padding": [0, 0], "output_shape": [20, 1, 1]}
    stages = [[["2"]], [["4"], ["5", "6"]], [["7"]]] if merged else [[["2"], ["3", "4"], ["5", "6"]], [["7"]]]
    stem = conv("1", [("0", 0, 8)], 16, 3, size)
    return {"name": "small_by_hand", "input": image, "blocks": [
        {"enter_name": "0", "enter_node": image, "inner_nodes": [], "exit_node": stem, "stages": [[["1"]]]},
        {"enter_name": "1", "enter_node": stem, "inner_nodes": inner, "exit_node": join, "stages": stages},
        {"enter_name": "7", "enter_node": join, "inner_nodes": [], "exit_node": head, "stages": [[["8"]]]}]}


def layer(name, kind, reads, **others):
    return {"name": name, "type": kind, "inputs": reads, **others}


def small_model():
    """The same network as a hios-model."""
    layers = []

    def convolve(name, reads, channels, kernel):
        pads = [kernel // 2] * 4
        layers.append(layer(name, "Conv", [reads], out_channels=channels, kernel_shape=[kernel, kernel], pads=pads))
        layers.append(layer(name + "_relu", "Relu", [name]))

    convolve("stem", "input", 16, 3)
    convolve("left", "stem_relu", 8, 1)
    convolve("mid", "stem_relu", 8, 1)
    convolve("mid2", "mid_relu", 8, 3)
    layers.append(layer("pool", "AveragePool", ["stem_relu"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
    convolve("pooled", "pool", 4, 1)
    layers.append(layer("join", "Concat", ["left_relu", "mid2_relu", "pooled_relu"]))
    layers.append(layer("head", "GlobalAveragePool", ["join"]))
    return {"format": "hios-model", "version": 1, "name": "small", "input": {"shape": [1, 8, 16, 16]}, "layers": layers}


def window(kind, channels, kernel):
    return Window(kind, channels, (kernel, kernel), (1, 1), (kernel // 2, kernel // 2))


def graph(operators):
    return ModelGraph("small", "0" * 32, 1, (16, 16), {each.name: each for each in operators})


def convolution(name, layer_name, channels, kernel, reads):
    return Operator(name, [window("Conv", channels, kernel), "Relu"], (channels, 16, 16), reads,
                    [layer_name, layer_name + "_relu"], ["Conv", "Relu"])


def small_graph():
    """The operators of the model, as they are without merging."""
    return graph([
        convolution("conv_1", "stem", 16, 3, []), convolution("conv_2", "left", 8, 1, ["conv_1"]),
        convolution("conv_3", "mid", 8, 1, ["conv_1"]), convolution("conv_4", "mid2", 8, 3, ["conv_3"]),
        Operator("pool_5", [window("AveragePool", 16, 3)], (16, 16, 16), ["conv_1"], ["pool"], ["AveragePool"]),
        convolution("conv_6", "pooled", 4, 1, ["pool_5"]),
        Operator("concat_7", [], (20, 16, 16), ["conv_2", "conv_4", "conv_6"], ["join"], ["Concat"]),
        Operator("pool_8", ["GlobalAveragePool"], (20, 1, 1), ["concat_7"], ["head"], ["GlobalAveragePool"])])


def small_merged_graph():
    """The operators where "left" and "mid" are one convolution: the concat takes in the slice of "left"."""
    return graph([
        convolution("conv_1", "stem", 16, 3, []),
        Operator("conv_2", [window("Conv", 16, 1), "Relu"], (16, 16, 16), ["conv_1"],
                 ["left+mid", "left+mid/activation"], ["Conv", "Relu"]),
        Operator("move_3", [], (8, 16, 16), ["conv_2"], ["mid_relu"], ["Move"]),
        convolution("conv_4", "mid2", 8, 3, ["move_3"]),
        Operator("pool_5", [window("AveragePool", 16, 3)], (16, 16, 16), ["conv_1"], ["pool"], ["AveragePool"]),
        convolution("conv_6", "pooled", 4, 1, ["pool_5"]),
        Operator("concat_7", [], (20, 16, 16), ["conv_2", "conv_4", "conv_6"], ["left_relu", "join"], ["Move", "Concat"]),
        Operator("pool_8", ["GlobalAveragePool"], (20, 1, 1), ["concat_7"], ["head"], ["GlobalAveragePool"])])


def write(folder, name, content):
    """A file of JSON in a folder, as a text."""
    file = folder / name
    file.write_text(json.dumps(content))
    return str(file)

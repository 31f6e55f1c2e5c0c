"""Cost models of operators on devices that this machine does not have; docs/hetero.md describes them.

All functions take hios-graph files as Python objects and return new ones.
"""

import math
import random

# DiviML, Table II: times of its networks on its CPU, T4 and A100, ms.
TABLE_2_MS = {"cpu": 223.10, "gpu1": 12.16, "gpu0": 7.80}
# σ of the logarithm of an operator's own ratio to gpu0, as in the random modules of --random.
SIGMA = {"gpu1": 0.5, "cpu": 1.0}
# k inputs at a time take (1 + 0.027 (k - 1)) times as long as one on a GPU: 16 take 1.40 times as long, as in
# DiviML's Tables I and IV for its best device in all seven rows, if Table IV is for 16 inputs.
SHARE_OF_FURTHER_INPUTS = 0.027
LAUNCH_MS = 0.005


def lognormal(chance, mean, sigma):
    return math.exp(chance.gauss(math.log(mean) - sigma * sigma / 2, sigma))


def roofline_ms(flop, size_bytes, tflops, gb_per_s):
    return LAUNCH_MS + max(flop / (tflops * 1e9), size_bytes / (gb_per_s * 1e6))


def on_machines(name, operators, edges, machines):
    """A graph of operators with their work, whose times come from `machines`: (TFLOP/s, GB/s of memory) by device."""
    timed = [{"name": each["name"], "parameter_bytes": each["weight_bytes"],
               "time_ms": {device: roofline_ms(each["flop"], each["bytes"], *speeds) for device, speeds in machines.items()}}
              for each in operators]
    return {"format": "hios-graph", "version": 1, "name": name, "operators": timed, "edges": edges,
            "stage_cost": {"kind": "serial"}}


def like_table_2(graph, seed):
    """Scales operators with times on gpu0 to the total of Table II, and gives each operator random ratios for the other
    devices. Transfers cost the platform's links."""
    chance = random.Random(seed)
    scale = TABLE_2_MS["gpu0"] / sum(operator["time_ms"]["gpu0"] for operator in graph["operators"])
    operators = []
    for operator in graph["operators"]:
        base = operator["time_ms"]["gpu0"] * scale
        ratios = {name: lognormal(chance, TABLE_2_MS[name] / TABLE_2_MS["gpu0"], SIGMA[name]) for name in ("gpu1", "cpu")}
        operators.append({**operator, "time_ms": {"gpu0": base, **{name: base * ratio for name, ratio in ratios.items()}}})
    return {**graph, "operators": operators}


def batch_ms(device, one_ms, inputs):
    return one_ms * (inputs if device == "cpu" else 1 + SHARE_OF_FURTHER_INPUTS * (inputs - 1))


def many_inputs(graph, inputs, parts, tensors):
    """The graph for several inputs at once, divided into at most `parts` batches. `tensors`: the factor on a transfer of
    all inputs: `inputs` if bytes count, 1 as in inequality (3) of DiviML."""
    sizes = [inputs // parts * count for count in range(1, parts + 1)]
    operators = [{**operator, "time_ms": {device: {str(size): batch_ms(device, one_ms, size) for size in sizes}
                                          for device, one_ms in operator["time_ms"].items()}}
                 for operator in graph["operators"]]
    edges = [{**edge, **{key: edge[key] * tensors for key in ("bytes", "transfer_ms") if key in edge}}
             for edge in graph["edges"]]
    return {**graph, "version": 2, "inputs": inputs, "operators": operators, "edges": edges}

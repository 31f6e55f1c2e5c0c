#!/usr/bin/env python3
"""Checks that the PyTorch module of the benches is the same network as ours: with our weights and our input, its outputs
must equal those of our reference backend. Needs PyTorch (a CPU is enough) and a build of preset release.
  python3 bench/gpu/check_torch.py [--programs build/release/bin] [NETWORK…]
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import torch
from torch import nn

import model_file
import torch_network
from target import NETWORKS, TINY

TOLERANCE = 1e-4  # of fp32 sums in another order, for values of about one


def load_parameters(network, file):
    values, at = torch.from_numpy(numpy.fromfile(file, numpy.float32)), 0
    for module in network.modules():
        if not isinstance(module, nn.Conv2d):
            continue
        for parameter in (module.weight, module.bias):
            if parameter is not None:
                with torch.no_grad():
                    parameter.copy_(values[at:at + parameter.numel()].reshape(parameter.shape))
                at += parameter.numel()
    if at != len(values):
        raise ValueError(f"the module takes {at} parameters, the model has {len(values)}")


def difference(programs, name):
    """The largest difference over all outputs, and the largest output."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        subprocess.run([programs / "hios-schedule", "--model", name, "--height", str(TINY[name]),
                        "--export-model", file], check=True)
        subprocess.run([programs / "model_values", file, folder], check=True)
        model = model_file.read_model(file)
        network = torch_network.build(model).eval()
        load_parameters(network, Path(folder) / "parameters.bin")
        n, c, h, w = model.input
        image = torch.from_numpy(numpy.fromfile(Path(folder) / "input.bin", numpy.float32)).reshape(n, h, w, c)
        with torch.inference_mode():
            outputs = torch_network.Checked(network).run(image.permute(0, 3, 1, 2))
        ours = numpy.fromfile(Path(folder) / "outputs.bin", numpy.float32)
    theirs = numpy.concatenate([output.permute(0, 2, 3, 1).reshape(-1).numpy() for output in outputs])
    if len(ours) != len(theirs):
        raise ValueError(f"{name}: {len(theirs)} values from PyTorch, {len(ours)} from ours")
    return float(numpy.abs(ours - theirs).max()), float(numpy.abs(ours).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--programs", type=Path, default=Path(__file__).resolve().parents[2] / "build/release/bin")
    args = parser.parse_args()
    wrong = 0
    for name in args.networks:
        largest, size = difference(args.programs, name)
        well = largest <= TOLERANCE * max(1.0, size)
        wrong += not well
        print(f"{name}: outputs up to {size:.3g}, largest difference {largest:.2g}: {'the same' if well else 'DIFFERENT'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

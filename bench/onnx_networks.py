#!/usr/bin/python3
"""bench/onnx_networks: PyTorch writes networks of torchvision with random weights and BatchNorm statistics as ONNX files,
and hios-run runs them on one rank and, with --ranks 2, on two; their outputs are compared with those of ONNX Runtime. One
line per network; status 1 if a difference exceeds 1e-4·max|y| + 1e-5.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NETWORKS = ["squeezenet1_1", "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "mobilenet_v2",
            "mobilenet_v3_small", "googlenet", "inception_v3", "shufflenet_v2_x0_5", "mnasnet0_5", "densenet121",
            "efficientnet_b0", "regnet_y_400mf", "convnext_tiny", "vit_b_16", "swin_t", "fcn_resnet50",
            "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"]
SIZE = 64
SIZES = {"inception_v3": 96, "vit_b_16": 224}
SEGMENTERS = ("fcn_", "deeplab", "lraspp")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/onnx_networks", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("networks", nargs="*", default=NETWORKS, metavar="NETWORK", help="networks of torchvision (twenty of them)")
    parser.add_argument("--opset", type=int, default=13, help="opset of the files (13)")
    parser.add_argument("--ranks", type=int, choices=(1, 2), default=1, help="2: also with a schedule of two ranks (1)")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin", help="folder of the programs")
    return parser.parse_args()


def settle(torch, network):
    """Sets random BatchNorm statistics, as training would; returns the generator, for the input."""
    random = torch.Generator().manual_seed(1)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.copy_(torch.randn(module.running_mean.shape, generator=random) * 0.1)
            module.running_var.copy_(torch.rand(module.running_var.shape, generator=random) + 0.5)
            module.weight.data.copy_(torch.rand(module.weight.shape, generator=random) + 0.5)
            module.bias.data.copy_(torch.randn(module.bias.shape, generator=random) * 0.1)
        if isinstance(module, torch.nn.Linear) and not module.weight.any():  # ViT's head
            module.weight.data.copy_(torch.randn(module.weight.shape, generator=random) * 0.05)
    return random


def build(torch, torchvision, name, size):
    """The network in inference mode, and an input."""
    torch.manual_seed(0)
    if name.startswith(SEGMENTERS):
        network = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None)
    else:
        more = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        network = getattr(torchvision.models, name)(weights=None, **more)
    network.eval()
    random = settle(torch, network)

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, image):
            result = self.network(image)
            return tuple(result.values()) if isinstance(result, dict) else result

    return Plain(), torch.randn(1, 3, size, size, generator=random)


class Runs:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def call(self, ranks, program, *words):
        before = [] if ranks == 1 else ["mpirun", "-np", str(ranks), "--bind-to", "none", "--oversubscribe"]
        done = subprocess.run([*before, self.options.programs / program, *map(str, words)], env=self.environment,
                              cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().splitlines()[0] if done.stderr.strip() else f"status {done.returncode}")

    def outputs(self, numpy, ranks, model, image):
        schedule = []
        if ranks > 1:
            self.call(ranks, "hios-profile", "--model", model, "--iterations", 3, "--output", "p.json", "--force",
                      "--oversubscribe")
            self.call(1, "hios-schedule", "--model", model, "--profile", "p.json", "--devices", ranks, "--algorithm",
                      "inter-mr", "--output", "s.json", "--force")
            schedule = ["--schedule", "s.json", "--oversubscribe"]
        folder = self.folder / f"outputs-{ranks}"
        shutil.rmtree(folder, ignore_errors=True)
        self.call(ranks, "hios-run", "--model", model, "--input", image, "--outputs", folder, "--iterations", 1,
                  "--warmup", 0, "--flight-record", "off", *schedule)
        files = [each["file"] for each in json.loads((folder / "outputs.json").read_text())["outputs"]]
        return [numpy.load(folder / file) for file in files]


def main():
    options = arguments()
    options.programs = options.programs.resolve()
    warnings.filterwarnings("ignore")
    import numpy  # these three exist only in the environment that bench/onnx_networks makes
    import onnxruntime
    import torch
    import torchvision
    print(f"torch {torch.__version__}, torchvision {torchvision.__version__}, ONNX Runtime {onnxruntime.__version__}, "
          f"opset {options.opset}", flush=True)
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = Runs(options, folder)
        for network in options.networks:
            model, image = folder / "network.onnx", folder / "image.npy"
            try:
                module, x = build(torch, torchvision, network, SIZES.get(network, SIZE))
                torch.onnx.export(module, x, str(model), opset_version=options.opset)
                numpy.save(image, x.numpy())
                session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
                wanted = session.run(None, {session.get_inputs()[0].name: x.numpy()})
                got = runs.outputs(numpy, 1, model, image)
                worst = max(numpy.abs(a - b).max() / numpy.abs(b).max() for a, b in zip(got, wanted))
                right = all(numpy.abs(a - b).max() <= 1e-4 * numpy.abs(b).max() + 1e-5 for a, b in zip(got, wanted))
                failed = failed or not right
                line = f"{'within' if right else 'BEYOND'}  {worst:.1e} of max|y|"
                if options.ranks == 2:
                    two = runs.outputs(numpy, 2, model, image)
                    same = all((a.view(numpy.uint32) == b.view(numpy.uint32)).all() for a, b in zip(got, two))
                    failed = failed or not same
                    line += ", two ranks " + ("bit for bit the same" if same else "OTHER BITS")
            except Exception as error:  # a network that fails does not stop the others
                failed = True
                line = str(error).replace("\n", " ").replace(f"{folder}/", "")[:160]
            print(f"{network:<30} {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

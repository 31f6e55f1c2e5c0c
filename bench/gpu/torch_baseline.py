"""PyTorch's side of the latency table: a process that loads models and measures them on request.

Requests are lines of JSON on standard input, answers lines of JSON on standard output; bench/gpu/worker.py is the
other end. One process serves many models, because importing PyTorch takes longer than measuring. All of
PyTorch's optimisations are on: cuDNN's search for the fastest algorithms, inference mode, and the faster of the two
memory formats for the network.
  {"do": "describe"}
  {"do": "load", "model": FILE, "math": "fp32|tf32|fp16", "device": "cuda|cpu"}
  {"do": "measure", "mode": "eager|graphs|compile", "warmup": N, "iterations": N}
  {"do": "copies", "sizes": [BYTES…], "iterations": N, "device": …}
"""

import json
import os
import statistics
import sys
import time
import warnings

import torch

import model_file
import torch_copies
import torch_network


LAYOUTS = {"channels_last": torch.channels_last, "channels_first": torch.contiguous_format}
TRIAL_RUNS = 20  # runs per layout, to choose


class Baseline:
    def __init__(self):
        self.device, self.network, self.input, self.runs, self.math = None, None, None, {}, "fp32"
        self.layout = None

    def describe(self, _):
        info = {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
                "gpu": None}
        if torch.cuda.is_available():
            info["gpu"] = torch.cuda.get_device_name(0)
        return info

    def load(self, request):
        self.runs = {}
        self.network = self.input = None
        self.device, self.math = torch.device(request["device"]), request["math"]
        set_math(self.math)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        model = model_file.read_model(request["model"])
        network = torch_network.build(model).eval()
        torch_network.random_weights(network)
        kind = torch.float16 if self.math == "fp16" else torch.float32
        self.network = network.to(self.device, kind)
        self.input = torch.randn(model.input, generator=torch.Generator().manual_seed(1)).to(self.device, kind)
        with torch.inference_mode():
            torch_network.Checked(self.network).run(self.input)
            self.lay_out(min(LAYOUTS, key=self.trial_ms))
        self.wait()
        held = sum(parameter.numel() for parameter in self.network.parameters())
        if held != model.parameters():
            raise ValueError(f"the module holds {held} parameters, the model {model.parameters()}")
        return {"name": model.name, "layers": len(model.layers), "parameters": held,
                "layout": self.layout}

    def lay_out(self, layout):
        self.layout = layout
        self.network = self.network.to(memory_format=LAYOUTS[layout])
        self.input = self.input.contiguous(memory_format=LAYOUTS[layout])

    def trial_ms(self, layout):
        """The median of a few runs as a graph: the time without the host's."""
        self.lay_out(layout)
        run, times = self.graphs(), []
        for _ in range(TRIAL_RUNS):
            begin = time.perf_counter()
            run()
            self.wait()
            times.append((time.perf_counter() - begin) * 1000)
        return statistics.median(times)

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def eager(self):
        network, image = self.network, self.input
        return lambda: network(image)

    def graphs(self):
        """Records the whole network once for replay, as in PyTorch's documentation."""
        if self.device.type != "cuda":
            return self.eager()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.network(self.input)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.network(self.input)
        return graph.replay

    def compile(self):
        torch._dynamo.reset()
        compiled = torch.compile(self.network, mode="reduce-overhead" if self.device.type == "cuda" else None)
        image = self.input
        for _ in range(3):  # compiles, then records
            compiled(image)
        self.wait()
        return lambda: compiled(image)

    def measure(self, request):
        """The time from the call to the last output on the device, as in hios-run."""
        mode, started = request["mode"], time.perf_counter()
        with torch.inference_mode():
            if mode not in self.runs:
                self.runs[mode] = {"eager": self.eager, "graphs": self.graphs, "compile": self.compile}[mode]()
            run = self.runs[mode]
            for _ in range(request["warmup"]):
                run()
            self.wait()
            prepared = time.perf_counter() - started
            samples = []
            for _ in range(request["iterations"]):
                begin = time.perf_counter()
                run()
                self.wait()
                samples.append((time.perf_counter() - begin) * 1000)
        return {"samples_ms": samples, "prepare_s": prepared, "layout": self.layout}

    def copies(self, request):
        return torch_copies.measure(request["sizes"], request["iterations"], torch.device(request["device"]))


def set_math(math):
    """Sets the arithmetic. PyTorch enables TF32 for convolutions by default."""
    tf32 = math == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False  # sums in fp32, as ours
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = False


def serve(baseline, requests, answers):
    for line in requests:
        request = json.loads(line)
        try:
            answer = {"ok": getattr(baseline, request["do"])(request)}
        except Exception as error:  # PyTorch raises many types; the requester interprets them
            first_line = (str(error).strip().splitlines() or [""])[0]
            answer = {"error": f"{type(error).__name__}: {first_line}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    # Output of libraries must not mix with the answers.
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(Baseline(), sys.stdin, own)

"""Answers one request (JSON, the first argument) of bench/peers.sh or bench/cold.sh in the Python that has the peers. They compute
in fp32, on as many threads as cores, one run after the other, with all their optimisations.
"""

import json
import math
import os
import statistics
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "zoo"))

OPSET = 17


def versions(_):
    import numpy
    import onnxruntime
    try:
        import torch
        import torchvision  # noqa: F401
        of_torch = torch.__version__
    except ImportError:
        of_torch = None
    try:
        import openvino
        of_openvino = openvino.__version__
    except ImportError:  # bench/cold.sh needs none
        of_openvino = None
    return {"python": sys.version.split()[0], "numpy": numpy.__version__, "onnxruntime": onnxruntime.__version__,
            "openvino": of_openvino, "torch": of_torch}


def export(request):
    """Writes a network of PyTorch as an ONNX file."""
    warnings.filterwarnings("ignore")
    import torch
    import torch_networks
    import torchvision
    network, image = torch_networks.build(torch, torchvision, request["network"])
    with open("/dev/null", "w") as nowhere:
        printed, sys.stdout = sys.stdout, nowhere
        try:
            torch.onnx.export(network, image, request["file"], opset_version=OPSET)
        finally:
            sys.stdout = printed
    return {}


def make_input(request):
    """A random input for the file, from a seed."""
    import numpy
    import onnxruntime
    session = onnxruntime.InferenceSession(request["model"], providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    dims = [1 if index == 0 and not isinstance(extent, int) else extent for index, extent in enumerate(inputs[0].shape)]
    if len(inputs) != 1 or inputs[0].type != "tensor(float)":
        raise SystemExit("does not have exactly one fp32 input")
    if not all(isinstance(extent, int) for extent in dims):
        raise SystemExit(f"leaves extents other than the batch open ({dims})")
    numpy.save(request["input"], numpy.random.default_rng(0).standard_normal(dims).astype(numpy.float32))
    return {"dims": dims}


def measured(run, request):
    """Runs the network repeatedly; writes the outputs of the last run to a folder."""
    import numpy
    samples = []
    for i in range(request["warmup"] + request["iterations"]):
        begin = time.perf_counter()
        outputs = run()
        samples.append((time.perf_counter() - begin) * 1e3)
    samples = samples[request["warmup"]:]
    folder = Path(request["outputs"])
    folder.mkdir(exist_ok=True)
    for index, values in enumerate(outputs):
        numpy.save(folder / f"{index}.npy", values)
    return {"median_ms": statistics.median(samples), "min_ms": min(samples), "samples": len(samples)}


def onnx_options(threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return options


def onnx_runtime(request):
    import numpy
    import onnxruntime
    options = onnx_options(request["threads"])
    begin = time.perf_counter()
    session = onnxruntime.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
    load_s = time.perf_counter() - begin
    feed = {session.get_inputs()[0].name: numpy.load(request["input"])}
    return {**measured(lambda: session.run(None, feed), request), "load_s": load_s}


def prepack(request):
    """Writes the network as ONNX Runtime has it after its optimisations, with the weights in the layouts of its kernels."""
    import onnxruntime
    options = onnx_options(request["threads"])
    options.optimized_model_filepath = request["packed"]
    options.log_severity_level = 3  # it warns that the file is for this processor alone
    for name, value in (("optimized_model_external_initializers_file_name", Path(request["packed"]).name + ".data"),
                        ("optimized_model_external_initializers_min_size_in_bytes", "1024"),
                        ("save_external_prepacked_constant_initializers", "1")):
        options.add_session_config_entry(f"session.{name}", value)
    onnxruntime.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
    return {}


def drop_pages(folder):
    """Drops the cached pages of the files in a folder."""
    for file in Path(folder).iterdir():
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cold_starts(request):
    """Times sessions of a packed network from their creation to the end of their first run, and later runs of the last one."""
    import numpy
    import onnxruntime
    options = onnx_options(request["threads"])
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # the file has them already
    x = numpy.load(request["input"])
    packed, starts = Path(request["packed"]), []
    for _ in range(request["warmup"] + request["iterations"]):
        session = None  # a mapped page is not dropped
        if request["dropped"]:
            drop_pages(packed.parent)
        begin = time.perf_counter()
        session = onnxruntime.InferenceSession(str(packed), options, providers=["CPUExecutionProvider"])
        feed = {session.get_inputs()[0].name: x}
        session.run(None, feed)
        starts.append((time.perf_counter() - begin) * 1e3)
    resident = measured(lambda: session.run(None, feed), request)
    return {"median_ms": statistics.median(starts[request["warmup"]:]), "resident_ms": resident["median_ms"]}


def open_vino(request):
    import numpy
    import openvino
    import openvino.properties as properties
    import openvino.properties.hint as hint
    x = numpy.load(request["input"])
    begin = time.perf_counter()
    core = openvino.Core()
    model = core.read_model(request["model"])
    model.reshape(list(x.shape))
    compiled = core.compile_model(model, "CPU", {
        hint.performance_mode: hint.PerformanceMode.LATENCY, properties.inference_num_threads: request["threads"],
        hint.inference_precision: openvino.Type.f32, hint.enable_cpu_pinning: True})
    load_s = time.perf_counter() - begin
    infer = compiled.create_infer_request()

    def run():
        results = infer.infer({0: x}, share_inputs=True, share_outputs=True)
        return [results[index] for index in range(len(compiled.outputs))]
    return {**measured(run, request), "load_s": load_s,
            "precision": compiled.get_property(hint.inference_precision).get_type_name()}


def worst(differences):
    """The maximum over all outputs; None if any is NaN, since max() could ignore it."""
    differences = list(differences)
    return None if any(map(math.isnan, differences)) else max(differences)


def compare(request):
    """max |a - b| / max |b| for pairs of folders, over all outputs."""
    import numpy

    def values(folder):
        return [numpy.load(Path(folder) / f"{index}.npy") for index in range(len(list(Path(folder).glob("*.npy"))))]

    def difference(a, b):
        left, right = values(a), values(b)
        if [each.shape for each in left] != [each.shape for each in right]:
            raise SystemExit(f"outputs of other extents in {Path(a).name} and {Path(b).name}")
        return worst(float(numpy.abs(x - y).max() / max(numpy.abs(y).max(), 1e-30)) for x, y in zip(left, right))
    return {name: difference(a, b) for name, (a, b) in request["pairs"].items()}


REQUESTS = {"versions": versions, "export": export, "input": make_input, "onnxruntime": onnx_runtime,
            "prepack": prepack, "cold": cold_starts, "openvino": open_vino, "compare": compare}

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(REQUESTS[asked["do"]](asked)))

"""Judges an ONNX file by what hios makes of it: accepted, or refused with a line; its values next to ONNX Runtime's, and whether two ranks
give the bits of one."""

import json
import math
import os
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass

RELATIVE, ABSOLUTE = 1e-4, 1e-5
FAITHFUL = 1e-3  # of the largest value: PyTorch's own distance to ONNX Runtime, where their networks are the same
SECONDS = 3600  # emulated GPUs take half an hour for a video network
EMULATED_BYTES = 6 << 30
OVERHEAD_MS, MFLOP_A_MS, BYTES_A_MS = 0.005, 50, 1e7  # of a core of 50 GFLOP/s, and a link of 10 GB/s


@dataclass(frozen=True)
class Backend:
    """A program that runs networks. `kind`: of its devices in schedules. `profile`: the program that chooses algorithms, so
    that all runs have the same; None where there is no choice. `choice`: more words for it."""
    run: str
    words: tuple
    kind: str
    profile: str
    title: str
    choice: tuple = ()


# Emulated GPUs take long to try an algorithm: a few of each family are enough here.
FEW_ALGORITHMS = ("--without-algorithms", "own 0;own 1;own 2;own 3;graph 0;graph 3")

BACKENDS = {"cpu": Backend("hios-run", (), "cpu", None, "CPU ranks"),
            "cuda": Backend("hios-run", ("--backend", "cuda"), "gpu", "hios-profile", "GPUs"),
            "emulated-cuda": Backend("hios_emulated_run", ("--backend", "cuda"), "gpu", "hios_emulated_profile",
                                     "emulated GPUs (tests/support/emulated_cuda), whose work runs as late as it may",
                                     FEW_ALGORITHMS)}
QUICKLY = ("--iterations", 1, "--warmup", 0, "--warmup-seconds", 0, "--flight-record", "off", "--timeout", 1800)


class Refused(Exception):
    """The program's first line."""


class Programs:
    """Calls hios' programs in a folder of their own."""

    def __init__(self, programs, folder, backend=BACKENDS["cpu"]):
        self.programs, self.folder, self.backend = programs, folder, backend
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                OMPI_MCA_mpi_yield_when_idle="1")  # where other programs take the cores
        self.environment["HIOS_EMULATED_CUDA"] = f"order=late,memory={EMULATED_BYTES}"

    def call(self, ranks, program, *words):
        before = [] if ranks == 1 else ["mpirun", "-np", str(ranks), "--bind-to", "none", "--oversubscribe"]
        with subprocess.Popen([*before, self.programs / program, *map(str, words)], env=self.environment, cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
            try:
                errors = running.communicate(timeout=SECONDS)[1]
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGTERM)  # which mpirun passes on
                running.communicate()
                raise Refused(f"{program} on {ranks} ranks did not end within {SECONDS} s") from None
        if running.returncode != 0:
            lines = [line for line in errors.splitlines() if line.strip() and not line.startswith(("usage", "warning"))]
            lines = [line for line in lines if line.startswith("error: ")] + lines  # progress may come before it
            line = lines[0] if lines else f"status {running.returncode}"
            raise Refused(line.replace(f"{self.folder}/", "").removeprefix("error: ").removeprefix("network.onnx: ")[:300])

    def choose_algorithms(self, most_ranks):
        """For one rank and, where there are two, for both: with the operators' times of one, and made-up times of transfers."""
        if not self.backend.profile:
            return
        self.call(1, self.backend.profile, *self.backend.words, *self.backend.choice, "--model", "network.onnx", "--output",
                  "profile.json", "--settle", 0, *QUICKLY, "--force")
        file = self.folder / "profile.json"
        profile = json.loads(file.read_text())
        (one,) = profile["configurations"]
        for ranks in range(2, most_ranks + 1):
            machine = {key: value for key, value in one["machine"].items() if key != "transfer_paths"}
            transfers = [{"from": a, "to": b, "points": [[1024, 1]]} for a in range(ranks) for b in range(ranks) if a != b]
            profile["configurations"].append({**one, "ranks": ranks, "machine": machine, "transfers": transfers})
        file.write_text(json.dumps(profile))

    def operators(self):
        """The graph's name and digest, and the names of its operators in topological order."""
        self.call(1, "hios-schedule", "--model", "network.onnx", "--list-operators", "--json", "operators.json", "--force")
        return json.loads((self.folder / "operators.json").read_text())

    def outputs(self, numpy, ranks, *more):
        folder = self.folder / "outputs"
        shutil.rmtree(folder, ignore_errors=True)
        profile = ("--profile", "profile.json") if self.backend.profile else ()
        self.call(ranks, self.backend.run, *self.backend.words, "--model", "network.onnx", "--input", "image.npy",
                  "--outputs", folder, *profile, *QUICKLY, *more)
        files = [each["file"] for each in json.loads((folder / "outputs.json").read_text())["outputs"]]
        arrays = [numpy.load(folder / file) for file in files]
        shutil.rmtree(folder)
        return arrays


def alternating(listed, kind="cpu"):
    """A schedule that gives each second operator to the other device."""
    names = [each["name"] for each in listed["operators"]]
    devices = [{"name": f"{kind}{rank}", "kind": kind, "threads": int(kind == "cpu"), "streams": 1,
                "stages": [[[name]] for name in names[rank::2]]} for rank in (0, 1)]
    return {"format": "hios-schedule", "version": 1,
            "graph": {"name": listed["model"], "digest": listed["digest"]}, "devices": devices}


def costs(graph, listed):
    """The graph with assumed times, by operations and bytes: enough for hios-lp to divide it, without a measurement."""
    mflop = {each["name"]: each["mflop"] for each in listed["operators"]}
    for operator in graph["operators"]:
        operator["time_ms"] = OVERHEAD_MS + mflop[operator["name"]] / MFLOP_A_MS
    for edge in graph["edges"]:
        edge["transfer_ms"] = edge["bytes"] / BYTES_A_MS
    return graph


def compare(numpy, got, wanted):
    """The largest difference as a share of the largest value, infinite where a shape is another or a value is no number, and whether
    all are within the tolerance."""
    if [each.shape for each in got] != [each.shape for each in wanted]:
        return math.inf, False
    worst, within = 0.0, True
    for ours, theirs in zip(got, wanted):
        theirs = theirs.astype(numpy.float64)
        largest = float(numpy.abs(theirs).max())
        difference = float(numpy.abs(ours - theirs).max())
        if math.isnan(difference):
            return math.inf, False
        within = within and difference <= RELATIVE * largest + ABSOLUTE
        worst = max(worst, difference / largest if largest else difference)
    return worst, within


def rounded(difference):
    return float(f"{difference:.2e}")


def same_bits(numpy, one, other):
    return len(one) == len(other) and all((a.view(numpy.uint32) == b.view(numpy.uint32)).all() for a, b in zip(one, other))


def by_onnx_runtime(numpy, onnxruntime, folder, level=None):
    """The outputs of network.onnx by ONNX Runtime on one core. `level`: of its optimisations, None for all."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if level is not None:
        options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(str(folder / "network.onnx"), options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: numpy.load(folder / "image.npy")})


def references(numpy, onnxruntime, folder, wanted):
    """The distances of ONNX Runtime without its optimisations, and of PyTorch, from the wanted outputs."""
    plain = by_onnx_runtime(numpy, onnxruntime, folder, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    with numpy.load(folder / "pytorch.npz") as saved:
        pytorch = [saved[name] for name in saved.files]
    return {"plain_difference": rounded(compare(numpy, plain, wanted)[0]),
            "pytorch_difference": rounded(compare(numpy, pytorch, wanted)[0])}


def is_rounding(row):
    """True if a row beyond the tolerance is at most twice as far from ONNX Runtime as that is from itself without its optimisations,
    or as PyTorch is. PyTorch counts where it is so near that the file is surely its network."""
    near = row["pytorch_difference"] if row["pytorch_difference"] <= FAITHFUL else 0
    return row["difference"] <= 2 * max(row["plain_difference"], near)


def judge(programs, ranks):
    """The row of a network whose network.onnx and image.npy lie in the programs' folder."""
    import numpy
    import onnxruntime
    try:
        listed = programs.operators()
    except Refused as refused:
        return {"accepted": False, "line": str(refused)}
    row = {"accepted": True, "operators": len(listed["operators"])}
    if programs.backend.choice:
        row["choice"] = shlex.join(programs.backend.choice)
    wanted = by_onnx_runtime(numpy, onnxruntime, programs.folder)
    try:
        programs.choose_algorithms(ranks)
        one = programs.outputs(numpy, 1)
        difference, row["within"] = compare(numpy, one, wanted)
        if math.isinf(difference):
            raise Refused("its outputs have other shapes than ONNX Runtime's, or are no numbers")
        row["difference"] = rounded(difference)
        if not row["within"]:
            row.update(references(numpy, onnxruntime, programs.folder, wanted))
        if ranks == 2:
            two_ranks(numpy, programs, listed, one, row)
    except Refused as refused:
        row["line"] = str(refused)
    return row


def two_ranks(numpy, programs, listed, one, row):
    """Adds whether two ranks give the same bits by a plan that alternates, and by that of hios-lp."""
    (programs.folder / "plan.json").write_text(json.dumps(alternating(listed, programs.backend.kind)))
    row["alternating"] = same_bits(numpy, one, programs.outputs(numpy, 2, "--schedule", "plan.json", "--oversubscribe"))
    programs.call(1, "hios-schedule", "--model", "network.onnx", "--export-graph", "graph.json", "--force")
    graph = costs(json.loads((programs.folder / "graph.json").read_text()), listed)
    (programs.folder / "graph.json").write_text(json.dumps(graph))
    programs.call(1, "hios-schedule", "--graph", "graph.json", "--devices", 2, "--kind", programs.backend.kind,
                  "--algorithm", "hios-lp", "--output", "lp.json", "--force")
    devices = json.loads((programs.folder / "lp.json").read_text())["devices"]
    row["lp_operators"] = [sum(len(group) for stage in device["stages"] for group in stage) for device in devices]
    row["lp"] = same_bits(numpy, one, programs.outputs(numpy, 2, "--schedule", "lp.json", "--oversubscribe"))

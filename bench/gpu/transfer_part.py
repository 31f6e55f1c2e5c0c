"""The transfer part: the time of a tensor from rank to rank on the one GPU by each path, compared with raw copies.

Ours is half a round trip to a rank that waits (hios-profile), so it includes the message "ready" and the wait. A raw
copy is one of many in a row by the device's clock, and also a single one with the wait for it.
"""

import json

from target import TRANSPORTS
from worker import Worker, WorkerError

PATH_LIMIT_S, COPIES_LIMIT_S = 120, 90
SMALLEST = 1 << 10
# Size of the network in the profile; it is small on purpose.
NETWORK, SIZE = "squeezenet", 64
VADER = "cuda-aware over vader"


class Transfers:
    """`save(record)` is called after every step."""

    def __init__(self, installation, target, steps, scratch, has_torch, save):
        self.installation, self.target, self.steps, self.scratch = installation, target, steps, scratch
        self.has_torch, self.save = has_torch, save
        self.smcuda = installation.has_smcuda()
        self.record = {"paths": {}, "raw": {}, "failed": {}}

    def run(self):
        self.run_raw()
        if not self.installation.mpirun:
            self.fail("every path", "mpirun is not installed")
            return
        for name, transport, btl in self.ways():
            self.run_path(name, transport, btl)

    def ways(self):
        """The paths with their Open MPI settings; the CUDA-aware one also without smcuda, for comparison."""
        ways = [(name, name, self.target.btl(name, self.smcuda)) for name in TRANSPORTS]
        if self.target.rehearsal:
            return ways[:1]
        return ways + ([(VADER, "cuda-aware", "self,vader")] if self.smcuda else [])

    def sizes(self):
        size, sizes = SMALLEST, []
        while size <= self.target.largest_message:
            sizes.append(size)
            size *= 2
        return sizes

    def run_raw(self):
        if not self.has_torch:
            self.fail("raw copies", "this Python has no PyTorch")
            return
        worker = Worker(self.installation.torch_environment(), self.scratch / "torch-copies.log")
        request = {"do": "copies", "sizes": self.sizes(), "iterations": 20, "device": self.target.torch_device}
        try:
            self.record["raw"] = worker.ask(request, max(1.0, min(COPIES_LIMIT_S, self.steps.deadline.left())))
            self.steps.say("raw copies: ok")
        except WorkerError as error:
            self.fail("raw copies", str(error))
        finally:
            worker.stop()
        self.save(self.record)

    def run_path(self, name, transport, btl):
        file = self.scratch / f"transfers-{name.replace(' ', '-')}.json"
        command = [*self.installation.mpi(2, btl), self.installation.programs / "hios-profile", *self.target.model(NETWORK, SIZE),
                   "--backend", self.target.backend, *self.target.shared(transport), "--stages", "none",
                   "--warmup", "3", "--iterations", "20", "--largest-message", self.target.largest_message,
                   "--output", file, "--force", "-q"]
        outcome = self.steps.run(f"transfers by {name}", command, PATH_LIMIT_S)
        if not outcome.passed:
            self.fail(name, outcome.why)
            return
        configuration = json.loads(file.read_text())["configurations"][0]
        curve = next(curve for curve in configuration["transfers"] if curve["from"] == 0)
        self.record["paths"][name] = {
            "points": [{"bytes": size, "ms": ms} for size, ms in curve["points"]], "btl": btl,
            "transport": configuration["machine"].get("transport"),
            "by_pair": configuration["machine"].get("transfer_paths", {}).get("by_pair")}
        self.save(self.record)

    def fail(self, name, why):
        self.steps.say(f"transfers by {name}: FAILED, {why}")
        self.record["failed"][name] = why
        self.save(self.record)

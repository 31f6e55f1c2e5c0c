"""The target of the measurements, and its flags: one GPU, or plain loops on the CPU for a rehearsal."""

from dataclasses import dataclass

# The fast ones first, since time may run out.
NETWORKS = ("squeezenet", "inception_v3", "randwire_large", "nasnet_large")
TRANSPORTS = ("ipc", "cuda-aware", "staged")
# Open MPI copies between GPUs only in its btl smcuda; the other paths use vader, which is faster in host memory.
BTL = {"cuda-aware": "self,smcuda,vader"}
# Height and width, by the value of --sizes.
SIZES = {
    "inception_v3": {"default": 299, "small": 139, "large": 512},
    "nasnet_large": {"default": 331, "small": 128, "large": 512},
    "squeezenet": {"default": 224, "small": 96, "large": 512},
    "randwire_large": {"default": 224, "small": 96, "large": 512},
}
SIZE_WORDS = ("default", "small", "large")
# The smallest possible sizes, for comparing every operator with plain loops.
TINY = {"inception_v3": 107, "nasnet_large": 67, "squeezenet": 64, "randwire_large": 64}


@dataclass(frozen=True)
class Target:
    """`sweeps` and `stage_seconds` are for the profiler, the others for hios-run and PyTorch."""

    rehearsal: bool = False
    streams: int = 8
    warmup: int = 50
    iterations: int = 200
    rounds: int = 2
    sweeps: int = 30
    stage_seconds: int = 20
    largest_message: int = 1 << 28

    @property
    def backend(self):
        return "reference" if self.rehearsal else "cuda"

    @property
    def torch_device(self):
        return "cpu" if self.rehearsal else "cuda"

    def size(self, network, word):
        return TINY[network] if self.rehearsal else SIZES[network][word]

    def model(self, network, size):
        return ["--model", network, "--batch", "1", "--height", str(size)]

    def compute(self, math):
        """For hios-profile."""
        return ["--backend", self.backend, *([] if self.rehearsal else ["--math", math])]

    def devices(self, count, math, streams):
        """For hios-schedule."""
        flags = ["--devices", str(count), "--streams", str(streams), "--kind", "cpu" if self.rehearsal else "gpu"]
        return flags + ([] if self.rehearsal else ["--math", math])

    def shared(self, transport):
        """Flags for two ranks on the one GPU."""
        if self.rehearsal:
            return ["--oversubscribe"]
        return ["--devices-per-node", "1", "--transport", transport]

    def graphs(self, on):
        return [] if self.rehearsal or on else ["--cuda-graphs", "off"]

    def btl(self, transport, has_smcuda):
        return BTL.get(transport, "self,vader") if has_smcuda and not self.rehearsal else "self,vader"


REHEARSAL = Target(rehearsal=True, streams=2, warmup=1, iterations=3, rounds=2, sweeps=3, stage_seconds=5,
                   largest_message=1 << 22)
QUICK = Target(warmup=30, iterations=50, rounds=1, sweeps=15, stage_seconds=10)

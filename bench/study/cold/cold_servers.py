"""The servers of Namkoong et al., SortingHat (Table 2 and Fig. 8, and p4d in section 6), as hios-platform objects.

Rates are those of public data sheets (RATES); the latency of each flow is assumed. The paper states no rates.
"""

from dataclasses import dataclass

LATENCY_MS = 0.01  # assumed, of each load and message
PCIE_3, PCIE_4 = 15.75, 31.5  # GB/s of 16 lanes, each direction
NVLINK_2 = 25.0  # GB/s of one link of a V100, each direction
NVLINK_BRIDGE = 56.25  # GB/s of the bridge of two A6000, each direction: half of 112.5
NVSWITCH = 300.0  # GB/s of an A100's port, each direction: half of 600


@dataclass(frozen=True)
class Gpu:
    tflops: float  # single precision, without tensor cores
    memory_gb_per_s: float
    memory_bytes: int


V100 = Gpu(15.7, 900, 32 << 30)
# 5,120 cores x 2 flop x 1.5 or 0.135 GHz; the memory's clock is another, and taken to stay.
V100_1500, V100_135 = Gpu(15.36, 900, 32 << 30), Gpu(1.382, 900, 32 << 30)
A6000, A100 = Gpu(38.7, 768, 48 << 30), Gpu(19.5, 1555, 40 << 30)


class Server:
    """GPUs by name with their kinds; buses by name; routes."""

    def __init__(self, name, gpus, kinds):
        self.name, self.gpus, self.kinds = name, gpus, kinds  # kind by GPU; (Gpu, GB/s of loads) by kind
        self.buses, self.routes = {}, []

    def route(self, source, to, over, gb_per_s):
        self.routes.append({"from": source, "to": to, "over": list(over), "latency_ms": LATENCY_MS, "gb_per_s": gb_per_s})

    def bus(self, name, gb_per_s):
        self.buses[name] = gb_per_s
        return name

    def load_over(self, groups, gb_per_s):
        """Adds a PCIe bus for each group of GPUs, over which these load."""
        for number, group in enumerate(groups, 1):
            bus = self.bus(f"pcie-{number}", gb_per_s)
            for gpu in group:
                self.route("dram", gpu, [bus], gb_per_s)

    def pairs(self):
        return [(one, other) for one in self.gpus for other in self.gpus if one != other]

    def platform(self, only=None):
        """The hios-platform object, of all GPUs or of `only` some."""
        names = [name for name in self.gpus if only is None or name in only]
        routes = [route for route in self.routes if route["to"] in names and route["from"] in ("dram", *names)]
        used = {bus for route in routes for bus in route["over"]}
        return {"format": "hios-platform", "version": 1,
                "devices": [{"name": name, "kind": self.gpus[name], "threads": 0, "streams": 1,
                             "memory_bytes": self.kinds[self.gpus[name]][0].memory_bytes, "host": self.name} for name in names],
                "stores": [{"name": "dram", "host": self.name, "kind": "memory"}],
                "buses": [{"name": bus, "gb_per_s": rate} for bus, rate in self.buses.items() if bus in used],
                "routes": routes}


def v100(name, gpus, kinds):
    """Fig. 8(a) and (b): two PCIe buses of two GPUs each, and one or two NVLinks between any two GPUs."""
    server = Server(name, gpus, kinds)
    server.load_over((("gpu1", "gpu2"), ("gpu3", "gpu4")), PCIE_3)
    for one, other in server.pairs():
        rate = NVLINK_2 * (2 if {one, other} in ({"gpu1", "gpu4"}, {"gpu2", "gpu3"}) else 1)
        server.route(one, other, [server.bus(f"nvlink-{one[3:]}-{other[3:]}", rate)], rate)
    return server


def a6000():
    """Fig. 8(c): each GPU has 16 lanes of its own, as the CPU has 128; two are joined by a bridge, the others send over PCIe."""
    server = Server("a6000", {f"gpu{index}": "a6000" for index in (1, 2, 3)}, {"a6000": (A6000, PCIE_4)})
    server.load_over((("gpu1",), ("gpu2",), ("gpu3",)), PCIE_4)
    for one, other in server.pairs():
        if "gpu1" in (one, other):
            server.route(one, other, [server.bus(f"pcie-{one[3:]}-up", PCIE_4), f"pcie-{other[3:]}"], PCIE_4)
        else:
            server.route(one, other, [server.bus(f"nvlink-{one[3:]}-{other[3:]}", NVLINK_BRIDGE)], NVLINK_BRIDGE)
    return server


def p4d():
    """Section 6: four PCIe buses (of generation 3, the CPUs') of two A100 each, and an NVSwitch with a port for each."""
    names = [f"gpu{index}" for index in range(1, 9)]
    server = Server("p4d", {name: "a100" for name in names}, {"a100": (A100, PCIE_3)})
    server.load_over([names[first:first + 2] for first in range(0, 8, 2)], PCIE_3)
    for one, other in server.pairs():
        ports = [server.bus(f"nvswitch-{one[3:]}-out", NVSWITCH), server.bus(f"nvswitch-{other[3:]}-in", NVSWITCH)]
        server.route(one, other, ports, NVSWITCH)
    return server


SERVERS = {
    "v100": v100("v100", {f"gpu{index}": "v100" for index in (1, 2, 3, 4)}, {"v100": (V100, PCIE_3)}),
    "v100-hetero": v100("v100-hetero", {"gpu1": "v100-1500", "gpu2": "v100-135", "gpu3": "v100-135", "gpu4": "v100-1500"},
                        {"v100-1500": (V100_1500, PCIE_3), "v100-135": (V100_135, PCIE_3)}),
    "a6000": a6000(),
    "p4d": p4d(),
}

"""The machines of the papers as hios-platform objects; comments mark values that a paper does not give."""

# MOIRAI, Table III: devices with GB of memory, and Gbit/s from a row's device to a column's. Peak TFLOP/s (single
# precision) and GB/s of memory are the manufacturers' figures, not the paper's.
INTER_SERVER = {
    "devices": {"rtx2080ti": (11, 13.4, 616), "t4": (16, 8.1, 320), "p4": (8, 5.5, 192), "rtx3060ti": (8, 16.2, 448)},
    "gbit": ((0, 44.26, 32.92, 44.28), (42.39, 0, 35.32, 44.51), (33.2, 35.31, 0, 32.95), (42.08, 43.22, 33.28, 0))}
INTRA_SERVER = {
    "devices": {"v100a": (32, 15.7, 900), "v100b": (32, 15.7, 900), "p100a": (16, 10.6, 732), "p100b": (16, 10.6, 732)},
    "gbit": ((0, 1170.04, 626.10, 610.56), (1148.16, 0, 618.98, 581.09), (630.43, 609.82, 0, 571.96),
             (622.67, 575.08, 581.35, 0))}
MOIRAI = {"inter-server": INTER_SERVER, "intra-server": INTRA_SERVER}
LINK_LATENCY_MS = {"inter-server": 0.01, "intra-server": 0.005}  # not in the paper


def moirai(scenario):
    """A device receives one tensor and sends one at a time, as in inequality (8) of the paper."""
    machine = MOIRAI[scenario]
    names = list(machine["devices"])
    devices = [{"name": name, "kind": "gpu", "threads": 0, "streams": 1, "memory_bytes": machine["devices"][name][0] << 30}
               for name in names]
    links = [{"from": names[row], "to": names[column], "latency_ms": LINK_LATENCY_MS[scenario], "gb_per_s": gbit / 8}
             for row, line in enumerate(machine["gbit"]) for column, gbit in enumerate(line) if gbit]
    return {"format": "hios-platform", "version": 2, "devices": devices, "links": links, "contention": "port"}


def machines(scenario):
    """(TFLOP/s, GB/s) by device."""
    return {name: speeds for name, (_, *speeds) in MOIRAI[scenario]["devices"].items()}


# DiviML's section VI: servers of two pairs of equal GPUs, which its count of symmetries, (2! 2!)^6 6!, allows; its
# Fig. 8 shows them, its text does not. Here A100s and T4s by their manufacturers' figures; links by PCIe and by 100 Gbit/s.
A100, T4 = (19.5, 1555), (8.1, 320)
PAIRS = {"a100": A100, "t4": T4}


def servers(count):
    """A platform, and (TFLOP/s, GB/s) by device."""
    devices = [(f"s{server}{kind}{index}", f"s{server}", speeds) for server in range(count)
               for kind, speeds in PAIRS.items() for index in range(2)]
    links = [{"from": one, "to": other, "latency_ms": 0.02, "gb_per_s": 12.0}
             for at, (one, host, _) in enumerate(devices) for other, there, _ in devices[at + 1:] if host == there]
    platform = {"format": "hios-platform", "version": 1,
                "devices": [{"name": name, "kind": "gpu", "threads": 0, "streams": 1, "host": host}
                            for name, host, _ in devices],
                "links": links, "default_link": {"latency_ms": 0.05, "gb_per_s": 10.0}}
    return platform, {name: speeds for name, _, speeds in devices}

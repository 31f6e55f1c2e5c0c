"""Raw copies by PyTorch, each a cudaMemcpyAsync, to compare our transfers with."""

import statistics
import time

import torch

PER_EVENT = 10  # copies between two events, so that the events' own resolution does not matter


def measure(sizes, iterations, device):
    """{"d2d" | "h2d" | "d2h": [{"bytes", "device_ms", "waited_ms"}]}: the median of the fastest quarter; `device_ms`
    a copy of many in a row by the device's clock, `waited_ms` one copy and the wait for it by the host's. On a CPU
    both are the host's."""
    curves = {"d2d": [], "h2d": [], "d2h": []}
    for size in sizes:
        there = torch.empty(size, dtype=torch.uint8, device=device)
        other = torch.zeros(size, dtype=torch.uint8, device=device)
        host = torch.zeros(size, dtype=torch.uint8, pin_memory=device.type == "cuda")
        for name, to, source in (("d2d", there, other), ("h2d", there, host), ("d2h", host, other)):
            to.copy_(source, non_blocking=True)
            curves[name].append({"bytes": size, "device_ms": on_device(to, source, iterations, device),
                                 "waited_ms": waited(to, source, iterations, device)})
    return curves


def best_quarter(samples):
    ordered = sorted(samples)
    return statistics.median(ordered[:max(1, -(-len(ordered) // 4))])


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


def on_device(to, source, iterations, device):
    if device.type != "cuda":
        return waited(to, source, iterations, device)
    samples = []
    for _ in range(iterations):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(PER_EVENT):
            to.copy_(source, non_blocking=True)
        end.record()
        torch.cuda.synchronize()
        samples.append(begin.elapsed_time(end) / PER_EVENT)
    return best_quarter(samples)


def waited(to, source, iterations, device):
    samples = []
    for _ in range(iterations):
        wait(device)
        begin = time.perf_counter()
        to.copy_(source, non_blocking=True)
        wait(device)
        samples.append((time.perf_counter() - begin) * 1000)
    return best_quarter(samples)

"""Alg. 1 and Alg. 2 of the HIOS paper with any rule for latencies (rules.py), to compare decisions by both.

By the paper's rule, operators are in the order of priorities and the mapping is that of hios-schedule. By the
published rule, they are in the order of ids. Everything is computed from scratch: networks are small.
"""

from rules import PAPER, PUBLISHED, latency_ms, order_of_ids


def priorities_ms(network):
    """By operator, the longest path to the end of the network with all transfers."""
    lengths = list(network.times_ms)
    for v in reversed(range(len(lengths))):  # ids are a topological order
        for u, transfer_ms in network.inputs[v]:
            lengths[u] = max(lengths[u], network.times_ms[u] + transfer_ms + lengths[v])
    return lengths


def operators_in_order(network, rule):
    operators = list(range(len(network.times_ms)))
    if rule == PAPER:
        length = priorities_ms(network)
        operators.sort(key=lambda v: -length[v])
    return operators


def longest_path(network, order, mapped, any_paths):
    """The longest path through operators that are not mapped, with the heaviest edges from its first and last
    operator to mapped ones. Without `any_paths`, only these two may have such edges (the paper's valid paths)."""
    consumers = [[] for _ in network.times_ms]
    for v, inputs in enumerate(network.inputs):
        for u, transfer_ms in inputs:
            consumers[u].append((v, transfer_ms))
    best, seen, following = {}, {}, {}
    for v in reversed(order):
        if v in mapped:
            continue
        end_ms = max((ms for w, ms in consumers[v] if w in mapped), default=0)
        touches = any(w in mapped for w, _ in consumers[v] + network.inputs[v])
        beyond_ms, following[v] = end_ms, None
        for w, transfer_ms in consumers[v]:
            if w not in mapped and transfer_ms + seen[w] > beyond_ms:
                beyond_ms, following[v] = transfer_ms + seen[w], w
        best[v] = network.times_ms[v] + beyond_ms
        ends_here = touches and not any_paths
        seen[v] = network.times_ms[v] + end_ms if ends_here else best[v]

    def length_ms(v):
        return best[v] + max((ms for u, ms in network.inputs[v] if u in mapped), default=0)

    path = [max((v for v in order if v not in mapped), key=length_ms)]
    while following[path[-1]] is not None:
        path.append(following[path[-1]])
        if seen[path[-1]] != best[path[-1]]:
            break
    return path


def map_longest_paths(network, devices, rule, any_paths):
    """Alg. 1: stages of one operator each, in the order in which the rule takes them."""
    order = operators_in_order(network, rule)
    device_of = {}

    def stages():
        return [(device_of[v], [[v]]) for v in order if v in device_of]

    while len(device_of) < len(order):
        path = longest_path(network, order, set(device_of), any_paths)
        latencies_ms = []
        for device in range(devices):
            device_of.update((v, device) for v in path)
            latencies_ms.append(latency_ms(network, stages(), rule))
        least = latencies_ms.index(min(latencies_ms))
        device_of.update((v, least) for v in path)
    return stages()


def merge_windows(network, stages, window=4):
    """Alg. 2 by the published rule: for each operator that is alone, windows of up to `window` neighbours on its
    device are tried as one stage, and the best is kept if it shortens the latency. REQUIRES: one operator a stage."""
    stages = order_of_ids(network, stages)
    least_ms = latency_ms(network, stages, PUBLISHED)
    for v in range(len(network.times_ms)):
        at = next(i for i, (_, groups) in enumerate(stages) if [v] in groups)
        if len(stages[at][1]) > 1:
            continue
        kept = None
        for tried in windows_from(network, stages, at, window):
            tried_ms = latency_ms(network, tried, PUBLISHED)
            if tried_ms < least_ms:
                least_ms, kept = tried_ms, tried
        stages = kept or stages
    return stages


def windows_from(network, stages, at, window):
    """Yields the stages with 2, 3, … `window` neighbours from that stage on as one, while no merged stage is among
    them and none of them waits for another."""
    device = stages[at][0]
    own = [i for i in range(at, len(stages)) if stages[i][0] == device][:window]
    for count in range(2, len(own) + 1):
        if len(stages[own[count - 1]][1]) > 1:
            return
        merged = (device, [stages[i][1][0] for i in own[:count]])
        tried = order_of_ids(network, [*(s for i, s in enumerate(stages) if i not in own[:count]), merged])
        if tried is None:
            return
        yield tried

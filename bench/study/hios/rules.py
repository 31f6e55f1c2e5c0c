"""The latency of a schedule by two rules, which differ in what a consumer waits for.

PAPER: the end of its producer, as in the paper and in hios-schedule.
PUBLISHED: the clock of its producer's device, as in the evaluator that was published with the paper. It takes
operators in the order of their ids, so that clock stands at the end of the last operator that the device got so
far, whether or not the consumer needs it.

By both, a stage also waits for the clock of its own device, and data from another device for its transfer. A network
has numbers for operators, in the order of the file. A schedule is a list of stages, (device, groups): groups of operators
start at the same time, and those of a group run one after the other.
"""

import heapq
from dataclasses import dataclass

PAPER, PUBLISHED = "paper", "published"


@dataclass
class Network:
    times_ms: list
    utilizations: list
    inputs: list  # by operator: (producer, transfer_ms) of each edge
    weight: float = 0.5  # of the stage cost `overlap`

    def stage_ms(self, groups):
        times_ms = [sum(self.times_ms[v] for v in group) for group in groups]
        if len(groups) == 1:
            return times_ms[0]
        load_ms = sum(self.times_ms[v] * self.utilizations[v] for v in members(groups))
        return self.weight * sum(times_ms) + (1 - self.weight) * max(load_ms, *times_ms)


def members(groups):
    return [v for group in groups for v in group]


def read_network(graph):
    """A Network from the content of a hios-graph file."""
    number = {operator["name"]: v for v, operator in enumerate(graph["operators"])}
    inputs = [[] for _ in number]
    for edge in graph["edges"]:
        inputs[number[edge["to"]]].append((number[edge["from"]], edge["transfer_ms"]))
    return Network([operator["time_ms"] for operator in graph["operators"]],
                   [operator["utilization"] for operator in graph["operators"]], inputs, graph["stage_cost"]["weight"])


def read_stages(graph, schedule):
    """The stages of a hios-schedule file, device by device in their order."""
    number = {operator["name"]: v for v, operator in enumerate(graph["operators"])}
    return [(d, [[number[name] for name in group] for group in stage])
            for d, device in enumerate(schedule["devices"]) for stage in device["stages"]]


def order_of_ids(network, stages, keep_order=False):
    """The stages in the order of their first operators' ids, none before one that it reads from; None if stages wait
    for each other. `keep_order`: nor before a stage that precedes it in the list on its device."""
    group_of = {v: (i, g) for i, (_, groups) in enumerate(stages) for g, group in enumerate(groups) for v in group}
    before = [set() for _ in stages]
    for v, (i, g) in group_of.items():
        before[i] |= {group_of[u][0] for u, _ in network.inputs[v] if group_of[u] != (i, g)}
    if keep_order:
        last = {}
        for i, (device, _) in enumerate(stages):
            if device in last:
                before[i].add(last[device])
            last[device] = i
    after = [[] for _ in stages]
    for i, earlier in enumerate(before):
        for j in earlier:
            after[j].append(i)
    missing = [len(earlier) for earlier in before]
    first = [min(members(groups)) for _, groups in stages]
    ready = [(first[i], i) for i in range(len(stages)) if missing[i] == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, i = heapq.heappop(ready)
        order.append(stages[i])
        for j in after[i]:
            missing[j] -= 1
            if missing[j] == 0:
                heapq.heappush(ready, (first[j], j))
    return order if len(order) == len(stages) else None


def latency_ms(network, stages, rule):
    """The latency of stages that are taken in this order. Inputs from operators in no stage are left out."""
    clock_ms, ends = {}, {}  # by device; by operator: its device and its end
    for device, groups in stages:
        start_ms = clock_ms.get(device, 0)
        for v in members(groups):
            for u, transfer_ms in network.inputs[v]:
                if u not in ends:
                    continue
                producers_device, end_ms = ends[u]
                waits_for_ms = end_ms if rule == PAPER else clock_ms[producers_device]
                start_ms = max(start_ms, waits_for_ms + (transfer_ms if producers_device != device else 0))
        clock_ms[device] = start_ms + network.stage_ms(groups)
        ends.update((v, (device, clock_ms[device])) for v in members(groups))
    return max(clock_ms.values())

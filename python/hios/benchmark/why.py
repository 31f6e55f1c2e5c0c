"""The longest path of a graph with costs: operators that must run one after the other, whatever runs at the same time.

Transfers are left out, because operators of a path can share a device. The times are those of the graph that
hios-schedule --export-graph wrote, which are medians of a profile."""

import json
from dataclasses import dataclass

NAMED = 4  # operators of the path that are named, those that take most


@dataclass(frozen=True)
class Path:
    """Operators in order with their times, and the time of all operators of the graph."""

    operators: tuple  # of (name, ms)
    work_ms: float

    @property
    def ms(self):
        return sum(ms for _, ms in self.operators)

    @property
    def share(self):
        return self.ms / self.work_ms if self.work_ms > 0 else 1.0

    def heaviest(self, most=NAMED):
        """The names of the operators that take most, in the order of the path."""
        chosen = sorted(range(len(self.operators)), key=lambda i: -self.operators[i][1])[:most]
        return [self.operators[i][0] for i in sorted(chosen)]

    def json(self):
        return {"ms": self.ms, "work_ms": self.work_ms, "share": self.share, "operators": len(self.operators),
                "heaviest": self.heaviest()}


def time_ms(operator):
    """An operator's time on the device where it is fastest."""
    time = operator["time_ms"]
    return min(time.values()) if isinstance(time, dict) else time


def in_order(names, successors):
    """The operators, each after those that it needs."""
    waiting = dict.fromkeys(names, 0)
    for each in successors.values():
        for name in each:
            waiting[name] += 1
    ready, order = [name for name in names if waiting[name] == 0], []
    while ready:
        name = ready.pop()
        order.append(name)
        for after in successors[name]:
            waiting[after] -= 1
            if waiting[after] == 0:
                ready.append(after)
    return order


def longest_path(graph):
    """The longest path of a hios-graph."""
    times = {operator["name"]: time_ms(operator) for operator in graph["operators"]}
    successors = {name: set() for name in times}
    for edge in graph["edges"]:
        successors[edge["from"]].add(edge["to"])
    rest_ms, following = {}, {}
    for name in reversed(in_order(list(times), successors)):
        following[name] = max(successors[name], key=lambda after: (rest_ms[after], after), default=None)
        rest_ms[name] = times[name] + (rest_ms[following[name]] if following[name] is not None else 0)
    name, path = max(times, key=lambda each: rest_ms[each], default=None), []
    while name is not None:
        path.append((name, times[name]))
        name = following[name]
    return Path(tuple(path), sum(times.values()))


def limit_of(way, rows):
    """The limit of all plans on a way: the largest lower bound that a row's schedule carries, and the longest path."""
    plans = [json.loads(row.schedule.read_text())["predicted"] for row in rows if row.way == way]
    largest = max(plans, key=lambda predicted: predicted["lower_bound_ms"])
    graph = json.loads(graph_file(rows[0].schedule.parent, way).read_text())
    return {"ranks": way.ranks, "threads": way.threads, "ms": largest["lower_bound_ms"], "bound": largest["bound"],
            "path": longest_path(graph).json()}


def graph_file(folder, way):
    return folder / f"graph-{way.key}.json"

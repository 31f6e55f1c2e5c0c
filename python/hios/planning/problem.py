"""A problem as schedulers see it: a graph and its costs on a platform."""

from typing import Any

from hios.errors import InputError
from hios.planning.core import core
from hios.planning.graph import Graph, graph_of
from hios.planning.numbers import count, short
from hios.planning.platform import Devices, Platform, platform_of


class Problem:
    """A graph and its costs on devices. A scheduler of one's own gets one (hios.scheduler).

    Operators go by their names, devices by their positions, from 0."""

    def __init__(self, graph: Graph, devices: Devices = 2) -> None:
        """Throws InputError where a cost is missing, such as the time of an edge that has only bytes on a platform without
        links."""
        self.graph = graph_of(graph)
        self.platform: Platform = platform_of(devices, self.graph)
        self.seconds_left: float = float("inf")
        """The seconds that a scheduler has when it is called."""
        self._compiled = core.Problem(self.graph._compiled, self.platform._compiled)
        self._times: list[list[float]] | None = None
        self._by_operator: tuple[dict[str, list[str]], dict[str, list[str]], dict[tuple[str, str], list[int]]] | None = None

    @property
    def devices(self) -> range:
        """The devices' positions."""
        return range(len(self.platform))

    def topological(self) -> list[str]:
        """The operators in an order in which each comes after those that it reads from."""
        return self.graph.topological()

    def time_ms(self, operator: str, device: int = 0) -> float:
        """The operator's time alone on a device; infinite where the device cannot run it."""
        if self._times is None:
            self._times = self._compiled.operator_ms()
        return self._times[self._device(device)][self.graph.index(operator)]

    def transfer_ms(self, producer: str, consumer: str, source: int, destination: int) -> float:
        """The time of the edge's tensor from one device to another, 0 on the same one. The longest of parallel edges counts."""
        for end in (producer, consumer):
            self.graph.index(end)
        edges = self._edges()[2].get((producer, consumer))
        if edges is None:
            raise InputError(f"the graph has no edge from {short(producer)} to {short(consumer)}")
        ends = self._device(source), self._device(destination)
        return max(self._compiled.transfer_ms(edge, *ends) for edge in edges)

    def producers(self, operator: str) -> list[str]:
        """The operators that it reads from, each once."""
        self.graph.index(operator)
        return self._edges()[0].get(operator, [])

    def consumers(self, operator: str) -> list[str]:
        """The operators that read from it, each once."""
        self.graph.index(operator)
        return self._edges()[1].get(operator, [])

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (self.graph, self.platform)

    def __repr__(self) -> str:
        return f"<hios.Problem: {self.graph!r} on {len(self.platform)} devices>"

    def _device(self, device: Any) -> int:
        return count(device, "device", 0, len(self.platform) - 1)

    def _edges(self) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[tuple[str, str], list[int]]]:
        if self._by_operator is None:
            producers: dict[str, list[str]] = {}
            consumers: dict[str, list[str]] = {}
            positions: dict[tuple[str, str], list[int]] = {}
            for i, (a, b) in enumerate(self.graph.edges):
                if (a, b) not in positions:
                    producers.setdefault(b, []).append(a)
                    consumers.setdefault(a, []).append(b)
                positions.setdefault((a, b), []).append(i)
            self._by_operator = producers, consumers, positions
        return self._by_operator

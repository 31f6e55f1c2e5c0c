"""Platforms: devices, and how tensors get from one to another."""

from numbers import Integral
from os import PathLike
from typing import Any, Union

from hios.errors import InputError
from hios.planning.core import core
from hios.planning.graph import Graph
from hios.planning.numbers import count as counted
from hios.planning.numbers import file_name, named, number, short, text, whole
from hios.planning.pickled import content_of, read_again

MOST_DEVICES = 65536
STREAMS_WHERE_OPERATORS_OVERLAP = 8  # as hios-schedule has it for graphs with costs of operators that run at the same time


class Platform:
    """Devices and the links between them. It does not change."""

    def __init__(self, compiled: core.Platform) -> None:
        """Use alike(), or hios.read() of a hios-platform file."""
        if not isinstance(compiled, core.Platform):
            raise InputError("a platform comes from hios.Platform.alike(4) or hios.read(file)")
        self._compiled = compiled

    @classmethod
    def alike(cls, count: int, *, streams: int = 1, kind: str = "cpu", memory_bytes: int = 0, gb_per_s: float | None = None,
              latency_ms: float = 0, contention: str = "none") -> "Platform":
        """Equal devices, kind0, kind1 and so on.

        streams: the most groups of operators that a device runs at the same time. memory_bytes: of each device, 0 for no
        limit. gb_per_s, latency_ms: of the link between any two, needed where edges have bytes instead of times. contention:
        "none", "link" (a pair of devices carries one tensor at a time) or "port" (a device sends one and receives one at a
        time)."""
        count = counted(count, "devices", 1, MOST_DEVICES)
        streams = counted(streams, "streams", 1, MOST_DEVICES)
        memory_bytes = whole(memory_bytes, "a device", "memory_bytes")
        if gb_per_s is None and latency_ms:
            raise InputError("latency_ms is that of a link: give gb_per_s, too")
        link = None
        if gb_per_s is not None:
            if not 1e-9 <= number(gb_per_s, "the link", "gb_per_s"):
                raise InputError(f"the link: its gb_per_s is {float(gb_per_s):g}: a number from 1e-9 to 1e+09 is wanted")
            link = (number(latency_ms, "the link", "latency_ms"), float(gb_per_s))
        return cls(core.alike(count, named(kind, "kind"), streams, memory_bytes, link, text(contention, "contention")))

    @property
    def devices(self) -> list[str]:
        """The devices' names."""
        return self._compiled.devices()

    @property
    def streams(self) -> list[int]:
        """For each device, the most groups of operators that it runs at the same time."""
        return self._compiled.streams()

    def save(self, file: "str | PathLike[str]", *, force: bool = False) -> None:
        """Writes a hios-platform file, which `hios-schedule --platform` reads. `force` replaces a file that is there."""
        self._compiled.write(file_name(file), force)

    def __len__(self) -> int:
        return self._compiled.device_count

    def __reduce__(self) -> tuple[Any, ...]:
        return Platform._read_again, (content_of(self._compiled),)

    @classmethod
    def _read_again(cls, content: bytes) -> "Platform":
        return cls(read_again(content, core.read_platform))

    def __repr__(self) -> str:
        names = self.devices
        shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        return f"<hios.Platform: {shown}>"


Devices = Union[int, Platform]


def platform_of(devices: Any, graph: Graph) -> Platform:
    """The platform that an argument names: itself, or a number of equal devices, which run one group of operators at a time,
    or eight where the graph has costs of operators that run at the same time."""
    if isinstance(devices, Platform):
        return devices
    if isinstance(devices, Integral) and not isinstance(devices, bool):
        return Platform.alike(int(devices), streams=STREAMS_WHERE_OPERATORS_OVERLAP if graph._compiled.overlaps else 1)
    raise InputError(f"devices is {short(devices)}: a number or a hios.Platform is wanted")

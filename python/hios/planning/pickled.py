"""Pickles of graphs and platforms, which multiprocessing sends to other processes: the content of their files."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar, Union

from hios.planning.core import core

Compiled = TypeVar("Compiled")


def content_of(compiled: Union[core.Graph, core.Platform]) -> bytes:
    """The bytes of the file that holds it."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "pickled.json"
        compiled.write(str(file), False)
        return file.read_bytes()


def read_again(content: bytes, reader: Callable[[str], Compiled]) -> Compiled:
    """Reads the bytes of a file by the compiled part's reader of such files."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "pickled.json"
        file.write_bytes(content)
        return reader(str(file))

"""The compiled part of the library."""

from hios.errors import HiosError

try:
    from hios import _core as core
except ImportError as error:
    raise HiosError(f"the library's compiled part cannot be loaded ({error}): pip install ./python builds it (docs/python.md)") from None

__all__ = ["core"]

"""Arrays of float32 in .npy files, row-major, without NumPy."""

import ast
import sys
from array import array

MAGIC = b"\x93NUMPY"


def write_npy(file, dims, values):
    """Writes an array('f') of these extents."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({''.join(f'{extent}, ' for extent in dims)}), }}"
    header += " " * (-(len(MAGIC) + 5 + len(header)) % 64) + "\n"
    with open(file, "xb") as out:
        out.write(MAGIC + b"\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        little_endian(values).tofile(out)


def read_npy(file):
    """Returns the extents and the values, an array('f'), of a file of float32 that hios-run or write_npy() wrote."""
    with open(file, "rb") as source:
        start = source.read(10)
        header = ast.literal_eval(source.read(int.from_bytes(start[8:], "little")).decode())
        if not start.startswith(MAGIC) or header["descr"] != "<f4" or header["fortran_order"]:
            raise ValueError(f"{file} is no .npy file of float32 in C order")
        values = array("f")
        values.frombytes(source.read())
    return list(header["shape"]), little_endian(values)


def little_endian(values):
    if sys.byteorder == "big":
        values = array("f", values)
        values.byteswap()
    return values

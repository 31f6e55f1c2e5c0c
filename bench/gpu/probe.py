"""Asks the driver for the GPU, in a process of its own, because a broken driver may hang or crash."""

import ctypes
import json
import sys

NAME_LENGTH = 256


def probe(library):
    """Returns {"gpu", "count", "driver"}, or {"why"}: the reason why there is none."""
    try:
        cuda = ctypes.CDLL(library)
    except OSError as error:
        return {"why": f"the driver's library cannot be opened ({error})"}
    status = cuda.cuInit(0)
    if status != 0:
        return {"why": f"the driver does not start (cuInit: error {status})"}
    count, version, device = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    if cuda.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return {"why": "the driver sees no GPU"}
    name = ctypes.create_string_buffer(NAME_LENGTH)
    cuda.cuDeviceGet(ctypes.byref(device), 0)
    cuda.cuDeviceGetName(name, NAME_LENGTH, device)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    return {"gpu": name.value.decode(), "count": count.value,
            "driver_cuda": f"{version.value // 1000}.{version.value % 1000 // 10}"}


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1])))

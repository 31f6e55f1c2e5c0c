"""Tests whether two processes can copy directly from each other's memory (cross memory attach).

Open MPI tests that itself and falls back, but with a warning per message, and in some containers it does not. So this
tests it once, between two processes of which neither started the other, and sets Open MPI's option.
"""

import ctypes
import os
import subprocess
import sys

WORD = b"readable"
CHILD_LIMIT_S = 20


class IoVec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def possible():
    """Returns True if it works; False also if the attempt fails."""
    holder = None
    try:
        holder = subprocess.Popen([sys.executable, __file__, "hold"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)
        address = holder.stdout.readline().strip()
        read = subprocess.run([sys.executable, __file__, "read", str(holder.pid), address], timeout=CHILD_LIMIT_S,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return read.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
    finally:
        if holder:
            holder.kill()
            holder.communicate()


def hold():
    """Prints the address of a word and waits to be killed."""
    word = ctypes.create_string_buffer(WORD, len(WORD))
    print(ctypes.addressof(word), flush=True)
    sys.stdin.read()


def read(pid, address):
    buffer = ctypes.create_string_buffer(len(WORD))
    here = IoVec(ctypes.addressof(buffer), len(WORD))
    there = IoVec(address, len(WORD))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    count = libc.process_vm_readv(pid, ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1),
                                  ctypes.c_ulong(0))
    return 0 if count == len(WORD) and buffer.raw == WORD else 1


if __name__ == "__main__":
    if sys.argv[1] == "hold":
        hold()
    else:
        os._exit(read(int(sys.argv[2]), int(sys.argv[3])))

"""The command line of ranks on this host."""

import functools
import os
import shutil
import subprocess

from hios.errors import InputError


@functools.cache
def is_open_mpi(mpirun):
    said = subprocess.run([mpirun, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return "Open MPI" in said.stdout or "OpenRTE" in said.stdout


def command(ranks, words):
    """The words that start a program on so many ranks; one rank needs no mpirun.

    Ranks pin their own threads, so mpirun must not bind them; it counts slots, where the programs count cores and refuse too
    many of them."""
    if ranks == 1:
        return list(words)
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        raise InputError(f"{ranks} ranks need mpirun, which is not in PATH: install Open MPI (Debian: apt-get install "
                         "openmpi-bin), or use one rank")
    flags = ["--bind-to", "none", "--oversubscribe"] if is_open_mpi(mpirun) else ["-bind-to", "none"]
    return ["mpirun", "-np", str(ranks), *flags, *words]


def environment():
    """The environment of programs: Open MPI asks root to say so twice."""
    result = dict(os.environ)
    if os.geteuid() == 0:
        result |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return result

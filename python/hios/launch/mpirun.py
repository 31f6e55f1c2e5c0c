"""The command line of ranks on this host."""

import functools
import os
import shutil
import subprocess

from hios.errors import InputError


MOST_PER_CORE = 16
JOBS_OF_CLUSTERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE")  # whose ranks are on several hosts


def refuse_too_many(ranks):
    """Throws InputError for ranks that would stop this host while they start, before the programs can refuse them."""
    cores = len(os.sched_getaffinity(0))
    if ranks > MOST_PER_CORE * cores and not any(name in os.environ for name in JOBS_OF_CLUSTERS):
        raise InputError(f"{ranks} ranks on {cores} core{'s' if cores > 1 else ''}: hios starts at most {MOST_PER_CORE} for each "
                         "core; use a job of a cluster (slurm/README.md), or a schedule for fewer devices")


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
    refuse_too_many(ranks)
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

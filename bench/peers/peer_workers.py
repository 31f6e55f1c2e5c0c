"""Starts peer_worker.py in the peers' Python: a new process for each request."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "peer_worker.py"


class WorkerError(Exception):
    """A failed request, with a one-line message."""


class Worker:
    def __init__(self, python):
        self.python = python

    def ask(self, request):
        """Sends a request and returns the answer. The affinity is inherited (on_cores)."""
        done = subprocess.run([self.python, "-B", SCRIPT, json.dumps(request)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            raise WorkerError(f"{request['do']}: {lines[-1] if lines else f'ended with status {done.returncode}'}")
        return json.loads(done.stdout.splitlines()[-1])


def cores(threads):
    """The last cores of this process: interrupts mostly go to the first ones."""
    own = sorted(os.sched_getaffinity(0))
    if threads > len(own):
        raise SystemExit(f"{threads} threads need as many cores, and there are {len(own)}")
    return own[-threads:]


@contextlib.contextmanager
def on_cores(chosen):
    """Processes started inside run on these cores, as under taskset."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

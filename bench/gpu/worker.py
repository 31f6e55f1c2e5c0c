"""The near end of torch_baseline.py: asks, waits as long as it may, and survives what happens over there."""

import json
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path

import steps

BASELINE = Path(__file__).with_name("torch_baseline.py")


class WorkerError(Exception):
    """A request failed; the worker may be gone."""


class Worker:
    """Starts with the first request, and again after a request that did not end. One thread uses it."""

    def __init__(self, environment, log, python=sys.executable, program=BASELINE):
        self.environment, self.log, self.python, self.program = environment, log, python, program
        self.process, self.pending = None, b""

    def start(self):
        self.pending = b""
        with self.log.open("a") as errors:
            self.process = subprocess.Popen([self.python, "-B", str(self.program)], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors, env=self.environment,
                                            start_new_session=True)

    def send(self, request):
        """Starts the request without waiting for its answer; `answer` must follow."""
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `answer` says so

    def answer(self, limit_s):
        end = time.monotonic() + limit_s
        selector = selectors.DefaultSelector()
        selector.register(self.process.stdout, selectors.EVENT_READ)
        try:
            while b"\n" not in self.pending:
                left = end - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self.stop()
                    raise WorkerError(f"ended by us after {limit_s:.0f} s")
                part = os.read(self.process.stdout.fileno(), 1 << 16)
                if not part:
                    self.stop()
                    raise WorkerError(f"PyTorch's process ended: {steps.tail(self.log.read_text(errors='replace'), 1)}")
                self.pending += part
        finally:
            selector.close()
        line, self.pending = self.pending.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer["ok"]

    def ask(self, request, limit_s):
        self.send(request)
        return self.answer(limit_s)

    def stop(self):
        if self.process is None:
            return
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        steps.kill_group(self.process)
        self.process.wait()
        self.process.stdout.close()
        self.process = None

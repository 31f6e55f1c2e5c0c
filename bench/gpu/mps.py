"""NVIDIA's Multi-Process Service: with it the kernels of two ranks run on one GPU concurrently, without it they alternate.
The daemon is private (with its own folders), is started once, and ends with the part that started it."""

import shutil
import subprocess

CONTROL = "nvidia-cuda-mps-control"
START_LIMIT_S, QUIT_LIMIT_S, TRIAL_LIMIT_S = 15, 15, 60


class Mps:
    """`why_not`: empty while it works, else the reason."""

    def __init__(self, installation, target, steps, scratch, control=shutil.which):
        self.installation, self.target, self.steps, self.scratch = installation, target, steps, scratch
        self.control = control(CONTROL)
        self.why_not = "not requested"

    def start(self):
        """Starts the daemon and tests it with two ranks that open the GPU. Never raises if it is not available."""
        if self.target.rehearsal:
            self.why_not = "a rehearsal"
        elif not self.control:
            self.why_not = f"{CONTROL} is not installed"
        else:
            self.why_not = self.begin() or self.trial()
            if self.why_not:
                self.stop(self.why_not)
        self.steps.say(f"MPS for rows of two ranks: {self.word}")
        return self

    @property
    def word(self):
        return f"no ({self.why_not})" if self.why_not else "yes"

    def environment(self):
        """The environment of programs that use it; empty if it does not work."""
        return {} if self.why_not else self.folders()

    def folders(self):
        return {"CUDA_MPS_PIPE_DIRECTORY": str(self.scratch / "mps"), "CUDA_MPS_LOG_DIRECTORY": str(self.scratch / "mps")}

    def begin(self):
        (self.scratch / "mps").mkdir(exist_ok=True)
        return self.tell(["-d"], "", START_LIMIT_S)

    def trial(self):
        command = [*self.installation.mpi(2), self.installation.programs / "hios-run", "--list-devices",
                   "--backend", self.target.backend, *self.target.shared("staged"), "-q"]
        outcome = self.steps.run("two ranks by MPS", command, TRIAL_LIMIT_S,
                                 {**self.installation.environment(), **self.folders()})
        return outcome.why

    def tell(self, words, text, limit_s):
        """Sends a command; returns an error or "". The output goes to a file: a daemon may keep a pipe open."""
        said = self.scratch / "mps" / "said.txt"
        try:
            with said.open("w") as output:
                done = subprocess.run([self.control, *words], input=text, stdout=output, stderr=subprocess.STDOUT,
                                      text=True, timeout=limit_s, env={**self.installation.environment(), **self.folders()})
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{CONTROL} failed: {error}"
        return "" if done.returncode == 0 else f"{CONTROL}: {said.read_text().strip() or f'status {done.returncode}'}"

    def stop(self, why="stopped"):
        if self.control and (self.scratch / "mps").is_dir():
            self.tell([], "quit\n", QUIT_LIMIT_S)
        self.why_not = why

"""NVIDIA's Multi-Process Service: with it the kernels of two ranks run on one GPU at the same time, without it they
take turns. Its daemon is ours alone (folders of its own), is asked for once, and ends with the part that wanted it."""

import shutil
import subprocess

CONTROL = "nvidia-cuda-mps-control"
START_LIMIT_S, QUIT_LIMIT_S, TRIAL_LIMIT_S = 15, 15, 60


class Mps:
    """`why_not`: empty while it serves, else why it does not."""

    def __init__(self, place, target, steps, scratch, control=shutil.which):
        self.place, self.target, self.steps, self.scratch = place, target, steps, scratch
        self.control = control(CONTROL)
        self.why_not = "not asked for"

    def start(self):
        """Tried by two ranks that open the GPU. Nothing fails where it cannot be had."""
        if self.target.rehearsal:
            self.why_not = "a rehearsal"
        elif not self.control:
            self.why_not = f"there is no {CONTROL} here"
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
        """For programs that are to use it; nothing where it does not serve."""
        return {} if self.why_not else self.folders()

    def folders(self):
        return {"CUDA_MPS_PIPE_DIRECTORY": str(self.scratch / "mps"), "CUDA_MPS_LOG_DIRECTORY": str(self.scratch / "mps")}

    def begin(self):
        (self.scratch / "mps").mkdir(exist_ok=True)
        return self.tell(["-d"], "", START_LIMIT_S)

    def trial(self):
        command = [*self.place.mpi(2), self.place.programs / "hios-run", "--list-devices",
                   "--backend", self.target.backend, *self.target.shared("staged"), "-q"]
        outcome = self.steps.run("two ranks by MPS", command, TRIAL_LIMIT_S,
                                 {**self.place.environment(), **self.folders()})
        return outcome.why

    def tell(self, words, text, limit_s):
        """Empty, or what went wrong. What it says goes to a file: a daemon may keep a pipe open for ever."""
        said = self.scratch / "mps" / "said.txt"
        try:
            with said.open("w") as output:
                done = subprocess.run([self.control, *words], input=text, stdout=output, stderr=subprocess.STDOUT,
                                      text=True, timeout=limit_s, env={**self.place.environment(), **self.folders()})
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{CONTROL} could not be asked: {error}"
        return "" if done.returncode == 0 else f"{CONTROL}: {said.read_text().strip() or f'status {done.returncode}'}"

    def stop(self, why="stopped"):
        if self.control and (self.scratch / "mps").is_dir():
            self.tell([], "quit\n", QUIT_LIMIT_S)
        self.why_not = why

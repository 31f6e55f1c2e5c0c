"""hios run with pictures or --top: converts, runs hios-run as a child, and reads its outputs."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hios.answers.arrays import read_npy
from hios.answers.labels import labels_for
from hios.answers.network import network
from hios.answers.tensor import is_array, tensor_for
from hios.answers.top import answer_lines, vector_length
from hios.errors import InputError
from hios.launch import mpirun
from hios.launch.programs import programs_folder
from hios.launch.start import take, take_all
from hios.words import split_name

HELP = """hios run: hios-run on as many ranks as the schedule has devices. Its own flags:

  --ranks N           so many ranks (default: the schedule's devices, or 1)
  --input photo.jpg   a picture, repeatable: several are a batch
  --preprocess imagenet|none|FILE
                      how a picture becomes the input. imagenet (the default):
                      the shorter side is resized to 256/224 of the model's, the
                      centre cropped, ImageNet's mean subtracted; none: the bytes
                      as they are; FILE: JSON with any of resize, crop, mean,
                      std, scale, layout
  --top K             print the K largest values of the output, with their
                      probabilities
  --labels FILE       the names of the classes, one per line

The others are hios-run's:
"""
SIZES = ("--batch", "--height", "--width")
WITHOUT_OUTPUT = ("--dry-run", "--export-onnx", "--list-devices", "--explain")


@dataclass
class Answers:
    """The work before and after hios-run."""
    inputs: list               # of --input
    preprocess: str | None
    top: int | None
    labels: str | None

    def needed(self):
        return bool(self.preprocess or self.top or self.labels or self.pictures())

    def pictures(self):
        return [each for each in self.inputs if not is_array(split_name(each)[1])]


def take_answers(words):
    """Removes the flags of answers. Returns them, and the words for hios-run."""
    inputs, rest = take_all(words, "--input")
    preprocess, rest = take(rest, "--preprocess")
    top, rest = take(rest, "--top")
    labels, rest = take(rest, "--labels")
    if top is not None and (not top.isdecimal() or int(top) == 0):
        raise InputError(f"--top {top}: a number of answers is wanted, such as 5")
    answers = Answers(inputs, preprocess, int(top) if top else None, labels)
    if not answers.needed():
        return answers, words
    return answers, rest


def check(answers, words):
    pictures = answers.pictures()
    if answers.labels and not answers.top:
        raise InputError(f"--labels {answers.labels} names the answers of --top: add --top 5")
    if answers.preprocess and not pictures:
        raise InputError(f"--preprocess {answers.preprocess} is for pictures, and --input names none: add --input photo.jpg, "
                         "or leave it out")
    if pictures and len(pictures) < len(answers.inputs):
        array = next(each for each in answers.inputs if each not in pictures)
        raise InputError(f"--input {array} is a whole input, and {pictures[0]} a picture: leave one of them out")
    names = {split_name(each)[0] for each in pictures}
    if len(names) > 1:
        raise InputError(f"--input gives pictures to several inputs ({', '.join(sorted(names))}), and a model has one")
    for flag in WITHOUT_OUTPUT if answers.top else ():
        if any(word == flag or word.startswith(flag + "=") for word in words):
            raise InputError(f"--top shows what a run computes, and {flag} computes nothing: leave one of them out")


def model_words(words, pictures):
    """The words that name the network in its size. Without a size it is the schedule's, as for hios-run; then a batch as large
    as the number of pictures, if they are several."""
    model, _ = take(words, "--model")
    if model is None:
        raise InputError("--model is needed: a built-in network, such as squeezenet, or an ONNX file")
    found = ["--model", model]
    for flag in (*SIZES, "--max-input"):
        value, _ = take(words, flag)
        found += [flag, value] if value is not None else []
    for each in take_all(words, "--dim")[0]:
        found += ["--dim", each]
    schedule, _ = take(words, "--schedule")
    if schedule is not None:
        return found + ([] if any(flag in found for flag in SIZES) else size_of(schedule))
    return found + (["--batch", str(pictures)] if pictures > 1 and "--batch" not in found else [])


def size_words(graph):
    """The flags of a size; 1x1 is that of inputs that are no images, too, which refuse the flags."""
    image = (graph["height"], graph["width"]) != (1, 1)
    return [word for flag in (SIZES if image else SIZES[:1]) for word in (flag, str(graph[flag[2:]]))]


def size_of(schedule):
    """The flags of a schedule's size; none where the file cannot be read, since the program will say why."""
    try:
        graph = json.loads(Path(schedule).read_text())["graph"]
        return size_words(graph) if graph["batch"] > 0 else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def form_of(model, words):
    """The network of these words. A schedule has the extents of one input with a batch; several inputs have the file's own."""
    if "--schedule" in words and not any(flag in words for flag in SIZES):
        bare = [word for i, word in enumerate(model) if word not in SIZES and (i == 0 or model[i - 1] not in SIZES)]
        try:
            form = network(bare)
        except InputError:  # extents that the file leaves open
            return network(model)
        if len(form.inputs) > 1 or len(form.inputs[0].dims) < 2:
            return form
    return network(model)


def run(answers, words, ranks):
    """Returns the exit status."""
    check(answers, words)
    pictures = answers.pictures()
    model = model_words(words, len(pictures))
    form = form_of(model, words)
    if answers.top:
        length = vector_length(form, answers.top)
        labels = labels_for(answers.labels, length) if answers.labels else None
    quiet = "-q" in words or "--quiet" in words
    with tempfile.TemporaryDirectory(prefix="hios-") as folder:
        for each in [] if pictures else answers.inputs:
            words = [*words, "--input", each]
        if pictures:
            name = split_name(pictures[0])[0]
            tensor = tensor_for(form, [split_name(each)[1] for each in pictures], answers.preprocess or "imagenet", folder,
                                (lambda line: None) if quiet else print)
            words = [*words, "--input", f"{name}:{tensor}" if name else tensor]
            if len(pictures) > 1 and "--schedule" not in words and take(words, "--batch")[0] is None:
                words += ["--batch", str(len(pictures))]
        outputs = take(words, "--outputs")[0]
        if answers.top and outputs is None:
            outputs = str(Path(folder) / "outputs")
            words = [*words, "--outputs", outputs]
        status = run_child(mpirun.command(ranks, [str(programs_folder() / "hios-run"), *words]))
        if answers.top and status in (0, 1):
            show(outputs, [split_name(each)[1] for each in answers.inputs], form, answers.top, labels)
    return status


def show(folder, files, form, count, labels):
    """Prints the answers for each input of the batch."""
    output = json.loads((Path(folder) / "outputs.json").read_text())["outputs"][0]
    _, values = read_npy(Path(folder) / output["file"])
    length = len(values) // form.batch
    for i in range(form.batch):
        of = f"{files[i]}, " if len(files) == form.batch and len(form.inputs) == 1 else f"input {i}, " if form.batch > 1 else ""
        title = f"{of}top {count} of '{output['name']}'"
        print("\n".join(answer_lines(title, values[i * length:(i + 1) * length], count, labels)))
    if labels is None:
        print("(indices; --labels FILE names them, one per line)")


def run_child(command):
    """Runs a command in the foreground and returns its exit status; 128 + n for signal n.

    Signals that were sent to this process alone are passed on. The terminal sends its own (Ctrl-C) to the child as well, which
    would take a second one for impatience."""
    passed_on = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    awaited = passed_on | {signal.SIGCHLD}
    sys.stdout.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    try:
        child = subprocess.Popen(command, env=mpirun.environment(),
                                 preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before))
        while child.poll() is None:
            came = signal.sigwaitinfo(awaited)
            if came.si_signo in passed_on and came.si_code <= 0:  # sent by a process, not by the terminal
                os.kill(child.pid, came.si_signo)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode

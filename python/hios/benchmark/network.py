"""The network that is measured, as flags of the programs, and its time on one core."""

import json
from dataclasses import dataclass
from pathlib import Path

from hios.errors import InputError
from hios.launch.programs import Programs, programs_folder
from hios.words import split_name

READ_BY_PROGRAMS = (".npy", ".bin")
CUT_WORDS = ("none", "auto")  # of --cut: no rows of their own, or two for each number of ranks; a file is for all rows


@dataclass(frozen=True)
class Network:
    """`flags` select the model in all programs, `inputs` its values in hios-run."""

    model: str
    flags: tuple
    inputs: tuple = ()
    seed: int = 0

    @property
    def label(self):
        """A file's name without its folder and ending."""
        return Path(self.model).stem if "/" in self.model or "." in self.model else self.model

    def operators(self, programs):
        """The number of operators. hios-schedule refuses what is no model, before anything runs."""
        return len(programs.json("hios-schedule", *self.flags, "--list-operators")["operators"])


def programs_of(args):
    """The programs of parsed arguments. Throws InputError where they are not."""
    if args.programs and not (args.programs / "hios-schedule").exists():
        raise InputError(f"--programs {args.programs}: no hios-schedule there")
    return Programs(args.programs or programs_folder())


def network_of(args):
    """The network of parsed arguments."""
    flags = ["--model", args.model]
    for name in ("batch", "height", "width", "fusion", "merge", "cut"):
        value = getattr(args, name, None)
        if value is not None and not (name == "cut" and value in CUT_WORDS):
            flags += [f"--{name}", str(value)]
    for dim in getattr(args, "dim", None) or []:
        flags += ["--dim", dim]
    return Network(args.model, tuple(flags), (), args.seed)


def inputs_of(files, preprocess, network, folder):
    """The flags of hios-run for these input files; pictures become an .npy file in the folder. Throws InputError."""
    if not files:
        return ()
    missing = [file for file in files if not Path(split_name(file)[1]).exists()]
    if missing:
        raise InputError(f"--input {missing[0]}: no such file")
    if all(Path(file).suffix in READ_BY_PROGRAMS for file in files):
        return tuple(word for file in files for word in ("--input", str(file)))
    try:
        from hios.answers.tensor import tensor_for
    except ImportError as error:
        raise InputError(f"--input {files[0]}: pictures cannot be read here ({error}): give an .npy file") from error
    name = split_name(files[0])[0]
    tensor = tensor_for(list(network.flags), [split_name(file)[1] for file in files], preprocess, folder)
    return "--input", f"{name}:{tensor}" if name else tensor


def first_answer(programs, network, folder):
    """A few runs on one core, at once. Returns their report."""
    file = folder / "first.json"
    programs.run("hios-run", *network.flags, *network.inputs, "--threads", 1, "--seed", network.seed, "--warmup", 1,
                 "--iterations", 3, "--duration", 1, "--json", file, "-q")
    return json.loads(file.read_text())

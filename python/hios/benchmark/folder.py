"""The folder of results: only files that a comparison wrote are replaced, whatever else is there stays."""

import json
import re

from hios.errors import InputError

MARK = ".hios-bench"
OURS = re.compile(r"(profile(-cut)?|summary|first|throughput|graph-\d+x\d+|(schedule|report|trace)-\d+x\d+-[a-z-]+)\.json|"
                  r"input\.npy|report\.html|" + re.escape(MARK))
FOLDERS = {"rounds": re.compile(r"(report-\d+x\d+-[a-z-]+-\d+|bare-\d+)\.json"),
           "turns": re.compile(r"\d+x\d+-.+\.json"),
           "turns-cut": re.compile(r"\d+x\d+-.+\.json")}


def is_ours(folder):
    """True if a comparison made this folder: it left its mark, or a summary."""
    if (folder / MARK).exists():
        return True
    try:
        return json.loads((folder / "summary.json").read_text()).get("format") == "hios-summary"
    except (OSError, ValueError, AttributeError):
        return False


def remove_results(folder):
    """Removes the files whose names are ours, and the folders that this leaves empty."""
    for name, pattern in FOLDERS.items():
        inner = folder / name
        if inner.is_dir() and not inner.is_symlink():
            remove_matching(inner, pattern)
            if not any(inner.iterdir()):
                inner.rmdir()
    remove_matching(folder, OURS)


def remove_matching(folder, pattern):
    for file in folder.iterdir():
        if pattern.fullmatch(file.name) and (file.is_file() or file.is_symlink()):
            file.unlink()


def prepare(folder, force, folders=tuple(FOLDERS)):
    """Makes the folder, without results of an earlier comparison. Throws InputError for one that holds other things."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: name another folder by --output")
    if folder.is_dir() and any(folder.iterdir()):
        if not force and not is_ours(folder):
            raise InputError(f"{folder} holds files that hios bench did not make: name another folder by --output, or give "
                             "--force (files with other names than ours stay)")
        remove_results(folder)
    try:
        for name in folders:
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text("made by hios bench, which may replace its files here\n")
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}: name another folder by --output") from error

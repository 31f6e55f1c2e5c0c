"""Writes the manual pages of hios and its programs, and their completion for bash, zsh and fish, into a folder that is laid out
like /usr/share.
"""

import argparse
import sys
from pathlib import Path

from hios.errors import HiosError
from hios.manual import bash, fish, troff, zsh
from hios.manual.commands import command_page
from hios.manual.pages import PROGRAMS, describe, page_of

# The folder of each kind of file, and the name of the file of a program.
KINDS = {
    troff: ("man/man1", "{}.1"),
    bash: ("bash-completion/completions", "{}"),
    zsh: ("zsh/site-functions", "_{}"),
    fish: ("fish/vendor_completions.d", "{}.fish"),
}


def files_of(pages):
    """The text of every file, by its path in the folder."""
    return {f"{folder}/{name.format(page.name)}": kind.text(page)
            for kind, (folder, name) in KINDS.items() for page in pages}


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main(words):
    parser = argparse.ArgumentParser(prog="python3 -m hios.manual", description=" ".join(__doc__.split()))
    parser.add_argument("--programs", type=Path, required=True, help="folder of hios-profile, hios-schedule and hios-run")
    parser.add_argument("--output", type=Path, required=True, help="folder for the files, which are replaced")
    args = parser.parse_args(words)
    try:
        programs = [page_of(describe(args.programs / name)) for name in PROGRAMS]
    except HiosError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.status
    write(args.output, files_of([command_page(programs), *programs]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""hios report: one HTML page from files of the programs, which opens anywhere, without a network."""

import argparse
import sys
from pathlib import Path

from hios.errors import HiosError, InputError
from hios.files import written_whole
from hios.page.difference import difference_of, single, timeline_of
from hios.page.reading import read, read_all
from hios.page.render import jinja, page_of
from hios.page.runs import join
from hios.words import meant_flag

EPILOG = """examples:
  hios report build/demo -o report.html
  hios report report.json schedule.json trace.json -o report.html
  hios report --compare before.json after.json -o change.html

Files: reports (hios-run --json), schedules (hios-schedule --output), comparisons (hios-schedule --compare --json),
traces (--trace, --timeline) and summary.json of hios bench, with the reports, schedules and traces in its folder.
A folder stands for its summary.json, or for those of the folders in it, as a sweep over networks has them.
A schedule and a trace are joined with the report of their run. - is standard input, and standard output after -o.
Times are in ms, sizes in bytes (1 MB = 10^6 bytes). Exit status: 0 done, 2 bad usage or input."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are those of the command: one line, exit status 2."""

    def error(self, message):
        raise InputError(f"hios report: {message}{meant_flag(message, self._option_string_actions)}: see hios report --help")


def arguments(words):
    parser = Parser(prog="hios report", description=" ".join(__doc__.split()), epilog=EPILOG, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="what the page shows: files, or folders with a summary.json")
    parser.add_argument("-o", "--output", metavar="PAGE", required=True, help="the page to write (.html)")
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"),
                        help="two reports or schedules side by side, with the difference of each operator")
    parser.add_argument("--title", help="heading of the page (default: the network's name)")
    parser.add_argument("--force", action="store_true", help="replace a page that exists")
    args = parser.parse_args(words)
    if not args.files and not args.compare:
        parser.error("no file to show")
    return args


def write(text, output):
    try:
        with written_whole(output) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HiosError(f"{output} cannot be written: {error.strerror}") from None


def write_page(files, output, title=None):
    """Reads the files and writes their page, in place of an older one. Raises InputError for a file that is not ours."""
    jinja()
    read_files = read_all(files)
    write(page_of(read_files, join(read_files), title), output)


def compared(words):
    """The two runs of --compare, as a function of the page's limits, and their files."""
    if words.count("-") > 1:
        raise InputError("standard input (-) is given twice, and can be read once")
    files = [read(word) for word in words]
    first, second = (single([file]) for file in files)
    return files, lambda limits: {**difference_of(first, second), "limit": limits.layers,
                                  **(timeline_of(first, second) if limits.timelines else {"timeline": None})}


def refuse_existing(output, force):
    path = Path(output)
    if path.is_dir():
        raise InputError(f"{output} is a folder: name a file, such as {path / 'report.html'}")
    if not path.parent.is_dir():
        raise InputError(f"{output}: its folder does not exist: mkdir -p {path.parent}")
    if path.exists() and not force:
        raise InputError(f"{output} exists: add --force to replace it")


def main(words):
    args = arguments(words)
    if args.output != "-":
        refuse_existing(args.output, args.force)
    jinja()
    if "-" in args.files and args.compare and "-" in args.compare:
        raise InputError("standard input (-) is given twice, and can be read once")
    files = read_all(args.files)
    pair, difference = compared(args.compare) if args.compare else ([], None)
    runs = join(files or pair)
    text = page_of(files or pair, runs, args.title, difference)
    if args.output == "-":
        sys.stdout.buffer.write(text.encode())
        return
    write(text, args.output)
    print(f"wrote {args.output}: open it in a browser")

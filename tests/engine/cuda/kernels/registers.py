#!/usr/bin/env python3
"""Registers and spills of every kernel, as the assembler of CUDA reports them; needs no GPU.

measure: compiles the sources for each architecture, writes and prints a table.
check: fails if a line of such a table is above the limits, or the table is empty.
"""
import argparse
import concurrent.futures
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPORT = re.compile(
    r"Compiling entry function '(?P<name>\S+)' for '(?P<architecture>\S+)'"
    r".*?(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers", re.DOTALL)
HEADER = "registers  stack  spilled  architecture  kernel"


def compiled(nvcc, architecture, source, options):
    """Returns the assembler's report of one source."""
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, *options, f"-arch=sm_{architecture}", "-Xptxas=-v", "-cubin", source, "-o",
                   str(Path(folder) / "kernels.cubin")]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{source} does not compile for sm_{architecture}:\n{done.stderr}")
    return done.stderr


def demangled(names):
    """Returns readable names if binutils are installed."""
    if shutil.which("c++filt") is None:
        return names
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout
    plain = [re.sub(r"^void |hios::cuda::|\(anonymous namespace\)::", "", line)
             for line in text.splitlines()]
    return [line.split("(")[0] for line in plain]


def lines_of(reports):
    found = [match.groupdict() for report in reports for match in REPORT.finditer(report)]
    for one, name in zip(found, demangled([one["name"] for one in found])):
        one["name"] = name
    found.sort(key=lambda one: (one["name"], one["architecture"]))
    return [f"{one['registers']:>9}  {one['stack']:>5}  {int(one['stores']) + int(one['loads']):>7}"
            f"  {one['architecture']:>12}  {one['name']}" for one in found]


def measure(arguments):
    numbers = sorted({int(number) for text in arguments.architectures
                      for number in re.findall(r"^\d+", text)}) or [90]
    options = ["-std=c++20", "-O3", "-DNDEBUG", f"-I{arguments.include}"]
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        reports = list(workers.map(lambda job: compiled(arguments.nvcc, *job, options),
                                   [(n, source) for source in arguments.sources for n in numbers]))
    table = "\n".join([HEADER, *lines_of(reports)]) + "\n"
    Path(arguments.table).write_text(table, encoding="utf-8")
    print(table, end="")


def check(arguments):
    table = Path(arguments.table).read_text(encoding="utf-8")
    print(table, end="")
    wrong = []
    kernels = table.splitlines()[1:]
    for line in kernels:
        registers, stack, spilled, architecture, name = line.split(maxsplit=4)
        if int(registers) > arguments.registers:
            wrong.append(f"{name} takes {registers} registers on {architecture}, more than "
                         f"{arguments.registers}")
        if int(stack) > 0 or int(spilled) > 0:
            wrong.append(f"{name} has {stack} bytes of stack on {architecture} and moves {spilled} "
                         "bytes of registers to memory and back")
    if not kernels:
        wrong.append(f"{arguments.table} lists no kernel")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True, help="the file written, or read")
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("measure")
    part.add_argument("--nvcc", required=True)
    part.add_argument("--include", required=True)
    part.add_argument("--architectures", nargs="+", required=True, help="as CMake has them")
    part.add_argument("--sources", nargs="+", required=True)
    part.set_defaults(run=measure)
    part = parts.add_parser("check")
    part.add_argument("--registers", type=int, required=True, help="the most that a kernel may take")
    part.set_defaults(run=check)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The last step of scripts/pack-gpu.sh: copies programs, libraries and benches into one tree.

The tree is an Open MPI prefix (OPAL_PREFIX is set to it) with our programs in its bin. Every library is found
relative to the program that needs it. Libraries that the machine provides are listed here; any other missing
library is an error. Standard library only; calls ldd, strip, chrpath and ctest.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Libraries of the machine: the C library, and NVIDIA's libraries by their own folders (bench/gpu/installations.py).
C_LIBRARY = r"linux-vdso|ld-linux-x86-64|lib(c|m|dl|pthread|rt|util|resolv)"
NVIDIA = r"lib(cuda|cudart|cudnn\w*|cublas|cublasLt|nvrtc|nvidia-ml)"
OUTSIDE = re.compile(rf"^({C_LIBRARY}|{NVIDIA})\.so(\.|$)")
# The machine's may be newer; ours is for a machine that has none.
FALLBACK = re.compile(r"^lib(stdc\+\+|gcc_s)\.so\.")
OPENMPI_PROGRAMS = ("mpirun", "orted", "ompi_info")
BENCH_FILES = ("bench/gpu.sh", "python/hios/__init__.py", "python/hios/benchmark/__init__.py",
               "python/hios/benchmark/samples.py", "LICENSE")


def ldd(file, first=None):
    """{name: path, or None if it is missing} of all libraries that the file needs, also indirectly. `first`: a folder that
    is searched before all others, except for those that the file names."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(first or "")}
    done = subprocess.run(["ldd", file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"ldd {file}: {done.stdout.strip()}")
    return parse_ldd(done.stdout)


def parse_ldd(text):
    needed = {}
    for line in text.splitlines():
        match = re.match(r"\s*(\S+) => (not found|\S+)", line)
        if match:
            needed[Path(match[1]).name] = None if match[2] == "not found" else Path(match[2])
    return needed


def is_elf(file):
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def copy(source, target):
    """Copies a file; of a link, its target."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(Path(source).resolve(strict=True), target)
    target.chmod(0o755 if target.parent.name == "bin" or target.suffix == ".sh" else 0o644)


def copy_openmpi(prefix, tree):
    for name in OPENMPI_PROGRAMS:
        copy(prefix / "bin" / name, tree / "bin" / name)
    for plugin in sorted((prefix / "lib").glob("*/*.so")):  # Open MPI's own and PMIx's
        copy(plugin, tree / "lib" / plugin.parent.name / plugin.name)
    for folder in ("share/openmpi", "share/pmix", "etc"):
        for file in sorted((prefix / folder).rglob("*")):
            if file.is_file() and not file.name.endswith("wrapper-data.txt"):
                copy(file, tree / folder / file.relative_to(prefix / folder))


def elf_files(tree):
    files = [file for folder in ("bin", "lib") for file in sorted((tree / folder).rglob("*"))]
    return [file for file in files if file.is_file() and is_elf(file)]


def copy_libraries(tree, openmpi):
    """Copies the libraries that the programs and the plugins need, also indirectly. Takes those of `openmpi`, not of this
    machine's Open MPI, which have the same names."""
    for file in elf_files(tree):
        for name, path in ldd(file, openmpi / "lib").items():
            folder = tree / "lib" / "fallback" if FALLBACK.match(name) else tree / "lib"
            if OUTSIDE.match(name) or path is None or (folder / name).exists():
                continue
            copy(path, folder / name)


def make_relocatable(file, tree):
    """Strips a file, and makes its search path relative to the tree."""
    subprocess.run(["strip", "--strip-unneeded", file], check=True)
    listed = subprocess.run(["chrpath", "--list", file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if listed.returncode == 0 and "PATH=" in listed.stdout:
        path = {tree / "bin": "$ORIGIN/../lib", tree / "lib": "$ORIGIN"}.get(file.parent, "$ORIGIN/..")
        subprocess.run(["chrpath", "--replace", path, file], check=True, stdout=subprocess.DEVNULL)


def missing_libraries(tree):
    """'FILE needs NAME' for each library that is neither in the tree nor expected on the machine."""
    missing = []
    for file in elf_files(tree):
        for name, path in ldd(file).items():
            if OUTSIDE.match(name) or (FALLBACK.match(name) and (tree / "lib/fallback" / name).exists()):
                continue
            if path is None or tree not in path.resolve().parents:
                missing.append(f"{file.relative_to(tree)} needs {name}" + (f", found only as {path}" if path else ""))
    return missing


def test_runs(listing, programs):
    """The runs of the test programs in CTest: [{"program", "ranks", "arguments", "environment"}]; ranks 0 for programs
    that are started without mpirun. `listing`: the output of ctest --show-only=json-v1."""
    runs = {}
    for test in listing["tests"]:
        command = test.get("command", [])
        for position, word in enumerate(command):
            name = Path(word).name
            if name not in programs:
                continue
            before, after = command[:position], command[position + 1:]
            if "-np" not in before:
                runs.setdefault((name, 0), {"program": name, "ranks": 0, "arguments": [], "environment": {}})
                break
            properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
            environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
            own = {key: value for key, value in environment.items() if not key.startswith(("OMPI_", "LSAN", "TSAN"))}
            ranks = int(before[before.index("-np") + 1])
            runs[test["name"], ranks] = {"program": name, "ranks": ranks, "arguments": after, "environment": own}
            break
    return [runs[key] for key in sorted(runs)]


def described(build, programs, architectures):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    tests = [program for program in programs if program.endswith("tests")]
    runs = test_runs(json.loads(listing), tests)
    unlisted = sorted(set(tests) - {run["program"] for run in runs})
    if unlisted:
        sys.exit(f"CTest knows no run of {', '.join(unlisted)}")
    git = ["git", "-C", ROOT]
    commit = subprocess.run([*git, "rev-parse", "HEAD"], stdout=subprocess.PIPE, text=True).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain"], stdout=subprocess.PIPE, text=True).stdout.strip()
    return {"format": "hios-gpu-pack", "version": 1, "commit": commit + ("+changes" if changed else ""),
            "architectures": architectures, "tests": runs}


def main():
    parser = argparse.ArgumentParser(description=" ".join(__doc__.split("\n\n")[0].split()))
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--openmpi", type=Path, required=True)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--architectures", required=True)
    parser.add_argument("programs", nargs="+")
    args = parser.parse_args()
    tree = args.tree.resolve()
    for program in args.programs:
        copy(args.build / "bin" / program, tree / "bin" / program)
    copy_openmpi(args.openmpi, tree)
    copy_libraries(tree, args.openmpi)
    for file in elf_files(tree):
        make_relocatable(file, tree)
    for name in BENCH_FILES:
        copy(ROOT / name, tree / name)
    for file in [*(ROOT / "bench/gpu").glob("*.py"), *(ROOT / "bench/results").glob("nvidia-*.[jm]*")]:
        copy(file, tree / file.relative_to(ROOT))
    manifest = described(args.build, args.programs, args.architectures)
    (tree / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    missing = missing_libraries(tree)
    if missing:
        sys.exit("the tree lacks libraries for another machine:\n  " + "\n  ".join(missing))


if __name__ == "__main__":
    main()

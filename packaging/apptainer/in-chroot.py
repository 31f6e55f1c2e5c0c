#!/usr/bin/env python3
"""Runs a definition file of Apptainer without Apptainer: each stage's %files, %post and %test, as they stand in the file,
in a chroot that debootstrap makes of the same distribution. Needs root, debootstrap and Debian's archive; takes minutes.

    in-chroot.py FILE.def [--argument PRESET=quick] [--folder FOLDER]
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
SUITES = {"debian:12": "bookworm", "debian:12-slim": "bookworm", "debian:13": "trixie", "debian:13-slim": "trixie"}
SECTION = re.compile(r"^%(\w+)(?: from (\w+))?\s*$")


def stages(text, arguments=()):
    """The stages of a definition file: the headers, and its sections' lines by their names, "files from" among them."""
    found = []
    for line in text.splitlines():
        header = re.match(r"^(\w+): (.*)$", line)
        if header and header[1] == "Bootstrap":
            found.append({"headers": {}, "sections": {}})
            section = None
        if match := SECTION.match(line):
            section = found[-1]["sections"].setdefault(match[1], [])
            if match[2]:
                found[-1]["headers"]["files from"] = match[2]
        elif header and section is None:
            found[-1]["headers"][header[1]] = header[2]
        elif found and section is not None:
            section.append(line)
    values = {}
    for stage in found:
        values |= dict(line.strip().split("=", 1) for line in stage["sections"].get("arguments", ()) if line.strip())
    values |= dict(arguments)
    for stage in found:
        for lines in stage["sections"].values():
            lines[:] = [re.sub(r"\{\{ (\w+) \}\}", lambda name: values[name[1]], line) for line in lines]
    return found


def inside(root, lines, environment):
    """Runs a section's lines in a chroot, which is a mount and has /proc, /sys and /dev while they run."""
    script = "\n".join(["mount --bind . .", 'cd "$(pwd -P)"', "mount -t proc proc proc", "mount --rbind /sys sys",
                        "mount --rbind /dev dev", 'exec chroot . /bin/sh -c "$0"'])
    subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script,
                    "\n".join([*environment, *lines])], cwd=root, check=True, stdin=subprocess.DEVNULL)


def made_base(folder, suite):
    """Makes a chroot of a suite by debootstrap, once for all stages."""
    base = folder / f"base-{suite}"
    if not base.exists():
        subprocess.run(["debootstrap", "--variant=minbase", suite, f"{base}.partial"], check=True, stdout=subprocess.DEVNULL)
        Path(f"{base}.partial").rename(base)
    return base


def copied_files(stage, root, roots):
    """Copies %files: of the checkout what git knows, of an earlier stage whole folders."""
    origin = roots.get(stage["headers"].get("files from"))
    for line in filter(str.strip, stage["sections"].get("files", ())):
        source, target = line.split()
        if origin:
            shutil.copytree(origin / source.lstrip("/"), root / target.lstrip("/"), symlinks=True)
        else:
            to = root / target.lstrip("/")
            to.mkdir(parents=True)
            archive = subprocess.run(["git", "archive", "HEAD", source], cwd=CHECKOUT, check=True, capture_output=True).stdout
            subprocess.run(["tar", "-x", "-C", to], input=archive, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--argument", action="append", default=[], metavar="NAME=VALUE", help="as apptainer's --build-arg")
    parser.add_argument("--folder", type=Path, help="keep the chroots here (default: a temporary folder)")
    parser.add_argument("--base", type=Path, help="a chroot to copy instead of calling debootstrap")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hios-chroot-") as temporary:
        folder, roots = given.folder or Path(temporary), {}
        folder.mkdir(parents=True, exist_ok=True)
        for stage in stages(given.file.read_text(), [each.split("=", 1) for each in given.argument]):
            image, name = stage["headers"]["From"], stage["headers"]["Stage"]
            if image not in SUITES:
                sys.exit(f"{given.file}: the image {image} cannot be made by debootstrap (it makes {', '.join(SUITES)})")
            root = roots[name] = folder / name
            print(f"== {given.file.name}, stage {name}: {SUITES[image]}", flush=True)
            base = given.base or made_base(folder, SUITES[image])
            subprocess.run(["cp", "-a", base, root], check=True)  # device files, too
            # Certificates that this machine trusts next to Debian's, such as a proxy's: scripts/setup.sh fetches HiGHS.
            shutil.copytree("/usr/local/share/ca-certificates", root / "usr/local/share/ca-certificates", dirs_exist_ok=True)
            copied_files(stage, root, roots)
            environment = stage["sections"].get("environment", [])
            for section in ("post", "test"):
                if lines := stage["sections"].get(section):
                    print(f"== %{section}", flush=True)
                    inside(root, lines, environment if section == "test" else [])
    print(f"{given.file.name}: %post and %test succeeded in chroots")


if __name__ == "__main__":
    main()

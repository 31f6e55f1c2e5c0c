#!/usr/bin/env python3
"""Runs hios_check.py by ReFrame on the cluster of tests/slurm: a real Slurm of two nodes on this machine. Needs what
scripts/setup.sh --slurm installs, and reframe (package reframe-hpc):

    on-test-cluster.py PROGRAMS [ARGUMENT OF REFRAME…]
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "tests" / "slurm"))

from cluster import Cluster, missing  # noqa: E402: the folder is not a package

# The nodes have a core each, so a node runs one rank. Smaller inputs do not fit inception_v3.
SETTINGS = {"bin": None, "size": 80, "ranks_per_node": 1, "iterations": 10}


def main():
    if lacking := missing():
        sys.exit(f"there is no Slurm: {', '.join(lacking)} (scripts/setup.sh --slurm installs it)")
    programs, *arguments = sys.argv[1:]
    settings = SETTINGS | {"bin": str(Path(programs).resolve())}
    words = [word for name, value in settings.items() for word in ("-S", f"hios_check.{name}={value}")]
    with Cluster(nodes=2) as cluster:
        done = subprocess.run(
            ["reframe", "-C", FOLDER / "settings.py", "-c", FOLDER / "hios_check.py", "--prefix", cluster.folder / "reframe",
             "--report-file", cluster.folder / "report.json", "-r", "--performance-report", *words, *arguments],
            env=cluster.environment, cwd=cluster.folder, check=False)
        if done.returncode != 0:
            for file in sorted(cluster.folder.glob("reframe/stage/**/rfm_job.*")):
                print(f"== {file.parent.name}/{file.name}\n{file.read_text(errors='replace')}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

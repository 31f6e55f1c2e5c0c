"""The programs that a bench starts."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def built():
    """Builds the programs and returns their folder."""
    for command in (["scripts/setup.sh"], ["cmake", "--preset", "release"],
                    ["cmake", "--build", "--preset", "release", "--target", "hios-profile", "hios-schedule", "hios-run"]):
        subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=True)
    return ROOT / "build/release/bin"

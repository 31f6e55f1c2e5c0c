"""The machine that a bench runs on."""

import re
from pathlib import Path


def processor():
    """Returns the processor's name."""
    name = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return name.group(1).strip() if name else "unknown processor"

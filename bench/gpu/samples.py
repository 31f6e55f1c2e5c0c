"""Statistics of latencies, as in python/hios/benchmark and hios-run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from hios.benchmark.samples import summarize_samples as summarize  # noqa: E402,F401

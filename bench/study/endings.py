"""Endings that the studies' programs share."""

import importlib
import sys


def draw(module, results):
    """Has a module of pictures, which imports Matplotlib, draw all of its own into the folder of results."""
    try:
        plots = importlib.import_module(module)
    except ImportError:
        sys.exit("plots need matplotlib: scripts/setup.sh --bench")
    plots.draw_all(results)

"""Draws every figure that has results, from the CSV files alone."""

import sys


def draw_all(folder):
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        sys.exit("plots need matplotlib: scripts/setup.sh --bench")
    import plots_measured
    import plots_simulated
    for draw in (plots_simulated.draw, plots_measured.draw_contention, plots_measured.draw_networks):
        draw(folder)

"""The style of plots except colours (looks.py): units on axes, PNG and SVG."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

plt.rcParams.update({
    "figure.figsize": (6.4, 4.0), "figure.dpi": 110, "savefig.dpi": 110, "figure.constrained_layout.use": True,
    "font.size": 10, "axes.grid": True, "grid.alpha": 0.3, "axes.spines.top": False,
    "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 9,
    "svg.fonttype": "none", "svg.hashsalt": "hios",
})


def save(figure, folder, name):
    for ending in ("png", "svg"):
        # Without a date the same numbers give the same bytes.
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        figure.savefig(folder / f"{name}.{ending}", metadata=metadata)
    plt.close(figure)

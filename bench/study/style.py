"""The style of plots except colours (looks.py): units on axes, PNG."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

plt.rcParams.update({
    "figure.figsize": (6.4, 4.0), "figure.dpi": 110, "savefig.dpi": 110, "figure.constrained_layout.use": True,
    "font.size": 10, "axes.grid": True, "grid.alpha": 0.3, "axes.spines.top": False,
    "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 9,
})


def save(figure, folder, name):
    figure.savefig(folder / f"{name}.png", metadata={"Software": None})
    plt.close(figure)

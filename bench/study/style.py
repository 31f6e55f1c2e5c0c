"""How plots look: one colour and marker an algorithm throughout, units on axes, PNG and SVG."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

# Colours that stay apart for colour-blind readers (after Okabe and Ito), and in print by markers.
ALGORITHMS = {
    "sequential": ("#000000", "s"),
    "ios": ("#E69F00", "D"),
    "inter-mr": ("#56B4E9", "v"),
    "hios-mr": ("#0072B2", "^"),
    "inter-lp": ("#F0A58F", "<"),
    "hios-lp": ("#D55E00", "o"),
    "best": ("#009E73", "*"),
}

plt.rcParams.update({
    "figure.figsize": (6.4, 4.0), "figure.dpi": 110, "savefig.dpi": 110, "figure.constrained_layout.use": True,
    "font.size": 10, "axes.grid": True, "grid.alpha": 0.3, "axes.spines.top": False,
    "axes.spines.right": False, "legend.frameon": False, "legend.fontsize": 9,
    "svg.fonttype": "none", "svg.hashsalt": "hios",
})


def look(name):
    colour, marker = ALGORITHMS.get(name, ("#777777", "x"))
    return {"color": colour, "marker": marker}


def ordered(names):
    """As in ALGORITHMS; those that it does not know last."""
    known = list(ALGORITHMS)
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))


def save(figure, folder, name):
    for ending in ("png", "svg"):
        # No date in the file: the same numbers give the same bytes.
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        figure.savefig(folder / f"{name}.{ending}", metadata=metadata)
    plt.close(figure)

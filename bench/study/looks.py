"""A colour and a marker for each algorithm in all plots, and their order. Needs no matplotlib."""

# Colours that colour-blind readers can distinguish (after Okabe and Ito); markers help in print.
ALGORITHMS = {
    "sequential": ("#000000", "s"),
    "ios": ("#E69F00", "D"),
    "inter-mr": ("#56B4E9", "v"),
    "hios-mr": ("#0072B2", "^"),
    "inter-lp": ("#F0A58F", "<"),
    "hios-lp": ("#D55E00", "o"),
    "met": ("#999933", "p"),
    "greedy": ("#882255", "P"),
    "heft": ("#44AA99", "h"),
    "annealing": ("#AA4499", "X"),
    "ea": ("#661100", "d"),
    "m-sct": ("#88CCEE", "H"),
    "getf": ("#CC6677", "1"),
    "milp-split": ("#DDCC77", "8"),
    "milp": ("#332288", ">"),
    "best": ("#009E73", "*"),
}


def look(name):
    colour, marker = ALGORITHMS.get(name, ("#777777", "x"))
    return {"color": colour, "marker": marker}


def ordered(names):
    """Sorts as in ALGORITHMS, unknown names last."""
    known = list(ALGORITHMS)
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))

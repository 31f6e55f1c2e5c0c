"""One colour and marker an algorithm throughout, and the order they are listed in. Needs no matplotlib."""

# Colours that stay apart for colour-blind readers (after Okabe and Ito), and in print by markers.
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
    """As in ALGORITHMS; those that it does not know last."""
    known = list(ALGORITHMS)
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))

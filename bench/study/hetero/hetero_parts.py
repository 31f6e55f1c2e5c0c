"""The calls of each part. The names are those of the papers' tables and figures. All parts together take half an hour
on two cores, so there are few seeds, and a search has seconds where the papers give hours.
"""

import transformer
from calls import Call
from network_graphs import NETWORKS
from problems import Decoding, Modules, Network, OnMoirai, Pairs

RULES = ("sequential", "met", "greedy", "heft")  # take milliseconds; sequential is the papers' best device
TRIES = ("annealing", "ea")
MAPPINGS, MAPPINGS_OF_BATCHES = 200000, 50000  # that each of TRIES evaluates; batches: for each division of the inputs
RULE_LIMIT_S = 30  # far more than they need
WIRINGS = {"ER(0.2)": "er0.2", "WS(4, 0.75)": "ws4-0.75", "BA(5)": "ba5"}
CHANNELS = (("1 channel", 1, "strong"), *((f"strong, {count} channels", count, "strong") for count in (2, 3, 4)),
            *((f"weak, {count} channels", count, "weak") for count in (2, 3, 4)))


def calls_of(problem, searches, tries=True):
    """The calls of a problem: rules, random searches, and each of `searches` (seconds by algorithm)."""
    yield Call(problem, RULES, RULE_LIMIT_S)
    if tries:
        mappings = MAPPINGS if getattr(problem, "inputs", 1) == 1 else MAPPINGS_OF_BATCHES
        yield Call(problem, TRIES, RULE_LIMIT_S, (f"iterations={mappings}",))
    for algorithm, limit_s in searches.items():
        yield Call(problem, (algorithm,), limit_s)


TOO_LARGE_FOR_MILP = ("nasnet_large",)  # milp refuses it


def figure_3():
    for network in NETWORKS:
        searches = {"best": 3, "milp": 3, "milp-split": 3}
        if network in TOO_LARGE_FOR_MILP:
            del searches["milp"]
        for seed in range(3):
            yield from calls_of(Network(network, seed), searches)


def single_modules(inputs, searches):
    for wiring, key in WIRINGS.items():
        for nodes in (10, 32):
            for seed in range(3):
                keys = f"modules=1,nodes={nodes},wiring={key}"
                yield from calls_of(Modules(f"{wiring}, {nodes} operators", seed, keys, inputs), searches)


def figure_4():
    return single_modules(1, {"best": 2, "milp": 5})


def stacked(channels, ends, nodes):
    return f"modules=10,nodes={nodes},channels={channels},ends={ends}"


def as_printed(channels):
    """The options of MILP-SPLIT as DiviML prints it: k-edge-connected components, each solved by itself."""
    return f"channels={channels}", "modules=components"


def table_1():
    for name, channels, ends in CHANNELS:
        for seed in range(3):
            problem = Modules(f"{name}, 10 operators", seed, stacked(channels, ends, 10))
            yield from calls_of(problem, {"best": 2, "milp": 5, "milp-split": 5})
            yield Call(problem, ("milp-split",), 5, as_printed(channels))
    for name, channels, ends in CHANNELS:
        problem = Modules(f"{name}, 32 operators", 0, stacked(channels, ends, 32))
        yield from calls_of(problem, {"best": 4, "milp-split": 12})
        yield Call(problem, ("milp-split",), 12, as_printed(channels))


def table_3():
    for modules, split_s, whole_s in ((5, 10, 10), (10, 20, 10), (20, 40, 10)):
        for seed in range(3):
            problem = Modules(f"{modules} modules", seed, f"modules={modules},nodes=10")
            yield Call(problem, ("milp-split",), split_s)
            yield Call(problem, ("milp",), whole_s)


def figure_5():
    for network in NETWORKS:
        for seed in range(2):
            yield from calls_of(Network(network, seed, 128), {"best": 5, "milp-split": 5})


def figure_6():
    return single_modules(16, {"best": 2, "milp": 4})


TRANSFERS = {"a transfer of 16 inputs costs 16": 16, "a transfer of 16 inputs costs 1": 1}


def table_4():
    for name, channels, ends in CHANNELS:
        for model, tensors in TRANSFERS.items():
            problem = Modules(f"{name}, {model}", 0, stacked(channels, ends, 10), 16, tensors)
            yield from calls_of(problem, {"best": 4, "milp": 4, "milp-split": 4})


def figure_7():
    """One network, 16 inputs: the result over time, with a run for each limit."""
    for model, tensors in TRANSFERS.items():
        problem = Modules(f"weak, 3 channels, {model}", 1, stacked(3, "weak", 10), 16, tensors)
        yield Call(problem, RULES, RULE_LIMIT_S)
        for limit_s in (1, 2, 4, 8):
            for algorithm in ("best", "milp", "milp-split"):
                yield Call(problem, (algorithm,), limit_s)
        for mappings in (2000, 10000, 50000, 250000):
            yield Call(problem, TRIES, RULE_LIMIT_S, (f"iterations={mappings}",))


SYMMETRIES = ("none", "tasks", "time")


def table_5():
    """The effect of symmetry breaking on proofs, and on layers of GPT-3 on one and on two servers."""
    for family in ("layered", "chain", "cholesky"):
        for seed in range(3):
            for symmetry in SYMMETRIES:
                problem = Pairs(f"{family}, 20 operators, 2 + 2 devices", seed, f"family={family},n=20")
                yield Call(problem, ("milp",), 5, (f"symmetry={symmetry}",))
    for servers in (1, 2):
        problem = Decoding(4, 4, servers)
        yield from calls_of(problem, {"best": 3}, tries=False)
        for symmetry in SYMMETRIES:
            yield Call(problem, ("milp-split",), 8, (f"symmetry={symmetry}",))


def figure_10():
    """MOIRAI's Fig. 10, its Table V (the column of seconds), and RQ2 (`coarsened` and `original`)."""
    for scenario in ("inter-server", "intra-server"):
        for name in (*NETWORKS, *(size.name for size in transformer.SIZES)):
            for coarse in (False, True):
                problem = OnMoirai(name, scenario, coarse)
                yield Call(problem, ("sequential", "m-sct", "getf", "heft", "greedy"), RULE_LIMIT_S)
                large = name not in NETWORKS
                yield Call(problem, ("best",), 5 if large else 3)
                if name in (*NETWORKS, transformer.SIZES[0].name):
                    yield Call(problem, ("milp-split",), 8 if large else 4)


PARTS = {"table-1": table_1, "table-3": table_3, "table-4": table_4, "table-5": table_5, "figure-3": figure_3,
         "figure-4": figure_4, "figure-5": figure_5, "figure-6": figure_6, "figure-7": figure_7, "figure-10": figure_10}

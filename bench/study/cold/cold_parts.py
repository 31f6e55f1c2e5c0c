"""The calls of each part of the study of cold starts, of all cells or of a few."""

from cold_calls import INTERLEAVED, Call, Problem
from cold_emulated import Emulated
from cold_remaining import Again
from cold_servers import SERVERS
from cold_shared import SETS, Shared
from decoders import MODELS, SHAPES

SMALL = {"models": ("GPT2-large", "OpenLLaMA-3B"), "shapes": ((1, 32), (1, 1024)), "servers": ("v100", "a6000")}
FULL = {"models": tuple(model.name for model in MODELS), "shapes": SHAPES, "servers": tuple(SERVERS)}
SIZES = {"small": SMALL, "full": FULL}
RULES = ("load-then-run", "pipelined", "deepplan", "heft", "hios-lp")
# One thread and a number of moves: the same plan on any machine.
SEARCH = ("iterations=500", "islands=1", "threads=1")
SOLVED = ("sortinghat", "efficient-mip")  # by a solver, for so many seconds:
SECONDS = 8
UNLIKE = "v100-hetero"  # where the paper does not run EfficientMIP
SELECTIONS = (("gpu1", "gpu2"), ("gpu1", "gpu3"), ("gpu1", "gpu4"))  # Fig. 4
RERUN = ("GPT2-large", "OpenLLaMA-7B")  # Fig. 14
UNAWARE = "heft"
ABLATIONS = ("own_bus=true", "mean_speeds=true")  # Fig. 13
SEARCHES = ("ndom=1", "ndom=2", "ndom=4", "submodel_seconds=1")  # Fig. 12
SEARCHES_S = 20
SHARED_SHAPES = ((1, 32), (1, 1024))
# Fig. 11: the problems, each on one, two and four GPUs, and the plans that run there.
EMULATED = (("GPT2-large", 1, 32), ("OpenLLaMA-3B", 1, 1024))
EMULATED_GPUS = {("gpu1",): (("load-then-run", ()), ("pipelined", ())),
                 ("gpu1", "gpu3"): (("deepplan", (INTERLEAVED,)), ("heft", ()), ("best", SEARCH)),
                 (): (("hios-lp", ()), ("sortinghat", ()), ("best", SEARCH))}


def problems(size, servers=None):
    return [Problem(model, batch, sequence, server) for server in size["servers"] if servers is None or server in servers
            for model in size["models"] for batch, sequence in size["shapes"]]


def starts(size, seconds):
    """Fig. 9. The rows of one device first: the others are compared with them."""
    cells = problems(size)
    calls = [Call(cell, ((RULES, ()), (("deepplan",), (INTERLEAVED,)))) for cell in cells]
    calls += [Call(cell, ((("best",), SEARCH),)) for cell in cells]
    for algorithm in SOLVED:
        calls += [Call(cell, (((algorithm,), ()),), seconds) for cell in cells
                  if algorithm != "efficient-mip" or cell.server != UNLIKE]
    return calls


def ablations(size, seconds):
    """Fig. 13, next to the rows of `starts`."""
    return [Call(cell, ((("sortinghat",), (option,)),), seconds) for cell in problems(size, ("v100", UNLIKE))
            for option in ABLATIONS]


def searches(size, _seconds):
    """Fig. 12: submodels of more operators, and less time for each; in the small size of one problem."""
    cells = problems(SMALL, size["servers"])
    return [Call(cell, ((("sortinghat",), (option,)),), SEARCHES_S)
            for cell in (cells if size["shapes"] == SHAPES else cells[:1]) for option in SEARCHES]


def selections(size, _seconds):
    """Fig. 4: plans for two equal GPUs by a scheduler that does not know what loads cost, on three pairs of them."""
    return [Call(Problem(cell.model, cell.batch, cell.sequence, cell.server, pair), (((UNAWARE,), ()),))
            for cell in problems(size, ("v100",)) for pair in SELECTIONS]


def remaining(size, seconds):
    """Fig. 14: the smallest and the largest model, whose schedules run again."""
    return [Again(cell, algorithm, seconds) for cell in problems(size, ("v100",)) if cell.model in RERUN
            for algorithm in ("load-then-run", "sortinghat")]


def emulated(size, seconds):
    """Fig. 11: on one server; in the small size the first problem, on one and two GPUs."""
    full = size["shapes"] == SHAPES
    return [Emulated(Problem(*cell, "v100", gpus), algorithm, options, *((seconds,) if algorithm in SOLVED else ()))
            for cell in (EMULATED if full else EMULATED[:1]) for gpus, plans in EMULATED_GPUS.items() if full or gpus
            for algorithm, options in plans]


def shared(size, _seconds):
    """Several models on one server; in the small size the first of them, at one shape."""
    full = size["shapes"] == SHAPES
    calls = [Shared(models, batch, sequence, "v100") for models in SETS for batch, sequence in SHARED_SHAPES]
    return calls if full else calls[:1]


PARTS = {"starts": starts, "ablations": ablations, "searches": searches, "selections": selections, "remaining": remaining,
         "emulated": emulated, "shared": shared}

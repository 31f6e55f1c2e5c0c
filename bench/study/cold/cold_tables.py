"""The tables of docs/cold-start.md from the CSV files, in Markdown. Means are arithmetic, as of the paper's "average"."""

import statistics

from cold_calls import INTERLEAVED, KEY, store_of
from cold_parts import (ABLATIONS, EMULATED, EMULATED_GPUS, RERUN, SEARCH, SEARCHES, SELECTIONS, SHARED_SHAPES, SMALL,
                        UNAWARE)
from cold_remaining import SHARES
from cold_servers import SERVERS
from cold_shared import KINDS, NO_ROOM, SETS
from decoders import MODELS, SHAPES

FILE = "cold-tables.md"
PAPERS = tuple(name for name in SERVERS if name != "p4d")  # the servers on which the paper runs
OVER = {"load-then-run": "over_load_then_run", "pipelined": "over_pipelined", "interleaved": "over_interleaved"}
# (algorithm, options) by the names in tables.
ROWS = {"load-then-run": ("load-then-run", ""), "pipelined": ("pipelined", ""), "critical path": ("critical-path", ""),
        "hios-lp": ("hios-lp", ""), "heft": ("heft", ""), "efficient-mip": ("efficient-mip", ""), "deepplan": ("deepplan", ""),
        "deepplan, interleaved": ("deepplan", INTERLEAVED), "sortinghat": ("sortinghat", ""), "best": ("best", " ".join(SEARCH))}
# Namkoong et al., abstract and sections 1 and 4.3: mean and largest speed-up over a single GPU by TVM.
PAPER = {"efficient-mip": (1.16, 1.62), "deepplan": (1.93, 2.14), "sortinghat": (2.28, 2.96)}
PAPER_P4D = 3.7
PAPER_ERROR = 2.97  # per cent, section 4.3: of predictions, on GPUs
ABOUT = ("Made by `bench/study/run-cold tables` from `cold-*.csv`: simulated times of plans with stated costs; no GPU ran. Speed-ups "
         "are over `load-then-run` on one device unless a column says otherwise.")


class Answers:
    """The rows of a part, by problem and plan."""

    def __init__(self, folder, part):
        self.rows = store_of(folder, part).rows

    def of(self, server, plan, models=None, shapes=None):
        """Rows of a plan (algorithm, options) in the order of the models and shapes; those that are missing are left out."""
        keys = [(model.name, str(batch), str(sequence), server, *plan) for model in MODELS for batch, sequence in SHAPES
                if (models is None or model.name in models) and (shapes is None or (batch, sequence) in shapes)]
        assert len(keys[0]) == len(KEY)
        return [self.rows[key] for key in keys if key in self.rows]

    def values(self, servers, plan, column, **which):
        return [float(row[column]) for server in servers for row in self.of(server, plan, **which) if row[column]]

    def gaps(self, servers, plan):
        """In per cent of the bound."""
        return [100 * (float(row["latency_ms"]) / float(row["bound_ms"]) - 1) for server in servers
                for row in self.of(server, plan) if row["bound_ms"]]


def cell(values, digits=2, end=statistics.fmean):
    return f"{end(values):.{digits}f}" if values else ""


def markdown(head, lines):
    first, *rest = ("| " + " | ".join(row) + " |" for row in (head, *lines))
    return "\n".join([first, "|---" * len(head) + "|", *rest])


def rates():
    """The assumed rates by server."""
    lines = []
    for server in SERVERS.values():
        for kind, (gpu, loads) in server.kinds.items():
            names = [name for name, of in server.gpus.items() if of == kind]
            between = sorted({route["gb_per_s"] for route in server.routes if route["from"] in names})
            buses = {route["over"][0] for route in server.routes if route["from"] == "dram"}
            lines.append([server.name, f"{len(names)} {kind}", f"{gpu.tflops:g}", f"{gpu.memory_gb_per_s:g}",
                          f"{gpu.memory_bytes >> 30}", f"{len(buses)} of {loads:g}", ", ".join(f"{rate:g}" for rate in between)])
    return markdown(["server", "GPUs", "TFLOP/s", "memory GB/s", "GiB", "PCIe buses, GB/s", "between GPUs, GB/s"], lines)


def speedups(answers):
    """Fig. 9: means by server, and over the paper's three servers next to the paper's."""
    lines = []
    for name, plan in ROWS.items():
        every = answers.values(PAPERS, plan, "over_load_then_run")
        paper = PAPER.get(name)
        lines.append([f"`{name}`" if name != "critical path" else name,
                      *(cell(answers.values([server], plan, "over_load_then_run")) for server in SERVERS),
                      cell(every), cell(every, end=max), *(f"{value:.2f}" for value in paper or ())] + ([] if paper else ["", ""]))
    return markdown(["plan", *SERVERS, "mean of the first three", "largest", "the paper's mean", "its largest"], lines)


def over_bases(answers):
    """Means of `sortinghat` and `best` over each of the plans of one device, by server and shape."""
    lines = []
    for server in SERVERS:
        for batch, sequence in SHAPES:
            line = [server if (batch, sequence) == SHAPES[0] else "", f"({batch}, {sequence})"]
            for name in ("sortinghat", "best"):
                line += [cell(answers.values([server], ROWS[name], column, shapes=[(batch, sequence)])) for column in OVER.values()]
            lines.append(line)
    return markdown(["server", "input", *(f"`{name}` over {base}" for name in ("sortinghat", "best") for base in OVER)], lines)


def gaps(answers):
    """Means and largest of the gap to the lower bound, in per cent."""
    lines = []
    for name in ("pipelined", "deepplan", "deepplan, interleaved", "sortinghat", "best"):
        some = [answers.gaps([server], ROWS[name]) for server in SERVERS]
        lines.append([f"`{name}`", *(f"{cell(each, 1)} / {cell(each, 1, max)}" if each else "" for each in some)])
    return markdown(["mean / largest gap, %", *SERVERS], lines)


def p4d(answers):
    """Section 6: the four models at (32, 64)."""
    lines = []
    for model in MODELS:
        values = [answers.values(["p4d"], ROWS[name], "over_load_then_run", models=[model.name], shapes=[(32, 64)])
                  for name in ("pipelined", "deepplan, interleaved", "sortinghat", "best")]
        one = answers.of("p4d", ROWS["load-then-run"], [model.name], [(32, 64)])
        most = [float(row["latency_ms"]) / float(row["bound_ms"]) for row in one]
        lines.append([model.name, *map(cell, values), cell(most), f"up to {PAPER_P4D}" if model == MODELS[0] else ""])
    return markdown(["p4d, (32, 64)", "`pipelined`", "interleaved", "`sortinghat`", "`best`", "no plan is above", "the paper"],
                    lines)


def ablations(answers, without):
    """Fig. 13: speed-ups of `sortinghat` and of its two ablations, for problems that have all three."""
    sources = {"as it is": (answers, ""), "own bus for each GPU": (without, ABLATIONS[0]), "mean speeds": (without, ABLATIONS[1])}
    columns = {}
    for server in ("v100", "v100-hetero"):
        by_case = [{(row["model"], row["batch"], row["sequence"]): float(row["over_load_then_run"])
                    for row in source.of(server, ("sortinghat", option))} for source, option in sources.values()]
        cases = [case for case in by_case[0] if all(case in each for each in by_case)]
        columns[server] = [[each[case] for case in cases] for each in by_case]
    lines = [[name, *(cell(columns[server][index], end=end) for server in columns for end in (statistics.fmean, min))]
             for index, name in enumerate(sources)]
    return markdown(["`sortinghat`", "v100, mean", "least", "v100-hetero, mean", "least"], lines)


def searches(answers):
    """Fig. 12: speed-ups of `sortinghat` by problem, for larger submodels and for less time."""
    lines = []
    for server in SMALL["servers"]:
        for model in SMALL["models"]:
            for shape in SMALL["shapes"]:
                first = server if (model, shape) == (SMALL["models"][0], SMALL["shapes"][0]) else ""
                found = [answers.values([server], ("sortinghat", option), "over_load_then_run", models=[model], shapes=[shape])
                         for option in SEARCHES]
                lines.append([first, f"{model} ({shape[0]}, {shape[1]})", *map(cell, found)])
    every = [answers.values(SMALL["servers"], ("sortinghat", option), "over_load_then_run") for option in SEARCHES]
    return markdown(["server", "`sortinghat`", *(f"`{option}`" for option in SEARCHES)], [*lines, ["", "mean", *map(cell, every)]])


def selections(answers):
    """Fig. 4: speed-ups of `heft` for two GPUs by pair, for each family of models."""
    lines = []
    for pair in SELECTIONS:
        server = "v100, GPUs " + "+".join(gpu.removeprefix("gpu") for gpu in pair)
        line = [" + ".join(gpu.upper() for gpu in pair)]
        for family in ("gpt2", "llama"):
            names = [model.name for model in MODELS if model.family == family]
            values = answers.values([server], (UNAWARE, ""), "over_load_then_run", models=names)
            line += [cell(values), cell(values, end=max)]
        lines.append(line)
    return markdown(["`heft` on two GPUs", "GPT-2, mean", "largest", "OpenLLaMA, mean", "largest"], lines)


def remaining(answers):
    """Fig. 14: time of `sortinghat`'s schedule, run again, and of `load-then-run`, by the share that remains."""
    lines = []
    for model in RERUN:
        for shape in SHAPES:
            line = [model if shape == SHAPES[0] else "", f"({shape[0]}, {shape[1]})"]
            for share in SHARES:
                pair = [answers.values(["v100"], (name, f"remaining={share}"), "latency_ms", models=[model], shapes=[shape])
                        for name in ("sortinghat", "load-then-run")]
                line.append(" / ".join(cell(each, 0 if each[0] >= 100 else 1) for each in pair) if all(pair) else "")
            lines.append(line)
    return markdown(["`sortinghat` / `load-then-run`, ms", "input", *(f"{share} % remain" for share in SHARES)], lines)


def emulated(answers):
    """Fig. 11: predicted and emulated times, and the error of the prediction, by GPUs and plan."""
    lines, errors = [], [[] for _ in EMULATED]
    for gpus, plans in EMULATED_GPUS.items():
        of = ", GPUs " + "+".join(gpu.removeprefix("gpu") for gpu in gpus) if gpus else ""
        for algorithm, options in plans:
            name = next(name for name, plan in ROWS.items() if plan == (algorithm, " ".join(options)))
            line = [str(len(gpus) or len(SERVERS["v100"].gpus)), f"`{name}`"]
            for index, (model, *shape) in enumerate(EMULATED):
                found = answers.of("v100" + of, (algorithm, " ".join(options)), [model], [tuple(shape)])
                errors[index] += [abs(float(row["error_percent"])) for row in found]
                line += [*(f"{float(row['predicted_ms']):.1f} / {float(row['emulated_ms']):.1f}" for row in found),
                         *(f"{float(row['error_percent']):.2f}" for row in found)] if found else ["", ""]
            lines.append(line)
    every = [error for each in errors for error in each]
    lines.append(["", "mean error", *(text for each in errors for text in ("", cell(each)))])
    lines.append(["", "largest error", *(text for each in errors for text in ("", cell(each, end=max)))])
    lines.append(["", f"mean of all; the paper's: {PAPER_ERROR}", *([""] * (2 * len(EMULATED) - 1)), cell(every)])
    heads = [text for model, *shape in EMULATED for text in (f"{model} ({shape[0]}, {shape[1]}), ms", "error, %")]
    return markdown(["GPUs", "plan", *heads], lines)


def expected_ms(row):
    """The cell of a keeping: empty where it was not planned yet."""
    if not row:
        return ""
    return NO_ROOM if row["outcome"] == NO_ROOM else f"{float(row['expected_ms']):.1f}"


def shared(folder):
    """Expected times of several models by what the GPUs keep, the bound of every keeping, and the gap of the planned one."""
    lines = []
    rows = store_of(folder, "shared").rows.values()
    for models in SETS:
        for batch, sequence in SHARED_SHAPES:
            found = {row["algorithm"]: row for row in rows
                     if (row["model"], row["batch"], row["sequence"]) == (models, str(batch), str(sequence))}
            times = [expected_ms(found.get(kept)) for kept in KINDS]
            planned = found.get("planned")
            bound = [float(planned["bound_ms"])] if planned and planned["bound_ms"] else []
            gap = [100 * (float(planned["expected_ms"]) / bound[0] - 1)] if bound else []
            lines.append([models if (batch, sequence) == SHARED_SHAPES[0] else "", f"({batch}, {sequence})", *times,
                          cell(bound, 1), cell(gap, 1)])
    return markdown(["models", "input", *(f"{kind}, ms" for kind in KINDS.values()), "bound", "gap, %"], lines)


def tables(folder):
    """The tables by title."""
    starts = Answers(folder, "starts")
    return {"Assumed rates": rates(), "Speed-ups (Fig. 9)": speedups(starts), "Over plans of one device": over_bases(starts),
            "Gaps to the lower bound": gaps(starts), "Eight GPUs (section 6)": p4d(starts),
            "Ablations (Fig. 13)": ablations(starts, Answers(folder, "ablations")),
            "Submodels and seconds (Fig. 12)": searches(Answers(folder, "searches")),
            "Pairs of GPUs (Fig. 4)": selections(Answers(folder, "selections")),
            "Remaining parameters (Fig. 14)": remaining(Answers(folder, "remaining")),
            "Predictions, emulated (Fig. 11)": emulated(Answers(folder, "emulated")),
            "Several models on a server": shared(folder)}


def page(folder):
    parts = ["# Cold starts of decoders, simulated", ABOUT]
    for title, table in tables(folder).items():
        parts += [f"## {title}", table]
    return "\n\n".join(parts) + "\n"

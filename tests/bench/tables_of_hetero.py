"""The tables of docs/hetero.md, from the CSV files of bench/results/hetero."""

import statistics

import summaries
from hetero_parts import as_printed
from markdown_tables import RESULTS, Numbers

MODULES = ("1 channel", *(f"{ends}, {count} channels" for ends in ("strong", "weak") for count in (2, 3, 4)))
SYMMETRIES = ("symmetry=none", "symmetry=tasks", "symmetry=time")
NETWORKS = ("squeezenet", "inception_v3", "randwire_large", "nasnet_large", "GPT-3 330M", "GPT-3 1.3B", "GPT-3 2.7B", "GPT-3 13B")
PLACES = ("inter-server", "intra-server")


class Cases:
    """The rows of a part by case and algorithm; of several limits, those with the longest."""

    def __init__(self, part):
        self.rows = summaries.Rows(RESULTS / "hetero", part)

    def of(self, case, algorithm, options=None):
        """`options`: only rows with these; None: all rows of the algorithm have the same."""
        limits = {limit: some for (name, given, limit), some in self.rows.of_case(case).items()
                  if name == algorithm and options in (None, given)}
        return limits[max(limits)] if limits else []

    def mean(self, case, algorithm, value, options=None):
        """None where no problem has a schedule."""
        known = [value(row) for row in self.of(case, algorithm, options) if row["latency_ms"]]
        return statistics.fmean(known) if known else None

    def latency_ms(self, case, algorithm, options=None):
        return self.mean(case, algorithm, lambda row: float(row["latency_ms"]), options)

    def speedup(self, case, algorithm, options=None):
        return self.mean(case, algorithm, self.rows.speedup, options)

    def largest_speedup(self, case):
        """That of a schedule as short as the bound."""
        return self.mean(case, "sequential", lambda row: float(row["latency_ms"]) / self.bound_ms(row))

    def bound_ms(self, row):
        return self.rows.bounds[row["case"], row["seed"]]


def two_digits(value):
    return "" if value is None else f"{value:.2f}"


def speedups():
    """DiviML's Table I."""
    cases, lines = Cases("table-1"), []
    for size in (10, 32):
        for modules in MODULES:
            case = f"{modules}, {size} operators"
            names = ("met", "greedy", "heft", "ea", "annealing", "milp")
            channels = 1 if modules == MODULES[0] else int(modules.split()[1])
            lines.append([case if modules == MODULES[0] else modules, str(len(cases.of(case, "sequential"))),
                          f"{cases.latency_ms(case, 'sequential'):.1f}",
                          *(two_digits(cases.speedup(case, name)) for name in names),
                          two_digits(cases.speedup(case, "milp-split", " ".join(as_printed(channels)))),
                          two_digits(cases.speedup(case, "milp-split", "")),
                          two_digits(cases.speedup(case, "best")),
                          two_digits(cases.largest_speedup(case))])
    return lines


def proofs():
    """Its Table III; the last column is the paper's."""
    cases, lines = Cases("table-3"), []
    for modules in (5, 10, 20):
        case = f"{modules} modules"
        split, whole = cases.of(case, "milp-split"), cases.of(case, "milp")
        assert not any(proved(row) for row in whole)
        lines.append([str(modules), f"{statistics.fmean(float(row['seconds']) for row in split):.1f}",
                      f"{sum(map(proved, split))} of {len(split)}",
                      f"none proved, {100 * cases.mean(case, 'milp', cases.rows.gap):.1f} % above", None])
    return lines


def proved(row):
    return float(row["latency_ms"]) <= float(row["lower_bound_ms"]) * (1 + summaries.PROVED)


def throughputs():
    """Its Table IV, for both costs of transfers."""
    cases, lines = Cases("table-4"), []
    for cost in (16, 1):
        for modules in MODULES:
            case = f"{modules}, a transfer of 16 inputs costs {cost}"
            lines.append([f"{modules}, transfers cost {cost}" if modules == MODULES[0] else modules,
                          *(two_digits(cases.speedup(case, name))
                            for name in ("met", "greedy", "heft", "ea", "annealing", "milp", "milp-split", "best"))])
    return lines


def symmetries():
    """Its Table V: proofs of small graphs and their seconds, and latencies of GPT-3's layers."""
    cases, lines = Cases("table-5"), []
    for family in ("layered", "chain", "cholesky"):
        line = [None]
        for options in SYMMETRIES:
            some = cases.of(f"{family}, 20 operators, 2 + 2 devices", "milp", options)
            seconds = statistics.fmean(float(row["seconds"]) for row in some)
            line.append(f"{sum(map(proved, some))} of {len(some)}; {seconds:.{1 if seconds >= 1 else 2}f}")
        lines.append(line)
    for gpus in (4, 8):
        lines.append([None, *(f"{cases.latency_ms(f'4 layers in 4 groups, {gpus} GPUs', 'milp-split', options):.2f}"
                              for options in SYMMETRIES)])
    return lines


def three_digits(value):
    if value is None:
        return "does not fit"
    return f"{value:.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")


def placements():
    """MOIRAI's Fig. 10."""
    cases, lines = Cases("figure-10"), []
    for place in PLACES:
        for network in NETWORKS:
            case = f"{network}, {place}, coarsened"
            names = ("sequential", "m-sct", "getf", "greedy", "heft")
            bound = max(bound for (of, _), bound in cases.rows.bounds.items() if of == case)
            lines.append([None, *(three_digits(cases.latency_ms(case, name)) for name in names),
                          three_digits(shortest(cases, case)), three_digits(bound), over_search(cases, case),
                          over_search(cases, f"{network}, {place}, original")])
    return lines


def shortest(cases, case):
    known = (cases.latency_ms(case, name) for name in ("best", "milp-split"))
    return min(value for value in known if value is not None)


def over_search(cases, case):
    return ", ".join(f"{cases.latency_ms(case, name) / shortest(cases, case):.2f}" for name in ("m-sct", "getf"))


def claims():
    """Numbers of the page's claims on GPT-3: MOIRAI's Fig. 10 and RQ2."""
    cases = Cases("figure-10")
    models = [name for name in NETWORKS if name.startswith("GPT-3")]
    lines = []
    for place in PLACES:
        lines.append([None, Numbers(*(largest(cases, name, [f"{model}, {place}, {kind}" for model in models])
                                      for name in ("m-sct", "getf") for kind in ("original", "coarsened"))), None])
    fit = {place: [over_one_device(cases, f"{model}, {place}, coarsened") for model in models] for place in PLACES}
    lines.append([None, Numbers(*(f"{end([gain for gain in fit[place] if gain]):.1f}" for place in PLACES for end in (min, max))), None])
    gains = {place: [coarsening(cases, name, place) for name in models] for place in PLACES}
    networks = [coarsening(cases, name, place) for name in NETWORKS[:4] for place in PLACES]
    lines.append([None, Numbers(*(f"{end(gains[place]):.1f}" for place in PLACES for end in (min, max))),
                  Numbers(*(f"{end(networks):.0f}" for end in (min, max)))])
    seconds = {name: [float(row["seconds"]) for row in cases.rows.rows if row["case"].startswith("GPT-3") and row["algorithm"] == name]
               for name in ("m-sct", "getf", "greedy", "heft")}
    rules = [1000 * value for some in seconds.values() for value in some]
    lines.append([None, Numbers(f"{min(rules):.1f}", f"{max(rules):.0f}"), None])
    lines.append([None, Numbers(f"{max(seconds['m-sct'] + seconds['getf']):.2f}", "19,640", "5"), None])
    return lines


def largest(cases, name, some):
    return f"{max(cases.latency_ms(case, name) / shortest(cases, case) for case in some):.2f}"


def over_one_device(cases, case):
    """None where the network does not fit one device."""
    one = cases.latency_ms(case, "sequential")
    return one and one / shortest(cases, case)


def coarsening(cases, name, place):
    """The share that coarsening takes off the latency of the search, in per cent."""
    return 100 * (1 - shortest(cases, f"{name}, {place}, coarsened") / shortest(cases, f"{name}, {place}, original"))


RECOMPUTED = {
    ("docs/hetero.md", "here | problems | one device, ms"): [speedups],
    ("docs/hetero.md", "modules of 10 | here, s | proved"): [proofs],
    ("docs/hetero.md", "16 inputs | met | greedy"): [throughputs],
    ("docs/hetero.md", " | none | tasks"): [symmetries],
    ("docs/hetero.md", " | one device | m-sct"): [placements],
    ("docs/hetero.md", "the paper says | here | holds?"): [claims],
}

"""Tables 1 to 3 and the case of section 5, from the CSV files: geometric means over the problems, in Markdown. A bound that
was refused counts as the simple one, and a table counts these."""

import math
from collections import defaultdict

from pipeline_calls import BOUNDS, ORDERS, store_of
from pipeline_problems import DEVICES

PAPER = {  # Archer et al., Tables 1 to 3: k = 2, 4, 8, 16, 32, 64
    "networks": {"simple": (0.8340, 0.6627, 0.5236, 0.4598, 0.4435, 0.4401),
                 "bottleneck": (0.9597, 0.7911, 0.6481, 0.5770, 0.5590, 0.5543),
                 "bottleneck-guess": (0.9901, 0.8446, 0.6601, 0.5780, 0.5593, 0.5543),
                 "exact": (0.9901, 0.9737, 0.9588, 0.9452, 0.8749, 0.7874)},
    "regal": {"simple": (0.9579, 0.8795, 0.7911, 0.5821, 0.4087, 0.3336),
              "bottleneck": (0.9794, 0.8818, 0.7918, 0.5824, 0.4090, 0.3338),
              "bottleneck-guess": (0.9804, 0.8826, 0.7918, 0.5824, 0.4090, 0.3338),
              "exact": (0.9804, 0.9579, 0.9407, 0.8929, 0.5910, 0.3810)},
    "orders": {"mla": (1.216, 1.538, 1.950, 2.224, 2.304, 2.326), "mla-weighted": (1.206, 1.516, 1.920, 2.182, 2.258, 2.283),
               "random-1": (1.220, 1.551, 1.959, 2.230, 2.309, 2.333),
               "random-100": (1.201, 1.512, 1.916, 2.179, 2.258, 2.282),
               "random-10000": (1.199, 1.509, 1.911, 2.176, 2.256, 2.281),
               "brkga-100": (1.201, 1.516, 1.919, 2.184, 2.263, 2.288),
               "brkga-10000": (1.199, 1.509, 1.910, 2.175, 2.255, 2.272)},
}
REFERENCE = "brkga-10000"
REFUSED = {"exact": "too large", "downsets": "down-sets"}  # words of its outcome
ABOUT = (
    "Made by `bench/pipelines` from `networks.csv` and `regal.csv`. Geometric means over the problems; in brackets the paper's, "
    "for other graphs. A bound was computed for ten seconds at most, alone; one that ended early counts as far as it got.\n\n"
    "`refused`: problems whose program for `exact` was too large, or that had more than 100,000 down-sets; the simple bound "
    "stands for these, and in the closest one, too, unless another is larger. `ended early`: problems for which ten seconds were "
    "short for `exact`. Seconds are means over the problems whose program was not too large.\n\n"
    "`random-N` and `brkga-N` also slice the graph's own order; brkga evaluates 8,020 orders at most for N = 10,000 (82 for 100), "
    "since its elites are not evaluated again. `mla` and `mla-weighted` evaluate as many by the lengths of edges, slice each that "
    "is better than all before it, and the graph's own, and keep the shortest period; the paper slices one order.")


class Answers:
    """The answers of a part, by problem and number of devices."""

    def __init__(self, folder, part):
        self.by_case = defaultdict(dict)
        for row in store_of(folder, part).rows.values():
            self.by_case[row["problem"], row["seed"], int(row["devices"])][row["row"]] = row

    def period(self, case, row):
        found = self.by_case[case].get(row, {})
        return float(found["period_ms"]) if found.get("period_ms") else None

    def bound(self, case, row):
        """The bound of a case. Every schedule has `simple`; `closest` is the largest of all."""
        rows = self.by_case[case]
        if row == "simple":
            return float(rows[REFERENCE]["lower_bound_ms"]) if REFERENCE in rows else None
        if row == "closest":
            known = [self.bound(case, each) for each in ("simple", *(bound.row for bound in BOUNDS))]
            known.append(float(rows["best"]["lower_bound_ms"]) if "best" in rows else None)
            return max((bound for bound in known if bound), default=None)
        found = rows.get(row, {})
        return float(found["lower_bound_ms"]) if found.get("lower_bound_ms") else None

    def share(self, devices, row, words):
        """The problems in whose row the outcome says so, as "3 of 6"; "-" without any row."""
        outcomes = [self.by_case[case][row]["outcome"] for case in self.cases(devices) if row in self.by_case[case]]
        return f"{sum(words in outcome for outcome in outcomes)} of {len(outcomes)}" if outcomes else "-"

    def cases(self, devices):
        return [case for case in self.by_case if case[2] == devices and self.period(case, REFERENCE)]


def geometric(values):
    known = [value for value in values if value]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None


def cell(value, paper=None, digits=4):
    text = f"{value:.{digits}f}" if value else "-"
    return f"{text} ({paper:.{digits}f})" if paper else text


def table(head, lines):
    rows = ["| " + " | ".join(row) + " |" for row in ([head, *(f"k = {k}" for k in DEVICES)], *lines)]
    return "\n".join([rows[0], "|---" * (len(DEVICES) + 1) + "|", *rows[1:]])


def bounds_table(answers, paper, head=f"bound / {REFERENCE} (paper)", digits=4):
    """Bounds divided by the reference's period, the problems for which some were refused, and the best period divided by
    that of the reference."""
    lines = []
    for name in ("simple", *(bound.row for bound in BOUNDS), "closest"):
        shares = [geometric(answers.bound(case, name) / answers.period(case, REFERENCE)
                            for case in answers.cases(k) if answers.bound(case, name)) for k in DEVICES]
        lines.append([name, *(cell(share, paper.get(name, [None] * 6)[i], digits) for i, share in enumerate(shares))])
    lines += [[f"{name} refused", *(answers.share(k, name, words) for k in DEVICES)] for name, words in REFUSED.items()]
    lines.append(["exact ended early", *(answers.share(k, "exact", "ended early") for k in DEVICES)])
    best = [geometric(answers.period(case, "best") / answers.period(case, REFERENCE) for case in answers.cases(k)
                      if answers.period(case, "best")) for k in DEVICES]
    return table(head, [*lines, ["period of `best`", *(cell(share, digits=digits) for share in best)]])


def orders_table(answers, paper):
    """Periods divided by the simple bound."""
    lines = []
    for name in (*(order.row for order in ORDERS), "best"):
        ratios = [geometric(answers.period(case, name) / answers.bound(case, "simple") for case in answers.cases(k)
                            if answers.period(case, name)) for k in DEVICES]
        lines.append([name, *(cell(ratio, paper.get(name, [None] * 6)[i]) for i, ratio in enumerate(ratios))])
    return table("period / simple (paper)", lines)


def seconds_table(answers):
    lines = []
    for name in ("random-1", REFERENCE, "best", *(bound.row for bound in BOUNDS)):
        means = []
        for k in DEVICES:
            known = [float(answers.by_case[case][name]["seconds"]) for case in answers.cases(k)
                     if answers.by_case[case].get(name, {}).get("seconds")
                     and REFUSED["exact"] not in answers.by_case[case][name]["outcome"]]
            means.append(f"{sum(known) / len(known):.3f}" if known else "-")
        lines.append([name, *means])
    return table("mean seconds", lines)


def case_text(answers, problem="nasnet_large", devices=4):
    """The case of section 5: bounds of growing effort for one plan."""
    case = (problem, "0", devices)
    if case not in answers.by_case or not answers.period(case, REFERENCE):
        return "not measured"
    reference = answers.period(case, REFERENCE)
    shares = [f"{name} {answers.bound(case, name) / reference:.4f}"
              for name in ("simple", *(bound.row for bound in BOUNDS)) if answers.bound(case, name)]
    best = answers.period(case, "best")
    return f"{REFERENCE} 1, " + ", ".join(shares) + (f"; `best` {best / reference:.4f}" if best else "")


def page(folder):
    networks, regal = Answers(folder, "networks"), Answers(folder, "regal")
    return "\n\n".join([
        "# Pipelines: bounds and orders",
        ABOUT,
        "## Bounds, networks (Table 1)", bounds_table(networks, PAPER["networks"]),
        "## Orders, networks (Table 2)", orders_table(networks, PAPER["orders"]),
        "## Bounds, graphs like REGAL's (Table 3)", bounds_table(regal, PAPER["regal"]),
        "## Seconds, networks (Figure 4)", seconds_table(networks), "## Seconds, graphs like REGAL's (Figure 5)",
        seconds_table(regal), "## NASNet on 4 devices (the case of section 5)", case_text(networks)]) + "\n"

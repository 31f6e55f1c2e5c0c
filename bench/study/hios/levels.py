"""The levels part: the same algorithms by the paper's rule and by that of the published evaluator (rules.py).

The networks have the shape of the published simulation's (family=two-terminal) and its transfers (transfer=consumer);
otherwise the setting is the default of the figures. A row is a schedule, decided by one rule, with its latency by both.
Schedules by the paper's rule are those of hios-schedule, schedules by the other those of rebuilt.py. `inter-lp any path` is
Alg. 1 without the check of its line 5: the published code has that check, but it rejects nothing. Alg. 3 decides by
a table of its own, so inter-mr has one schedule.
"""

import json
import tempfile
from pathlib import Path

from rebuilt import map_longest_paths, merge_windows
from rules import PAPER, PUBLISHED, latency_ms, order_of_ids, read_network, read_stages
from settings import FIGURES, STREAMS, Setting
from simulated import flags
from store import Store

KEY = ("devices", "seed", "algorithm", "decided_by")
VALUES = ("paper_ms", "published_ms")
ALGORITHMS = ("sequential", "ios", "inter-mr", "hios-mr", "inter-lp", "hios-lp")
ANY_PATH = "inter-lp any path"
DEFAULT = Setting()
SETTINGS = tuple(FIGURES[0].settings())  # figure 7: the number of devices varies
LAST = ("hios-lp", PUBLISHED)  # the row that is computed last


def open_store(folder):
    return Store(folder / "levels.csv", KEY, VALUES)


def random_keys(setting, seed):
    return f"family=two-terminal,transfer=consumer,{setting.random_keys(seed)}"


def planned(programs, algorithm, setting, seed):
    """The network and the stages of hios-schedule. The paper's rule must give the latency that it predicts."""
    keys = random_keys(setting, seed)
    with tempfile.TemporaryDirectory() as folder:
        graph, schedule = Path(folder) / "graph.json", Path(folder) / "schedule.json"
        programs.run("hios-schedule", "--random", keys, "--devices", setting.devices, "--kind", "gpu",
                     "--streams", STREAMS, "--algorithm", algorithm["name"], *flags([algorithm]),
                     "--export-graph", graph, "--output", schedule, "-q")
        graph, schedule = json.loads(graph.read_text()), json.loads(schedule.read_text())
    network, stages = read_network(graph), read_stages(graph, schedule)
    by_rule, predicted = both_latencies(network, stages)["paper_ms"], schedule["predicted"]["latency_ms"]
    if abs(by_rule - predicted) > 1e-9 * predicted:
        raise SystemExit(f"{algorithm['name']}, --random {keys}: {by_rule:.9g} ms by bench/study/hios/rules.py, but "
                         f"{predicted:.9g} by hios-schedule; one of them departs from the paper's rule")
    return network, stages


def both_latencies(network, stages):
    """`stages` are in the order in which each device runs them."""
    return {"paper_ms": latency_ms(network, order_of_ids(network, stages, keep_order=True), PAPER),
            "published_ms": latency_ms(network, order_of_ids(network, stages), PUBLISHED)}


def schedules(programs, algorithms, setting, seed):
    """The network, and stages by (algorithm, rule that decided). The default setting has all of them, the others
    those of the published rule."""
    default = setting == DEFAULT
    made = {}
    for name in ALGORITHMS if default else ("inter-mr",):
        network, made[name, PAPER] = planned(programs, algorithms[name], setting, seed)
    if default:
        made[ANY_PATH, PAPER] = map_longest_paths(network, setting.devices, PAPER, any_paths=True)
        made["inter-lp", PUBLISHED] = map_longest_paths(network, setting.devices, PUBLISHED, any_paths=False)
    made[ANY_PATH, PUBLISHED] = map_longest_paths(network, setting.devices, PUBLISHED, any_paths=True)
    made["hios-mr", PUBLISHED] = merge_windows(network, made["inter-mr", PAPER])
    made[LAST] = merge_windows(network, made[ANY_PATH, PUBLISHED])
    return network, made


def rows_of(programs, algorithms, setting, seed):
    network, made = schedules(programs, algorithms, setting, seed)
    return [{"devices": setting.devices, "seed": seed, "algorithm": name, "decided_by": rule,
             **{column: f"{ms:.6g}" for column, ms in both_latencies(network, stages).items()}}
            for (name, rule), stages in made.items()]


def run(programs, folder, seeds, deadline):
    """Computes missing networks, those of the default setting first; returns True when none is missing."""
    store = open_store(folder)
    algorithms = {algorithm["name"]: algorithm for algorithm in programs.algorithms()}
    for setting in sorted(SETTINGS, key=lambda each: each != DEFAULT):
        for seed in range(seeds):
            if store.has(devices=setting.devices, seed=seed, algorithm=LAST[0], decided_by=LAST[1]):
                continue
            if deadline.passed():
                return False
            store.add(rows_of(programs, algorithms, setting, seed))
    return True

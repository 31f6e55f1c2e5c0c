"""Devices: the memory that each rank holds, how long it waits, and for whom."""

from dataclasses import dataclass

from hios.page.numbers import gap_between

TOLERANCE_MS = 0.05  # between the arrival of a tensor, as its receiver notes it, and as the transfer does


@dataclass
class Wait:
    """The time before a stage in which its rank had nothing to do, and the tensor that ended it."""
    ms: float
    peer: int | None = None
    why: str = ""


def longest_ms(stages, which):
    return max((stage[f"{which}_end_ms"] for stage in stages if stage[f"{which}_end_ms"] is not None), default=0)


def last_arrival(stage, transfers, which):
    """The transfer that arrived last before the stage, while its rank waited; None where no time fits."""
    ready = stage.get(f"{which}_ready_ms")
    if not ready:
        return None
    arrivals = [one for one in transfers if one["to"] == stage["rank"] and one[f"{which}_end_ms"] is not None]
    nearest = min(arrivals, key=lambda one: abs(one[f"{which}_end_ms"] - ready), default=None)
    return nearest if nearest and abs(nearest[f"{which}_end_ms"] - ready) <= TOLERANCE_MS else None


def waits_of(report, which):
    """The wait before each stage, by (rank, stage): from the time at which the rank was free to the stage's start."""
    waits = {}
    for stage in report["stages"]:
        awaited, start = stage.get(f"{which}_awaited_ms"), stage[f"{which}_start_ms"]
        if awaited is None or start is None or start <= awaited:
            continue
        wait = Wait(start - awaited)
        arrived = last_arrival(stage, report.get("transfers", []), which)
        if arrived:
            wait.peer = arrived["from"]
            wait.why = f"for {arrived['producer']} from rank {arrived['from']}"
        waits[stage["rank"], stage["stage"]] = wait
    return waits


def use_of_rank(report, which, rank, waits, total):
    """How a rank spends an iteration, in ms: computing, waiting by peer, finished, and the rest."""
    stages = [stage for stage in report["stages"] if stage["rank"] == rank and stage[f"{which}_start_ms"] is not None]
    computing = sum(stage[f"{which}_end_ms"] - stage[f"{which}_start_ms"] for stage in stages)
    peers, tensors = {}, {}
    for (owner, number), wait in waits.items():
        if owner == rank:
            peers[wait.peer] = peers.get(wait.peer, 0) + wait.ms
            if wait.why:
                tensors[wait.why] = tensors.get(wait.why, 0) + wait.ms
    finished = total - longest_ms(stages, which) if stages else total
    rest = gap_between(total, computing + sum(peers.values()) + finished)
    largest = max(tensors.items(), key=lambda item: item[1], default=None)
    return {"rank": rank, "computing": computing, "peers": sorted(peers.items(), key=lambda item: (item[0] is None, item[0])),
            "finished": finished, "rest": rest, "total": total, "largest": largest}


def uses_of(run):
    """For the run, then for the plan: how each rank spends an iteration; empty for one rank."""
    if not run.report or len(run.report["ranks"]) < 2:
        return []
    parts = []
    for which, title in (("measured", "run"), ("predicted", "plan")):
        stages = [stage for stage in run.report["stages"] if stage[f"{which}_end_ms"] is not None]
        if not stages:
            continue
        waits, total = waits_of(run.report, which), longest_ms(stages, which)
        rows = [use_of_rank(run.report, which, rank, waits, total) for rank in range(len(run.report["ranks"]))]
        parts.append({"title": title, "rows": rows, "total": total})
    return parts


def in_flight_uses(run):
    """How each rank spends its time per inference, if many are in flight."""
    measured = run.report and run.report.get("throughput")
    return measured["ranks"] if measured else []


MEMORY = (("arena_bytes", "tensors"), ("weights_bytes", "weights"), ("input_bytes", "input"), ("scratch_bytes", "scratch"))


def memory_of(run):
    """Bytes by rank and use; empty where nothing was noted."""
    if not run.report or not any(rank["held_bytes"] for rank in run.report["ranks"]):
        return None
    ranks = run.report["ranks"]
    largest = max(max(rank["held_bytes"], rank["memory_bytes"]) for rank in ranks)
    return {"ranks": ranks, "uses": MEMORY, "largest": largest,
            "limited": any(rank["memory_bytes"] for rank in ranks), "sends": any(rank["sent_bytes"] for rank in ranks)}

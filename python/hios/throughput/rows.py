"""The measured rows: a network, the ranks that run it, and their plan."""

from dataclasses import dataclass, field


@dataclass
class Row:
    """A row. `algorithm` plans for the `ranks` devices of a copy; sequential copies need no plan. `in_flight`: None means
    that of the plan."""

    model: str
    batch: int
    ranks: int
    threads: int
    copies: int
    algorithm: str
    in_flight: int | None = None
    reports: list = field(default_factory=list)
    refused: str = ""  # why it cannot run

    @property
    def name(self):
        if self.copies > 1:
            return f"{self.copies} copies, {self.threads} core each"
        ranks = f"{self.ranks} rank{'s' if self.ranks > 1 else ''} x {self.threads} core{'s' if self.threads > 1 else ''}"
        in_flight = f", F = {self.in_flight}" if self.in_flight else ""
        return f"{ranks}, {self.algorithm}{in_flight}"

    @property
    def jobs_ranks(self):
        return self.ranks * self.copies

    @property
    def way(self):
        return self.jobs_ranks, self.threads

    def periods_ms(self):
        """The mean period of each round."""
        return [report["throughput"]["period_ms"]["mean"] for report in self.reports]

    def result(self):
        """The result of the round with the shortest mean period."""
        if self.refused or not self.reports:
            return None
        best = min(self.reports, key=lambda report: report["throughput"]["period_ms"]["mean"])
        many = best["throughput"]
        period = many["period_ms"]["mean"]
        verified = [report["verified"] for report in self.reports if report["verified"]]
        latencies = [report["latency_ms"] for report in self.reports]
        return {"name": self.name, "model": self.model, "batch": self.batch, "ranks": self.jobs_ranks, "threads": self.threads,
                "copies": self.copies, "algorithm": self.algorithm, "in_flight": many["in_flight"],
                "per_second": 1000 * self.batch / period, "period_ms": period, "periods_ms": self.periods_ms(),
                "predicted_period_ms": many["predicted_period_ms"], "prediction_error": many["prediction_error"],
                "samples": sum(each["samples"] for each in latencies),
                "disturbed": sum(each.get("disturbed", 0) for each in latencies),
                "latency_ms": best["latency_ms"]["median"], "own_ms": max(rank["own_ms"] for rank in many["ranks"]),
                "bottleneck": many["bottleneck"], "predicted_bottleneck": many["predicted_bottleneck"],
                "verified": bool(verified) and all(each["passed"] and each["bitwise"] is not False for each in verified)}


def rows_of(model, batch, cores=2, ranks=2, algorithms=("slice-graph", "best")):
    """Rows for one core, all cores on one rank, a copy for each core, and several ranks by several plans."""
    rows = [Row(model, batch, 1, 1, 1, "sequential")]
    if cores > 1:
        rows.append(Row(model, batch, 1, cores, 1, "sequential"))
    if ranks > 1:
        threads = cores // ranks
        rows += [Row(model, batch, 1, 1, cores, "sequential"),
                 *[Row(model, batch, ranks, threads, 1, algorithm) for algorithm in algorithms],
                 Row(model, batch, ranks, threads, 1, "hios-lp", 1), Row(model, batch, ranks, threads, 1, "hios-lp")]
    return rows


def distinct(rows):
    """The rows without duplicates: a plan whose best in_flight is 1 equals the row with F = 1."""
    first = {}
    for row in rows:
        first.setdefault(row.name, row)
    return list(first.values())


def short_rows_of(model, batch=1):
    """Rows of copies and of a pipeline."""
    return [Row(model, batch, 1, 1, 2, "sequential"), Row(model, batch, 2, 1, 1, "best")]

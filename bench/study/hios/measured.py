"""The numbers of figures 12 to 14 and of networks.csv, from the measurements of networks.py.
plots_measured.py draws them."""

import statistics
from collections import defaultdict

import networks
from looks import ordered

COLUMNS = ("network", "pixels", "row", "runs", "latency_ms_mean", "latency_ms_std", "latency_ms_median",
           "predicted_ms", "speedup_over_sequential", "speedup_over_ios", "share_of_gain_by_mapping", "gap",
           "measuring_s", "scheduling_s")


class Measured:
    """Latencies by (network, pixels, row), and the predictions of the schedules."""

    def __init__(self, folder):
        schedules, runs = networks.open_stores(folder)
        self.schedules = schedules.rows
        samples = defaultdict(list)
        rounds = defaultdict(int)
        for (network, pixels, row, _), result in runs.rows.items():
            samples[network, int(pixels), row] += map(float, result["runs_ms"].split())
            rounds[network, int(pixels), row] += 1
        # Sizes for which every row of the network, including rows of other sizes, has all its rounds.
        names = {(network, row) for network, _, row in rounds}
        complete = {(network, pixels) for network, pixels, _ in rounds
                    if all(rounds.get((network, pixels, row), 0) >= networks.ROUNDS
                           for owner, row in names if owner == network)}
        self.samples = {key: ms for key, ms in samples.items() if key[:2] in complete}
        self.networks = [n for n in networks.NETWORKS if any(key[0] == n for key in self.samples)]

    def sizes(self, network):
        return sorted({key[1] for key in self.samples if key[0] == network})

    def rows(self, network):
        """Rows on devices of one core in the order of algorithms, then those on both cores."""
        names = {key[2] for key in self.samples if key[0] == network}
        single = [n for n in names if n.endswith("x1")]
        algorithms = ordered({n.split()[0] for n in single})
        return [n for a in algorithms for n in single if n.split()[0] == a] + sorted(names - set(single))

    def median(self, network, pixels, row):
        """The median: a short disturbance changes a mean of 36 runs by some per cent."""
        return statistics.median(self.samples[network, pixels, row])

    def quartiles_off(self, network, pixels, row):
        """The distances of the lower and the upper quartile from the median, for error bars."""
        low, middle, high = statistics.quantiles(self.samples[network, pixels, row], n=4, method="inclusive")
        return middle - low, high - middle

    def schedule(self, network, pixels, row):
        return self.schedules[network, str(pixels), row]

    def relative(self, network, row):
        """For every size: the median and the quartiles' distances from it, divided by the median of
        sequential on one core."""
        points = []
        for size in self.sizes(network):
            base = self.median(network, size, "sequential 1x1")
            low, high = self.quartiles_off(network, size, row)
            points.append((self.median(network, size, row) / base, low / base, high / base))
        return points

    def difference(self, network, row, base):
        """For every size, in per cent of the median of `base`: the difference of the row's median, and the
        quartiles' distances from it."""
        points = []
        for size in self.sizes(network):
            middle = self.median(network, size, base)
            low, high = self.quartiles_off(network, size, row)
            above = self.median(network, size, row) - middle
            points.append((100 * above / middle, 100 * low / middle, 100 * high / middle))
        return points

    def extremes(self):
        """(network, pixels) of the smallest and the largest image of each network."""
        return [(n, size) for n in self.networks for size in sorted({self.sizes(n)[0], self.sizes(n)[-1]})]

    def cost_s(self, network, row):
        """For every size: the time of the row's measurements and of its scheduler. None for a row whose
        costs were measured for another row."""
        made = [self.schedule(network, size, row) for size in self.sizes(network)]
        if not all(m["measuring_s"] for m in made):
            return None
        return [float(m["measuring_s"]) + float(m["scheduling_s"]) for m in made]


def share_by_mapping(ms, row):
    """The share of HIOS's gain over sequential that its mapping alone has; "" for other rows, or without
    a gain."""
    gained = ms["sequential 1x1"] - ms[row]
    if not row.startswith("hios-") or gained <= 0:
        return ""
    return (ms["sequential 1x1"] - ms[row.replace("hios-", "inter-")]) / gained


def size_rows(measured, network, pixels):
    """The table of one network at one size."""
    ms = {row: measured.median(network, pixels, row) for row in measured.rows(network)}
    for row, median in ms.items():
        made, samples = measured.schedule(network, pixels, row), measured.samples[network, pixels, row]
        yield {"network": network, "pixels": pixels, "row": row, "runs": len(samples),
               "latency_ms_mean": statistics.fmean(samples), "latency_ms_std": statistics.stdev(samples),
               "latency_ms_median": median, "predicted_ms": float(made["predicted_ms"]),
               "speedup_over_sequential": ms["sequential 1x1"] / median, "speedup_over_ios": ms["ios 1x1"] / median,
               "share_of_gain_by_mapping": share_by_mapping(ms, row), "gap": float(made["gap"]),
               "measuring_s": float(made["measuring_s"]) if made["measuring_s"] else "",
               "scheduling_s": float(made["scheduling_s"])}


def table(measured):
    return [row for network in measured.networks for pixels in measured.sizes(network)
            for row in size_rows(measured, network, pixels)]

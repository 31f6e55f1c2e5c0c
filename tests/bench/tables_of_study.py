"""The tables of docs/study.md, from the CSV files of bench/results/study."""

import page_tables
from markdown_tables import RESULTS, Numbers, tables_in

NETWORKS = ("inception_v3", "nasnet_large")
STUDY = RESULTS / "study"


class Figure:
    """The means of a figure of the simulation."""

    def __init__(self, number):
        self.rows = [row for row in page_tables.read_rows(STUDY / "figures.csv") if row["figure"] == str(number)]

    def values(self, algorithm, column="latency_ms_mean"):
        """In the order of the axis."""
        return [float(row[column]) for row in self.rows if row["algorithm"] == algorithm]

    def ends(self, algorithm, column="latency_ms_mean"):
        values = self.values(algorithm, column)
        return values[0], values[-1]

    def range(self, algorithm, column):
        values = self.values(algorithm, column)
        return min(values), max(values)

    def saved_by_stages(self, kind):
        """The least and the largest share that Alg. 2 takes off the mean latency, in per cent."""
        shares = [100 * (1 - grouped / alone) for grouped, alone in zip(self.values(f"hios-{kind}"), self.values(f"inter-{kind}"))]
        return min(shares), max(shares)


def texts(values, digits):
    return [f"{value:.{digits}f}" for value in values]


def simulated_claims():
    """Numbers of the column "here", by the figure that the row begins with."""
    over_one, over_ios, over_lp = "speedup_over_sequential", "speedup_over_ios", "latency_over_hios_lp"
    devices, size, edges, layers, p = map(Figure, (7, 8, 9, 10, 11))
    mr, above = devices.values("hios-mr", over_one), [100 * (ratio - 1) for ratio in devices.values("hios-mr", over_lp)]
    here = [
        texts((layers.values("sequential")[0], layers.values("ios")[0]), 1),
        texts((*devices.range("hios-lp", over_one), *devices.range("hios-lp", over_ios)), 1),
        [f"{mr[0]:.1f}", "2", f"{mr[2]:.1f}", "6"],
        ["2", f"{-above[0]:.0f}", f"{above[1]:.0f}", "4", f"{above[2]:.0f}", "6", f"{above[5]:.0f}", "12"],
        texts(size.range("hios-lp", over_one), 1),
        texts(size.range("hios-mr", over_lp), 2),
        texts((*size.saved_by_stages("lp"), *size.saved_by_stages("mr")), 1),
        texts((*edges.range("hios-lp", over_one), *edges.range("hios-mr", over_one)), 2),
        texts(reversed(layers.ends("hios-lp")), 0),
        texts(reversed(layers.ends("hios-mr")), 0),
        texts((*p.ends("hios-lp", over_one), *p.ends("hios-mr", over_one)), 2),
    ]
    return [[None, Numbers(*numbers), None] for numbers in here]


class Measured:
    """The rows of networks.csv by network, pixels and row."""

    def __init__(self):
        self.rows = {(row["network"], row["pixels"], row["row"]): row for row in page_tables.read_rows(STUDY / "networks.csv")}
        self.sizes = list(dict.fromkeys(key[:2] for key in self.rows))

    def median(self, size, row):
        return float(self.rows[*size, row]["latency_ms_median"])

    def less(self, network, row, than):
        """The least and the largest share by which medians of a network are below another row's, in per cent."""
        shares = [100 * (1 - self.median(size, row) / self.median(size, than)) for size in self.sizes if size[0] == network]
        return min(shares), max(shares)

    def seconds(self, row):
        some = [self.rows[*size, row] for size in self.sizes]
        return [float(each["measuring_s"]) + float(each["scheduling_s"]) for each in some]


def measured_claims():
    measured = Measured()
    inception, nasnet = NETWORKS
    off_sequential = measured.less(inception, "hios-lp 2x1", "sequential 1x1")
    off_lp = [measured.less(network, "ios 1x2", "hios-lp 2x1") for network in NETWORKS]
    off_mr = [share for network in NETWORKS for share in measured.less(network, "hios-lp 2x1", "hios-mr 2x1")]
    seconds = measured.seconds("hios-lp 2x1"), measured.seconds("ios 1x2")
    return [
        [None, Numbers(*texts(off_sequential, 0), f"{measured.less(nasnet, 'hios-lp 2x1', 'sequential 1x1')[1]:.0f}"), None],
        [None, Numbers(*texts((*off_lp[0], *off_lp[1]), 0)), None],
        [None, Numbers(*texts((max(0, min(off_mr)), max(off_mr)), 0)), None],
        [None, None, None],
        [None, Numbers(*(f"{end(some):.0f}" for some in seconds for end in (min, max)), "100"), None],
    ]


def generated():
    """The tables of page_tables.py, which are on the page and in its file."""
    found = {}
    for lines in page_tables.tables(STUDY).values():
        (table,) = tables_in("\n".join(lines))
        for page in ("docs/study.md", "bench/results/study/tables.md"):
            found[page, table.key()[1]] = [lambda rows=table.rows: rows]
    return found


RECOMPUTED = {
    **generated(),
    ("docs/study.md", "the paper says | here | holds?"): [simulated_claims, measured_claims],
}

"""Speed-ups over one device that cuts gain, from cuts.csv, and the table of docs/cutting.md."""

from cut_calls import DEVICES, NETWORKS, NODES, open_store

COUNTED = "NVLink"  # the node of the last two columns


class Gains:
    """Speed-ups by network, devices and link (GB/s, us); missing rows have none. A plan that may cut may cut nothing, too."""

    def __init__(self, folder):
        self.rows = {}
        for row in open_store(folder).rows.values():
            link = float(row["gb_per_s"]), float(row["latency_us"])
            for operators in {row["operators"], "cut"}:
                key = row["network"], int(row["devices"]), link, operators
                if key not in self.rows or float(row["latency_ms"]) < float(self.rows[key]["latency_ms"]):
                    self.rows[key] = row

    def row(self, network, devices, link, operators):
        """The shortest schedule's."""
        return self.rows.get((network, devices, link, operators))

    def speedup(self, *key):
        row = self.row(*key)
        return float(row["one_device_ms"]) / float(row["latency_ms"]) if row else None

    def above_bound(self, *key):
        """The share by which the schedule is longer than the lower bound of its graph."""
        row = self.row(*key)
        return float(row["latency_ms"]) / float(row["lower_bound_ms"]) - 1 if row else None


def shown(value, form):
    return "" if value is None else form.format(value)


def cells(gains, network, devices):
    for link in NODES.values():
        yield " / ".join(shown(gains.speedup(network, devices, link, operators), "{:.2f}") for operators in ("whole", "cut"))
    cut = network, devices, NODES[COUNTED], "cut"
    row = gains.row(*cut)
    yield row["cut_operators"] if row else ""
    yield shown(gains.above_bound(*cut), "{:.1%}").replace("%", " %")


def table(folder):
    """Lines of Markdown."""
    gains = Gains(folder)
    head = ["network", "devices", *NODES, f"{COUNTED}: operators cut", "above the bound"]
    rows = [[network, str(devices), *cells(gains, network, devices)] for network in NETWORKS for devices in DEVICES]
    return ["| " + " | ".join(line) + " |" if line else "|---" * len(head) + "|" for line in (head, None, *rows)]

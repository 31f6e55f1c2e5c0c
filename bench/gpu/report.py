"""The results file as a page: bench/results/<gpu>.md."""

from goals import goals, shares
from results import passed_tests
from target import NETWORKS

ROW_ORDER = ("sequential, no graphs", "sequential", "ios", "sequential, merged", "ios, merged",
             "torch eager", "torch graphs", "torch.compile",
             "hios-lp, 2 ranks, ipc", "hios-lp, 2 ranks, cuda-aware", "hios-lp, 2 ranks, staged")
RAW_COPIES = {"d2d": "raw copy on the device", "h2d": "raw host to device", "d2h": "raw device to host"}
NAMED = 8  # tests named on the page; the results file has all
SHOWN_BYTES = tuple(1 << power for power in (10, 14, 18, 20, 22, 24, 26, 28))


def page(document):
    sections = [head(document), goal_table(document), latency_section(document["parts"].get("latency")),
                transfer_section(document["parts"].get("transfer")), cold_section(document["parts"].get("cold")),
                tests_section(document["parts"].get("tests"))]
    return "\n\n".join(section for section in sections if section) + "\n"


def table(columns, rows):
    """A Markdown table; the first column is left-aligned, the others right-aligned."""
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def head(document):
    machine = document.get("machine", {})
    facts = ", ".join(f"{name} {value}" for name, value in machine.items() if value)
    text = f"# {document['gpu']}\n\nMade by `bench/gpu.sh` (docs/gpu.md)."
    if document.get("rehearsal"):
        text += " **A rehearsal on the CPU: its numbers mean nothing.**"
    return text + (f" {facts}." if facts else "")


def goal_table(document):
    if document.get("rehearsal"):
        return ""
    rows = [[goal.name, goal.word, goal.found] for goal in goals(document)]
    return "## Goals\n" + table(["goal", "", "found"], rows)


def milliseconds(value):
    return f"{value:.3f}" if value < 10 else f"{value:.2f}"


def change(row):
    """The change from the number that this one replaced."""
    if "previous" not in row or "latency_ms" not in row:
        return ""
    before = row["previous"]["best_quarter"]
    return f"{100 * (row['latency_ms']['best_quarter'] / before - 1):+.1f} %"


def latency_section(part):
    if not part or not part.get("rows"):
        return ""
    text = ["## Latency, batch 1", protocol(part)]
    cases = sorted({(row["math"] != "fp32", row["math"], NETWORKS.index(row["network"]), row["size"])
                    for row in part["rows"]})
    for _, math, network, size in cases:
        rows = [row for row in part["rows"]
                if (row["math"], row["network"], row["size"]) == (math, NETWORKS[network], size)]
        text.append(f"### {NETWORKS[network]} {size}x{size}, {math}\n" + latency_table(rows))
    return "\n\n".join(text)


def protocol(part):
    used = part.get("protocol", {})
    return (f"Milliseconds from the start of an iteration to its last output on the GPU, the maximum over ranks; "
            f"{used.get('warmup')} iterations of warm-up, then {used.get('iterations')} per round, up to "
            f"{used.get('rounds')} rounds in which the rows run in turn (two ranks: one round; torch.compile: "
            "after the others). `best 1/4` is the median of the fastest quarter, `vs seq` its speed-up over sequential, `error` "
            "(best 1/4 - predicted) / best 1/4, `change` the difference to the last run's number. PyTorch: the faster "
            "of channels_last and channels_first (named after its rows), cuDNN's search on, inference mode, the same "
            "layers from the same model file. Weights are random. Two ranks of one GPU run concurrently by NVIDIA's "
            "Multi-Process Service (MPS: yes), or alternate.")


def latency_table(rows):
    named = {row["row"]: row for row in rows}
    sequential = named.get("sequential", {}).get("latency_ms", {}).get("best_quarter")
    lines = []
    for name in [*ROW_ORDER, *sorted(set(named) - set(ROW_ORDER))]:
        row = named.get(name)
        if row is None:
            continue
        if "latency_ms" not in row:
            lines.append([name, *[""] * 8, f"failed: {one_line(row['failed'])}"])
            continue
        ms = row["latency_ms"]
        gain = f"{sequential / ms['best_quarter']:.2f}x" if sequential else ""
        predicted = milliseconds(row["predicted_ms"]) if row.get("predicted_ms") else ""
        error = f"{100 * row['prediction_error']:+.1f} %" if "prediction_error" in row else ""
        lines.append([name, ms["samples"], *(milliseconds(ms[key]) for key in ("best_quarter", "median", "p95")), gain,
                      predicted, error, change(row), remark(row)])
    columns = ["row", "N", "best 1/4", "median", "p95", "vs seq", "predicted", "error", "change", ""]
    return table(columns, lines) + gains(named)


def remark(row):
    return f"MPS: {one_line(row['mps'])}" if "mps" in row else row.get("layout", "")


def gains(named):
    """The gain by CUDA graphs."""
    both = [named.get(name, {}).get("latency_ms", {}).get("best_quarter")
            for name in ("sequential, no graphs", "sequential")]
    return f"\n\nCUDA graphs: {both[0] / both[1]:.2f}x on `sequential`." if all(both) else ""


def one_line(text):
    return " ".join(str(text).replace("|", "/").split())[:300]


def gigabytes(size, ms):
    return f"{size / ms / 1e6:.1f}" if ms else "-"


def cold_section(part):
    if not part or not part.get("rows"):
        return ""
    lines = []
    for row in part["rows"]:
        name = [f"{row['network']} {row['size']} {row['math']}, {row['row']}"]
        if "latency_ms" not in row:
            lines.append([*name, *[""] * 9, f"failed: {one_line(row['failed'])}"])
            continue
        ms = row["latency_ms"]
        predicted = milliseconds(row["predicted_ms"]) if row.get("predicted_ms") else ""
        error = f"{100 * row['prediction_error']:+.1f} %" if "prediction_error" in row else ""
        bits = "one rank's" if row["bitwise"] else "equal within tolerance" if row["verified"] else "WRONG"
        lines.append([*name, ms["samples"], *(milliseconds(ms[key]) for key in ("best_quarter", "median")), predicted, error,
                      milliseconds(row["resident_ms"]), milliseconds(row["load_ms"]), f"{row['overlap']:.2f}x", change(row), bits])
    columns = ["plan", "N", "best 1/4", "median", "predicted", "error", "resident", "loads alone", "of overlap", "change", "bits"]
    return ("## Cold starts, batch 1\n\nMilliseconds from the start of an iteration, at which no parameter is on the GPU, to its "
            "last output. `resident`: an inference with all parameters there; `of overlap`: the median over the larger of that and "
            "the loads alone, in the same run.\n\n" + table(columns, lines))


def transfer_section(part):
    if not part:
        return ""
    columns, curves = [], []
    for kind, words in RAW_COPIES.items():
        points = part.get("raw", {}).get(kind, [])
        if points:
            columns.append(words)
            curves.append({point["bytes"]: point["device_ms"] for point in points})
    for name, path in part.get("paths", {}).items():
        columns.append(name)
        curves.append({point["bytes"]: point["ms"] for point in path["points"]})
    text = ["## Transfers between two ranks on the one GPU",
            "GB/s (bytes moved over time). A path's time is half a round trip to a rank that waits, median of the fastest "
            "quarter of 20; a raw copy's is that of one of many in a row, by the GPU's clock."]
    sizes = [size for size in SHOWN_BYTES if any(size in curve for curve in curves)]
    if sizes:
        lines = [[size_word(size), *(gigabytes(size, curve.get(size)) for curve in curves)] for size in sizes]
        text.append(table(["bytes", *columns], lines))
        text.append(share_table(part, sizes))
    for name, why in part.get("failed", {}).items():
        text.append(f"{name}: failed: {one_line(why)}")
    return "\n\n".join(text)


def share_table(part, sizes):
    """The raw copy's time divided by the path's, by both clocks, and the change of the path's time since the last run."""
    lines = []
    for name, path in part.get("paths", {}).items():
        for clock, words in (("device_ms", "copies in a row"), ("waited_ms", "one copy and the wait")):
            found = dict(shares(part, name, clock))
            lines.append([f"{name}, of {words}",
                          *(f"{100 * found[size]:.0f} %" if size in found else "-" for size in sizes)])
        before = {point["bytes"]: point["ms"] for point in path.get("previous", {}).get("points", [])}
        now = {point["bytes"]: point["ms"] for point in path["points"]}
        if before:
            both = now.keys() & before.keys()
            lines.append([f"{name}, change of its time",
                          *(f"{100 * (now[size] / before[size] - 1):+.0f} %" if size in both else "-" for size in sizes)])
    return "Share of a raw device copy's speed:\n\n" + table(["path", *map(size_word, sizes)], lines)


def size_word(size):
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def tests_section(part):
    if not part:
        return ""
    rows = []
    for program in part.get("programs", []):
        problems = [*few(program["failed"]), *(f"{test} ended the program" for test in program["ended_the_program"]),
                    *(f"{test} skipped" for test in few(program["skipped"])),
                    *([f"{len(program['never_run'])} not run"] if program["never_run"] else []),
                    *([one_line(program["why"])] if program.get("why") else [])]
        rows.append([program["name"], "ok" if program["well"] else "FAILED", program["passed"], "; ".join(problems)])
    for network in part.get("networks", []):
        found = f"largest difference {network['max_abs']:.2g}" if network.get("max_abs") is not None else ""
        if network.get("bitwise"):
            found += ", bit for bit one rank's"
        if network.get("bitwise") is False:
            found += ", NOT bit for bit one rank's"
        rows.append([network["name"], "ok" if network["well"] else "FAILED", network.get("operators") or "",
                     "; ".join(filter(None, [found, one_line(network.get("why", ""))]))])
    for checker in part.get("checkers", []):
        rows.append([checker["name"], "ok" if checker["well"] else "FAILED", checker.get("passed", ""),
                     "; ".join(filter(None, [checker.get("summary", ""), one_line(checker.get("why", ""))]))])
    text = "## Tests\n" + table(["run", "", "passed", "remarks"], rows)
    if "previous" in part:
        text += f"\n\nTests passed: {passed_tests(part)}; in the last run {part['previous']['passed']}."
    return text


def few(names):
    return names if len(names) <= NAMED else [*names[:NAMED], f"and {len(names) - NAMED} more"]


def changes(document):
    """A line for each latency with an earlier one, for the terminal."""
    return [f"{row['network']} {row['size']} {row['math']} {row['row']}: {change(row)} since the last run"
            for row in document["parts"].get("latency", {}).get("rows", []) if change(row)]

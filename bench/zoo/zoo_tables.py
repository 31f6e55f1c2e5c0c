"""The rows of bench/onnx_networks in words: a table of kinds of networks, and one of what is refused."""

import json
import statistics
from collections import Counter

import zoo_judge

KINDS = {"classifier": "classifiers", "segmenter": "segmenters", "backbone": "backbones", "video": "videos",
         "detector": "detectors"}
COUNTED = ("classifier", "segmenter", "backbone")


def exported(rows):
    return [row for row in rows if row.get("exported")]


def row_of(title, rows):
    tried = exported(rows)
    accepted = [row for row in tried if row["accepted"]]
    compared = [row for row in accepted if "difference" in row]
    two = [row for row in accepted if "lp" in row]
    both = [row for row in two if min(row["lp_operators"]) > 0]
    share = f"{100 * len(accepted) / len(tried):.0f} %" if tried else ""
    median = f"{statistics.median(row['difference'] for row in compared):.1e}" if compared else ""
    worst = f"{max(row['difference'] for row in compared):.1e}" if compared else ""
    return [title, len(tried), len(accepted), share, sum(row["within"] for row in compared), median, worst,
            f"{sum(row['alternating'] and row['lp'] for row in two)} of {len(two)}", len(both)]


def families(rows):
    """A row for each kind, and one for those that count."""
    table = [row_of(title, [row for row in rows if row["kind"] == kind]) for kind, title in KINDS.items()]
    table.insert(3, row_of("these three", [row for row in rows if row["kind"] in COUNTED]))
    return [line for line in table if line[1]]


HEAD = ["networks", "exported", "accepted", "share", "within", "median", "largest", "two ranks", "both by hios-lp"]


def markdown(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)]) + "\n"


def json_text(results):
    """bench/results/onnx-networks.json: a row a line."""
    rows = ",\n".join(json.dumps(row) for row in results["rows"])
    return (f'{{"versions": {json.dumps(results["versions"])}, "backend": {json.dumps(results["backend"])}, '
            f'"of": {results.get("of", len(results["rows"]))}, "rows": [\n{rows}\n]}}\n')


def beyond_text(row):
    """How far outputs are from ONNX Runtime's, and how far its own are from each other: a network may amplify rounding."""
    if "difference" not in row:
        return row.get("line", "")
    text = format(row["difference"], ".1e")
    if "plain_difference" in row:
        text += (f"; ONNX Runtime without its optimisations is {row['plain_difference']:.1e} away from it, PyTorch "
                 f"{row['pytorch_difference']:.1e}")
    return text


def page(results):
    """bench/results/onnx-networks.md, or that of another backend."""
    rows, backend = results["rows"], results["backend"]
    flag = "" if backend == "cpu" else f" --backend {backend}"
    of = results.get("of", len(rows))
    some = "" if of == len(rows) else f" So far {len(rows)} of {of} networks."
    for choice, made in Counter(row["choice"] for row in rows if "choice" in row).items():
        some += f" {made} of them chose their algorithms with `{choice}`, as these GPUs take long to try one."
    text = (f"# Networks as ONNX files, on {zoo_judge.BACKENDS[backend].title}\n\nMade by `bench/onnx_networks{flag} --keep`: "
            + results["versions"] + f".{some} `within`: all outputs "
            "within 1e-4·max\\|y\\| + 1e-5 of ONNX Runtime's; `median` and `largest`: the difference as a share of the largest value; "
            "`two ranks`: of those that were run on two, the bits of one rank by a plan that alternates between two ranks and by that of `hios-lp`, which uses "
            "both ranks for the last column's.\n\n" + markdown(HEAD, families(rows)))
    refused = [row for row in exported(rows) if not row["accepted"]]
    beyond = [row for row in exported(rows) if row["accepted"] and not row.get("within")]
    left = [row for row in rows if not row.get("exported")]
    for title, some in (("Refused", refused), ("Accepted, and not within", beyond), ("Not exported by PyTorch", left)):
        lines = [f"- {row['network']}: {row.get('line') or beyond_text(row)}" for row in some]
        text += f"\n## {title}\n\n" + "\n".join(lines) + "\n" if lines else ""
    return text

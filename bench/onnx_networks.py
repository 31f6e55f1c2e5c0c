#!/usr/bin/env python3
"""bench/onnx_networks: PyTorch writes networks of timm and torchvision with random weights as ONNX files, by its new exporter
with external data at opsets 18 to 22 or by TorchScript at 17, and hios-run runs them on one rank and on two; their outputs are
compared with those of ONNX Runtime. One line per network. Rows that are there from an earlier call are not made again, nor, with
--go-on, those of the results file.
Status 1 if a difference exceeds 1e-4·max|y| + 1e-5, or if two ranks give other bits than one.
"""

import argparse
import json
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench/zoo"))
import zoo_exports  # noqa: E402
import zoo_judge  # noqa: E402
import zoo_list  # noqa: E402
import zoo_tables  # noqa: E402

SECONDS = 7200
RESULTS = ROOT / "bench/results"


def arguments():
    parser = argparse.ArgumentParser(prog="bench/onnx_networks", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="networks, or words in their names (all of them)")
    parser.add_argument("--list", action="store_true", help="print the names, and end")
    parser.add_argument("--ranks", type=int, choices=(1, 2), default=2, help="1: not on two ranks (2)")
    parser.add_argument("--backend", choices=tuple(zoo_judge.BACKENDS), default="cpu",
                        help="what runs them: emulated-cuda is the GPU code on a device that the tests emulate (cpu)")
    parser.add_argument("--again", action="store_true", help="make the rows again that are there")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/onnx-zoo", help="for rows and files (build/onnx-zoo)")
    parser.add_argument("--go-on", action="store_true", help="take over the rows that --keep has written, also on another machine")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no network after so many; a later call goes "
                        "on (no limit)")
    parser.add_argument("--keep-files", action="store_true", help="keep the ONNX files")
    parser.add_argument("--keep", action="store_true", help="write bench/results/onnx-networks.json and .md of all rows; where "
                        "BACKEND is not cpu, onnx-networks-BACKEND.json and .md")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin", help="folder of the programs")
    return parser.parse_args()


def row_of(network, options):
    """Exports a network, unless its file is there, and judges it."""
    row = {"network": network.key, "kind": network.kind, "opset": network.opset}
    folder = options.folder / "files" / network.key
    folder.mkdir(parents=True, exist_ok=True)
    if not all((folder / file).exists() for file in ("done", "pytorch.npz")):
        try:
            zoo_exports.export(network, folder / "network.onnx")
        except Exception as error:  # PyTorch's own refusals are of any type
            words = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(error)).split())  # without colours
            return {**row, "exported": False, "line": f"{type(error).__name__}: {words[:200]}"}
        (folder / "done").touch()
    programs = zoo_judge.Programs(options.programs, folder, zoo_judge.BACKENDS[options.backend])
    return {**row, "exported": True, **zoo_judge.judge(programs, options.ranks)}


def in_child(network, options, file):
    """Makes a row in a process of its own, which a crash or too long a time ends."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        try:
            row = row_of(network, options)
            file.with_suffix(".new").write_text(json.dumps(row))
            file.with_suffix(".new").rename(file)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    if not file.exists():
        done = (options.folder / "files" / network.key / "done").exists()
        file.write_text(json.dumps({"network": network.key, "kind": network.kind, "opset": network.opset, "exported": done,
                                    **({"accepted": True} if done else {}), "line": f"ended within {SECONDS} s without a result"}))


def good(row):
    two = "lp" not in row or (row["alternating"] and row["lp"])
    return not row["exported"] or not row["accepted"] or (row.get("within", False) and two)


def line_of(row):
    if "line" in row:
        return ("" if row["exported"] else "not exported: ") + row["line"]
    text = f"{'within' if row['within'] else 'BEYOND'}  {row['difference']:.1e} of max|y|"
    if "lp" not in row:
        return text
    return f"{text}, two ranks {'same bits' if row['alternating'] and row['lp'] else 'OTHER BITS'}, hios-lp {row['lp_operators']}"


def versions():
    import onnxruntime
    import timm
    import torch
    import torchvision
    return (f"PyTorch {torch.__version__.split('+')[0]}, torchvision {torchvision.__version__.split('+')[0]}, timm "
            f"{timm.__version__}, ONNX Runtime {onnxruntime.__version__}")


def rows_of(networks, options, folder):
    """The rows in the folder, and those that are made now, as long as there is time."""
    end = time.monotonic() + 60 * options.minutes
    rows = []
    for network in networks:
        file = folder / f"{network.key}.json"
        start = time.monotonic()
        if start > end and not file.exists():
            continue
        if start <= end and (options.again or not file.exists()):
            file.unlink(missing_ok=True)
            in_child(network, options, file)
            row = json.loads(file.read_text())
            print(f"{network.key:<55} {line_of(row)}, {time.monotonic() - start:.0f} s", flush=True)
        rows.append(json.loads(file.read_text()))
        if not options.keep_files:
            shutil.rmtree(options.folder / "files" / network.key, ignore_errors=True)
    return rows


def main():
    options = arguments()
    options.programs, options.folder = options.programs.resolve(), options.folder.resolve()
    networks = [each for each in zoo_list.all_networks()
                if not options.networks or any(word in each.key for word in options.networks)]
    if options.list:
        print("\n".join(f"{each.key} (opset {each.opset})" for each in networks))
        return 0
    print(versions(), flush=True)
    suffix = "" if options.backend == "cpu" else f"-{options.backend}"
    results = RESULTS / f"onnx-networks{suffix}.json"
    folder = options.folder / f"rows{suffix}"
    folder.mkdir(parents=True, exist_ok=True)
    earlier = json.loads(results.read_text()) if options.go_on and results.exists() else {"versions": versions(), "rows": []}
    if earlier["versions"] != versions():
        sys.exit(f"error: {results}: its rows are of {earlier['versions']}; without --go-on all are made")
    for row in earlier["rows"]:
        if not (folder / f"{row['network']}.json").exists():
            (folder / f"{row['network']}.json").write_text(json.dumps(row))
    rows = rows_of(networks, options, folder)
    print(zoo_tables.markdown(zoo_tables.HEAD, zoo_tables.families(rows)))
    if options.keep:
        options.minutes = -1  # none is made for the others
        every = zoo_list.all_networks()
        kept = {"versions": versions(), "backend": options.backend, "of": len(every), "rows": rows_of(every, options, folder)}
        results.write_text(zoo_tables.json_text(kept))
        results.with_suffix(".md").write_text(zoo_tables.page(kept))
    return 0 if all(map(good, rows)) else 1


if __name__ == "__main__":
    sys.exit(main())

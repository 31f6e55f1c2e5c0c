"""bench/peers.sh: runs hios-run, ONNX Runtime and OpenVINO in turn, with the same ONNX file, input and cores. A round starts
each of them again, warms it up and takes the median of its runs; a row is the median over rounds. If our one-core row varies
by more than 3 % between rounds, the network is measured again, at most three times in total. Outputs are compared, too.
Prints a table, writes build/peers.json and .csv. Status 1 if a network failed or our values and ONNX Runtime's differ by more
than 1e-4 of the largest.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python")]

import peer_networks  # noqa: E402
from built import built  # noqa: E402
from peer_report import Report  # noqa: E402
from peer_rounds import Measurement, Protocol  # noqa: E402
from peer_workers import Worker, WorkerError  # noqa: E402
from hios.launch.programs import Programs  # noqa: E402

OPENVINO = "openvino==2026.4.1"


def arguments():
    parser = argparse.ArgumentParser(prog="bench/peers.sh", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("networks", nargs="*", metavar="NETWORK|FILE.onnx",
                        help="built-in: " + ", ".join(peer_networks.BUILT_IN) + "; of PyTorch: "
                        + ", ".join(peer_networks.OF_TORCH) + "; default: all (those of PyTorch if "
                        "scripts/setup.sh --onnx-networks has installed it)")
    parser.add_argument("--threads", default="1,2", metavar="T[,T...]", help="cores of a row (1,2)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds per set (5)")
    parser.add_argument("--seconds", type=float, default=3, help="approximate seconds of measured runs per row and round (3)")
    parser.add_argument("--warmup", type=int, default=5, help="runs before measuring, each round (5)")
    parser.add_argument("--attempts", type=int, default=3, help="most sets of rounds if the one-core row varies (3)")
    parser.add_argument("--programs", type=Path, help="folder of the programs (build/release/bin, built first)")
    parser.add_argument("--output", type=Path, default=ROOT / "build/peers.json", metavar="FILE.json",
                        help="results, also as .csv next to it (build/peers.json)")
    options = parser.parse_args()
    try:
        options.threads = [int(word) for word in options.threads.split(",")]
        if min(options.threads) < 1:
            raise ValueError
    except ValueError:
        parser.error("--threads takes whole numbers from 1, with commas")
    if min(options.rounds, options.attempts) < 1 or options.warmup < 0 or options.seconds <= 0:
        parser.error("--rounds, --attempts and --seconds must be more than 0, --warmup at least that")
    for name in options.networks:
        error = peer_networks.error_of(name)
        if error:
            parser.error(error)
    return options


def surroundings():
    """Returns a Python that has the peers."""
    done = subprocess.run([ROOT / "bench/onnx_surroundings", "--peers", OPENVINO], stdout=subprocess.PIPE, text=True,
                          check=True)
    return done.stdout.strip()


def main():
    options = arguments()
    programs = Programs((options.programs or built()).resolve())
    worker = Worker(surroundings())
    versions = worker.ask({"do": "versions"})
    networks, left_out = peer_networks.chosen(options.networks, versions["torch"])
    if left_out:
        print(f"no PyTorch here (scripts/setup.sh --onnx-networks installs it): {', '.join(left_out)} skipped")
    protocol = Protocol(options.threads, options.rounds, options.seconds, options.warmup, options.attempts)
    report = Report(options.output, versions, protocol)
    failed = False
    for name in networks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                file = peer_networks.write(name, Path(folder), programs, worker)
                report.add(name, Measurement(file, Path(folder), programs, worker, protocol).run(name))
            except (WorkerError, SystemExit) as error:  # a network that fails does not stop the others
                failed = True
                print(f"{name}: {error}", file=sys.stderr)
    print(report.table())
    return 0 if report.right() and not failed else 1


if __name__ == "__main__":
    sys.exit(main())

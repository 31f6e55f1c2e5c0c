"""What bench/peers.sh runs: the same ONNX file, the same input and the same cores for hios-run, ONNX Runtime and OpenVINO,
in turns. A round starts each of them anew, lets it warm up and takes the median of its runs; a row is the median over
rounds. A network whose one-core row of ours moved by more than 3 % between rounds is measured again, at most three times
in all. What they compute is compared, too. Prints a table, writes build/peers.json and .csv. Status 1 where a network failed or
ours and ONNX Runtime's values differ by more than 1e-4 of the largest.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench" / "study")]

import peer_networks  # noqa: E402
from peer_report import Report  # noqa: E402
from peer_rounds import Measurement, Protocol  # noqa: E402
from peer_workers import Worker, WorkerError  # noqa: E402
from programs import Programs  # noqa: E402

OPENVINO = "openvino==2026.4.1"


def arguments():
    parser = argparse.ArgumentParser(prog="bench/peers.sh", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("networks", nargs="*", metavar="NETWORK|FILE.onnx",
                        help="built-in: " + ", ".join(peer_networks.BUILT_IN) + "; of PyTorch: "
                        + ", ".join(peer_networks.OF_TORCH) + "; all of them without any (those of PyTorch where "
                        "scripts/setup.sh --onnx-networks has installed it)")
    parser.add_argument("--threads", default="1,2", metavar="T[,T...]", help="cores of a row (1,2)")
    parser.add_argument("--rounds", type=int, default=5, help="at a time (5)")
    parser.add_argument("--seconds", type=float, default=3, help="of measured runs a row and round, about (3)")
    parser.add_argument("--warmup", type=int, default=5, help="runs before measuring, each round (5)")
    parser.add_argument("--attempts", type=int, default=3, help="sets of rounds where the one-core row moves (3)")
    parser.add_argument("--programs", type=Path, help="folder of the programs (build/release/bin, built first)")
    parser.add_argument("--output", type=Path, default=ROOT / "build/peers.json", metavar="FILE.json",
                        help="results; the same as .csv beside it (build/peers.json)")
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
        complaint = peer_networks.complaint(name)
        if complaint:
            parser.error(complaint)
    return options


def built():
    """The folder of the programs, as of now."""
    for command in (["scripts/setup.sh"], ["cmake", "--preset", "release"],
                    ["cmake", "--build", "--preset", "release", "--target", "hios-profile", "hios-schedule", "hios-run"]):
        subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=True)
    return ROOT / "build/release/bin"


def surroundings():
    """A Python that has the peers."""
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
        print(f"no PyTorch here (scripts/setup.sh --onnx-networks installs it): {', '.join(left_out)} left out")
    protocol = Protocol(options.threads, options.rounds, options.seconds, options.warmup, options.attempts)
    report = Report(options.output, versions, protocol)
    failed = False
    for name in networks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                file = peer_networks.write(name, Path(folder), programs, worker)
                report.add(name, Measurement(file, Path(folder), programs, worker, protocol).run(name))
            except (WorkerError, SystemExit) as error:  # what one network cannot is no reason to leave the others out
                failed = True
                print(f"{name}: {error}", file=sys.stderr)
    print(report.table())
    return 0 if report.right() and not failed else 1


if __name__ == "__main__":
    sys.exit(main())

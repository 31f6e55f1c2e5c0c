#!/usr/bin/python3
"""The error of predictions over a network: hosts of tests/network on several links, each measured, planned and run.

bench/network.py [--programs FOLDER] [--model NAME] [--size N] [--iterations N] [--rounds N] — one line per link and
round; needs an idle machine, and a core for each host.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/network"))
import hosts  # noqa: E402

LINKS = {
    "no limit": {},
    "200 Mbit/s": {"rate": "200mbit"},
    "1 ms": {"delay_ms": 1},
    "1 ms, 1 % lost": {"delay_ms": 1, "loss": 0.01},
}
RANKS = {"host1": 1, "host2": 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--model", default="inception_v3")
    parser.add_argument("--size", default="149")
    parser.add_argument("--algorithm", default="hios-mr")
    parser.add_argument("--iterations", default="60")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    hosts.call_inside()
    network = ("--model", options.model, "--height", options.size, "--width", options.size)

    def checked(done):
        if done.returncode != 0:
            sys.exit(f"{done.stdout}{done.stderr}")

    print(f"{'link':<16}{'1 KB ms':>9}{'1 MB ms':>9}{'sent MB':>9}{'predicted':>11}{'measured':>10}{'error':>9}  bits",
          flush=True)
    for name, link in LINKS.items():
        errors = []
        for seed in range(1, options.rounds + 1):
            with hosts.Hosts(2, seed=seed, **link) as on:
                profile, schedule, report = (on.folder / each for each in ("profile.json", "schedule.json", "run.json"))
                checked(on.run(RANKS, options.programs / "hios-profile", *network, "--iterations", options.iterations,
                               "--largest-message", 1 << 20, "--output", profile, limit_s=600))
                checked(subprocess.run([options.programs / "hios-schedule", *network, "--profile", profile, "--devices",
                                        "2", "--algorithm", options.algorithm, "--output", schedule],
                                       capture_output=True, text=True, check=False))
                checked(on.run(RANKS, options.programs / "hios-run", *network, "--schedule", schedule, "--verify",
                               "--iterations", options.iterations, "--json", report, limit_s=600))
                points = json.loads(profile.read_text())["configurations"][0]["transfers"][0]["points"]
                run = json.loads(report.read_text())
                sent = sum(rank["sent_bytes"] for rank in run["ranks"]) / 1e6
                errors.append(abs(run["prediction_error"]))
                print(f"{name:<16}{points[0][1]:>9.2f}{points[-1][1]:>9.2f}{sent:>9.2f}{run['predicted_ms']:>11.2f}"
                      f"{run['latency_ms']['best_quarter']:>10.2f}{100 * run['prediction_error']:>+8.1f} %"
                      f"  {'equal' if run['verified']['bitwise'] else 'DIFFERENT'}", flush=True)
        print(f"{name:<16}median error {100 * statistics.median(errors):.1f} %", flush=True)


if __name__ == "__main__":
    main()

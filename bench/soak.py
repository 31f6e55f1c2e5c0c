#!/usr/bin/env python3
"""Long tests on this machine: four ranks for ten minutes (no false alarm of a watchdog, no growth of memory), a hundred
kills at random moments, and the cost of the flight record. Writes bench/results/soak.md and .json.
"""

import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench" / "study"), str(ROOT / "python")]
from hios.launch.programs import Programs  # noqa: E402

PARTS = ("steady", "kills", "record")
WHOLE = ("--model", "squeezenet")
MODEL = (*WHOLE, "--height", "64")
RANK = 'echo $$ > "$PIDS/$OMPI_COMM_WORLD_RANK"; exec "$@"'  # a rank writes its process id, and becomes the program


class Job:
    """Ranks whose process ids are known."""

    def __init__(self, programs, ranks, folder, *words):
        self.folder = Path(folder)
        for old in self.folder.glob("[0-9]*"):
            old.unlink()
        environment = dict(programs.environment, PIDS=str(folder))
        command = ["mpirun", "-np", str(ranks), "--bind-to", "none", "--oversubscribe", "--mca", "btl", "self,vader",
                   "--mca", "oob_tcp_if_include", "lo", "/bin/sh", "-c", RANK, "sh", *map(str, words)]
        self.ranks = ranks
        self.started = time.monotonic()
        self.process = subprocess.Popen(command, env=environment, cwd=folder, text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def pids(self):
        found = {}
        for file in self.folder.glob("[0-9]*"):
            text = file.read_text().strip()
            if file.name.isdigit() and text:
                found[int(file.name)] = int(text)
        return found

    def end(self, seconds):
        """Status, stdout, stderr. A launcher that hangs after its ranks have ended is killed; its status is None."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            if self.alive():
                raise
            self.process.kill()
            return (None, *self.process.communicate())
        return self.process.returncode, out, err

    def alive(self):
        """The ranks that have not ended (a zombie has)."""
        return [pid for pid in self.pids().values() if state_of(pid) not in (None, "Z")]


def state_of(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None


def resident_kib(pid):
    try:
        match = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return None
    return int(match.group(1)) if match else None


def prepare(programs, folder, ranks, model=MODEL):
    """Makes a profile and a schedule for a number of ranks of one core."""
    profile, schedule = folder / f"profile-{ranks}.json", folder / f"schedule-{ranks}.json"
    programs.run("hios-profile", *model, "--iterations", 10, "--output", profile, "--oversubscribe", "--force",
                 ranks=ranks)
    programs.run("hios-schedule", *model, "--profile", profile, "--devices", ranks, "--algorithm", "inter-lp",
                 "--output", schedule, "--force")
    return schedule


def steady(programs, folder, minutes):
    """Runs four ranks on all cores; a false alarm of a watchdog would end the job."""
    schedule = prepare(programs, folder, 4)
    job = Job(programs, 4, folder, programs.folder / "hios-run", *MODEL, "--schedule", schedule, "--duration",
              60 * minutes, "--timeout", 10, "--verify", "--oversubscribe", "--json", folder / "steady.json", "--force")
    memory = {}

    def sample():
        while job.process.poll() is None:
            for rank, pid in job.pids().items():
                memory.setdefault(rank, []).append(resident_kib(pid))
            time.sleep(5)

    thread = threading.Thread(target=sample)
    thread.start()
    status, _, err = job.end(60 * minutes * 2 + 120)
    thread.join()
    growth = {}
    for rank, samples in sorted(memory.items()):
        samples = [kib for kib in samples if kib][2:-2]
        third = max(1, len(samples) // 3)
        growth[rank] = statistics.median(samples[-third:]) - statistics.median(samples[:third])
    report = json.loads((folder / "steady.json").read_text()) if status == 0 else {}
    return {"minutes": minutes, "ranks": 4, "cores": len(os.sched_getaffinity(0)), "status": status,
            "alarms": err.count("no progress"), "iterations": len(report.get("iterations_ms", [])),
            "bitwise": (report.get("verified") or {}).get("bitwise"), "growth_kib_by_rank": list(growth.values())}


def kills(programs, folder, count, seed):
    """Kills one of two ranks at a random moment of a profile or a run, from the start of its process to its end."""
    schedule = prepare(programs, folder, 2)
    output = folder / "killed.json"
    commands = [("hios-run", *MODEL, "--schedule", schedule, "--verify", "--json", output),
                ("hios-profile", *MODEL, "--iterations", 20, "--output", output)]

    def start(program, *words):
        output.unlink(missing_ok=True)
        return Job(programs, 2, folder, programs.folder / program, *words, "--oversubscribe", "--timeout", 20)

    lives_s = []  # the duration of each without a kill
    for command in commands:
        job = start(*command)
        if job.end(120)[0] != 0:
            raise SystemExit(f"{command[0]} fails without a kill")
        lives_s.append(time.monotonic() - job.started)
    dice = random.Random(seed)
    results = []
    for index in range(count):
        victim, delay = dice.randrange(2), dice.uniform(0.0, 0.9 * lives_s[index % 2])
        job = start(*commands[index % 2])
        while victim not in job.pids() and job.process.poll() is None:
            time.sleep(0.002)
        time.sleep(delay)
        try:
            os.kill(job.pids()[victim], signal.SIGKILL)
        except (KeyError, ProcessLookupError):
            pass  # the rank had already ended
        struck = time.monotonic()
        while job.process.poll() is None and job.alive() and time.monotonic() - struck < 30:
            time.sleep(0.01)
        gone = time.monotonic()
        status, _, err = job.end(30)
        half = False
        if output.exists():
            try:
                json.loads(output.read_text())
            except ValueError:
                half = True
        results.append({"seconds": gone - struck, "ended_before": status == 0, "launcher_hung": status is None,
                        "named": f"error: rank {victim} on " in err and ", last: " in err,
                        "named_by_launcher": f"process rank {victim} with PID" in err, "half_file": half})
        print(f"kill {index + 1}/{count}", end="\r", file=sys.stderr)
    struck = [each for each in results if not each["ended_before"]]
    return {"kills": count, "seed": seed, "too_late": count - len(struck),
            "named_with_what_was_done_last": sum(each["named"] for each in struck),
            "named_by_the_launcher_only": sum(each["named_by_launcher"] and not each["named"] for each in struck),
            "not_named": sum(not each["named"] and not each["named_by_launcher"] for each in struck),
            "launcher_hung_after_its_ranks": sum(each["launcher_hung"] for each in results),
            "half_files": sum(each["half_file"] for each in results),
            "longest_s": max((each["seconds"] for each in struck), default=0.0)}


def events_an_iteration(programs, folder, schedule):
    """For each rank, the events of the last iteration that its record, requested during a run, contains completely."""
    job = Job(programs, 2, folder, programs.folder / "hios-run", *WHOLE, "--schedule", schedule, "--oversubscribe",
              "--duration", 8, "--flight-record", folder)
    time.sleep(6)
    for pid in job.pids().values():
        os.kill(pid, signal.SIGUSR1)
    job.end(60)
    counts = []
    for rank in range(2):
        events = json.loads((folder / f"hios-run-rank-{rank}.flight.json").read_text())["events"]
        iterations = [event["iteration"] for event in events if "iteration" in event]
        counts.append(iterations.count(max(iterations) - 1))
    return counts


def record(programs, folder, pairs):
    """The cost of the flight record: the time of an event times the events of an iteration, as a share of the iteration;
    and the medians of the best quarters of alternating runs with and without it, for comparison with the noise."""
    schedule = prepare(programs, folder, 2, WHOLE)
    times = {".": [], "off": []}
    for _ in range(pairs):
        for where, list_ in times.items():
            report = programs.json("hios-run", *WHOLE, "--schedule", schedule, "--oversubscribe", "--iterations", 200,
                                   "--flight-record", where, ranks=2)
            list_.append(report["latency_ms"]["best_quarter"])
    ratios = [on / off for on, off in zip(times["."], times["off"])]
    said = subprocess.run([programs.folder / "event_cost"], capture_output=True, text=True, check=True).stdout
    event_ns, events = float(said.split()[0]), events_an_iteration(programs, folder, schedule)
    share = max(events) * event_ns * 1e-6 / statistics.median(times["off"])
    return {"event_ns": event_ns, "events_an_iteration_by_rank": events, "share_of_an_iteration": share,
            "pairs": pairs, "with_ms": statistics.median(times["."]), "without_ms": statistics.median(times["off"]),
            "ratio_of_medians": statistics.median(times["."]) / statistics.median(times["off"]),
            "median_of_ratios": statistics.median(ratios),
            "ratio_of_minima": min(times["."]) / min(times["off"]), "ratios": sorted(ratios)}


def table(results):
    lines = ["# Soak", "", "Made by `bench/soak.py`.", ""]
    for part, values in results.items():
        lines += [f"## {part}", "", "| | |", "|---|---|"]
        lines += [f"| {key.replace('_', ' ')} | {json.dumps(value)} |" for key, value in values.items()]
        lines.append("")
    return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser(prog="bench/soak.py", description=" ".join(__doc__.split(": ", 1)[1].split()))
    parser.add_argument("--parts", default=",".join(PARTS), help="some of " + ", ".join(PARTS) + " (default: all)")
    parser.add_argument("--minutes", type=float, default=10, help="minutes of the steady run (10)")
    parser.add_argument("--kills", type=int, default=100, help="number of kills (100)")
    parser.add_argument("--pairs", type=int, default=10, help="runs with and without the flight record (10)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments of the kills (1)")
    parser.add_argument("--programs", default=ROOT / "build" / "release" / "bin", help="folder of the programs")
    given = parser.parse_args()
    given.programs = Path(given.programs).resolve()
    given.parts = given.parts.split(",")
    if not set(given.parts) <= set(PARTS):
        parser.error("--parts takes some of " + ", ".join(PARTS))
    return given


def main():
    given = arguments()
    programs = Programs(given.programs)
    file = ROOT / "bench" / "results" / "soak.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, run in (("steady", lambda: steady(programs, folder, given.minutes)),
                          ("kills", lambda: kills(programs, folder, given.kills, given.seed)),
                          ("record", lambda: record(programs, folder, given.pairs))):
            if part in given.parts:
                results[part] = run()
                print(part, json.dumps(results[part]))
    file.write_text(json.dumps(results, indent=1) + "\n")
    file.with_suffix(".md").write_text(table(results))


if __name__ == "__main__":
    main()

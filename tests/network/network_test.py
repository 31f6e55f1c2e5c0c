"""Programs on several hosts (hosts.py): a slow link, one that delays and loses frames, one that goes down, GPUs joined by NCCL,
and Slurm."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

import hosts
from hosts import Hosts

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/slurm"))
import cluster  # noqa: E402

PROGRAMS = Path(os.environ.get("HIOS_BIN_DIR", ROOT / "build/release/bin"))
NCCL = os.environ.get("HIOS_EMULATED_NCCL", PROGRAMS.parent / "tests/support/emulated_cuda/nccl")
SMALL = ("--model", "squeezenet", "--height", "64", "--width", "64")
BRANCHED = ("--model", "inception_v3", "--height", "107", "--width", "107")
MESSAGE = 1 << 18


def read(path):
    return json.loads(Path(path).read_text())


def points(profile, origin, destination):
    """Bytes and milliseconds between two ranks, from the smallest message to the largest."""
    return next(curve["points"] for configuration in profile["configurations"] for curve in configuration["transfers"]
                if (curve["from"], curve["to"]) == (origin, destination))


def bytes_across(graph, schedule, away):
    """Returns the bytes that the schedule sends between the devices `away` and the others, once to each device."""
    device = {operator: number for number, each in enumerate(schedule["devices"])
              for stage in each["stages"] for group in stage for operator in group}
    sent = {}
    for edge in graph["edges"]:
        origin, destination = device[edge["from"]], device[edge["to"]]
        if (origin in away) != (destination in away):
            sent[edge["from"], destination] = edge["bytes"]
    return sum(sent.values())


class OnHosts(unittest.TestCase):
    def check(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def profile(self, on, ranks, network):
        file = on.folder / "profile.json"
        self.check(on.run(ranks, PROGRAMS / "hios-profile", *network, "--warmup", 1, "--iterations", 5,
                          "--largest-message", MESSAGE, "--oversubscribe", "--timeout", 400, "--output", file))
        return file

    def schedule(self, on, profile, network, devices, algorithm):
        file, graph = on.folder / "schedule.json", on.folder / "graph.json"
        self.check(subprocess.run([PROGRAMS / "hios-schedule", *network, "--profile", profile, "--devices",
                                   str(devices), "--algorithm", algorithm, "--output", file, "--export-graph", graph,
                                   "--force"], capture_output=True, text=True, check=False))
        return file, read(graph)


class Links(OnHosts):
    def sent(self, on, profile):
        """The bytes between the hosts that a plan by this profile sends: two ranks on one host and one on another."""
        schedule, graph = self.schedule(on, profile, BRANCHED, 3, "hios-lp")
        return bytes_across(graph, read(schedule), away={2})

    def test_a_slow_link_is_measured_and_the_plan_sends_less_over_it(self):
        megabits = 50
        with Hosts(2, rate=f"{megabits}mbit") as on:
            file = self.profile(on, {"host1": 2, "host2": 1}, BRANCHED)
            slow, sent_slow = read(file), self.sent(on, file)
            # A fast link is not measured: next to other programs it looks slow, too. It is as fast as memory here.
            fast = read(file)
            for configuration in fast["configurations"]:
                for curve in configuration["transfers"]:
                    curve["points"] = points(slow, 0, 1)
            file.write_text(json.dumps(fast))
            sent_fast = self.sent(on, file)
        # No message is faster than its link (which lets 32 KB through at once), and none within the host is slowed.
        for origin in (0, 1):
            size, across_ms = points(slow, origin, 2)[-1]
            link_ms = (size - 32 * 1024) * 8 / (megabits * 1000)
            within_ms = points(slow, 0, 1)[-1][1]
            print(f"{size} bytes: {across_ms:.2f} ms across (the link alone {link_ms:.2f}), {within_ms:.2f} ms within")
            self.assertGreater(across_ms, link_ms)
            self.assertLess(within_ms, across_ms / 4)
        print(f"the plan sends {sent_fast} bytes across, and {sent_slow} over the slow link")
        self.assertLess(sent_slow, sent_fast)

    def test_delay_and_loss_change_no_bit(self):
        seed = 20 + os.getpid() % 1000
        print(f"seed {seed}")
        ranks = {"host1": 1, "host2": 1}
        with Hosts(2, delay_ms=1, loss=0.01, seed=seed) as on:
            profile = self.profile(on, ranks, SMALL)
            self.assertGreater(points(read(profile), 0, 1)[0][1], 1.0, "the delay")
            schedule, _ = self.schedule(on, profile, SMALL, 2, "inter-mr")
            report = on.folder / "report.json"
            self.check(on.run(ranks, PROGRAMS / "hios-run", *SMALL, "--schedule", schedule, "--iterations", 10, "--timeout", 400,
                              "--verify=operators", "--json", report))
            self.assertTrue(read(report)["verified"]["bitwise"])
            self.assertEqual({rank["host"] for rank in read(report)["ranks"]}, {"host1", "host2"})
            self.assertGreater(sum(rank["sent_bytes"] for rank in read(report)["ranks"]), 0)
            self.assertRegex(read(report)["transfer_path"], r", network between 2 hosts \(TCP over wire0, [0-9.e-]+ GB/s\)")

    def test_a_link_that_goes_down_ends_the_job(self):
        ranks = {"host1": 1, "host2": 1}
        with Hosts(2) as on:
            profile = self.profile(on, ranks, SMALL)
            schedule, _ = self.schedule(on, profile, SMALL, 2, "inter-mr")
            timeout_s = on.limit_s(120)
            job = on.start_run(ranks, PROGRAMS / "hios-run", *SMALL, "--schedule", schedule, "--duration", 600,
                               "--timeout", timeout_s)
            self.wait_until(lambda: len(hosts.processes("hios-run")) >= 2, on.limit_s(60))  # and their crash reporters
            time.sleep(2)
            on.cut("host2")
            started = time.monotonic()
            printed, _ = job.communicate(timeout=timeout_s + on.limit_s(100))
            self.assertNotEqual(job.returncode, 0, printed)
            self.assertLess(time.monotonic() - started, timeout_s, printed)
            self.assertRegex(printed, "(lost communication|no progress).*(.|\n)*host2", printed)
            self.wait_until(lambda: not hosts.processes("hios-run") and not hosts.processes("orted"), timeout_s)

    def wait_until(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)


class Gpus(OnHosts):
    """Emulated GPUs: NCCL's library is the tests' own, whose members share this machine's memory, and the ranks' processes are
    on hosts of their own."""
    network = ("--model", "squeezenet", "--height", "33", "--width", "33")
    ranks = {"host1": 2, "host2": 1}

    def alternating(self, on):
        """A schedule that gives each operator to the next device."""
        listed, file = on.folder / "operators.json", on.folder / "schedule.json"
        self.check(subprocess.run([PROGRAMS / "hios-schedule", *self.network, "--list-operators", "--json", listed, "--force"],
                                  capture_output=True, text=True, check=False))
        names = [each["name"] for each in read(listed)["operators"]]
        devices = [{"name": f"gpu{rank}", "kind": "gpu", "threads": 0, "streams": 1, "stages": [[[name]] for name in names[rank::3]]}
                   for rank in range(3)]
        file.write_text(json.dumps({"format": "hios-schedule", "version": 1, "devices": devices, "graph":
                                    {"name": read(listed)["model"], "digest": read(listed)["digest"]}}))
        return file

    def routes_and_bits(self, on, *environment):
        """Runs the network on two GPUs of a host and one of another; returns the lines about routes."""
        of_host = 'case $(hostname) in host1) gpus=0,1 ;; *) gpus=2 ;; esac; CUDA_VISIBLE_DEVICES=$gpus exec "$@"'
        report = on.folder / "report.json"
        done = self.check(on.run(
            self.ranks, "env", "HIOS_EMULATED_CUDA=order=late,devices=3", *environment, "sh", "-c", of_host, "sh",
            PROGRAMS / "hios_emulated_run", *self.network, "--backend", "cuda", "--schedule", self.alternating(on),
            "--iterations", 2, "--warmup", 0, "--warmup-seconds", 0, "--verify", "--oversubscribe", "--timeout",
            400, "--json", report, "--force"))
        self.assertTrue(read(report)["verified"]["bitwise"])
        self.assertEqual([rank["host"] for rank in read(report)["ranks"]], ["host1", "host1", "host2"])
        return [line.split() for line in done.stdout.split("from \\ to", 1)[1].splitlines()[1:5]]

    def test_nccl_joins_gpus_of_two_hosts(self):
        with Hosts(2) as on:
            by_nccl = self.routes_and_bits(on, f"LD_LIBRARY_PATH={NCCL}")
            self.assertEqual(by_nccl[:3], ["0 - ipc PCIe nccl net".split(), "1 ipc PCIe - nccl net".split(),
                                           "2 nccl net nccl net -".split()])
            without = self.routes_and_bits(on)
            self.assertEqual(without[2], "2 staged net staged net -".split())
            self.assertIn("0-2, 1-2, 2-0, 2-1: no ipc: on different hosts", " ".join(without[3]))


class Slurm(unittest.TestCase):
    def test_jobs_on_two_hosts_give_the_bits_of_one_rank(self):
        lacking = cluster.missing()
        if lacking:
            raise AssertionError(f"there is no Slurm: {', '.join(lacking)} (scripts/setup.sh --slurm installs it)")
        with Hosts(2) as on, cluster.Cluster(hosts=on) as slurm:
            folder = slurm.folder / "jobs"
            shutil.copytree(ROOT / "slurm", folder)
            site = (folder / "sites/cpu.env").read_text()
            (folder / "site.env").write_text(re.sub(r"^HIOS_BIN=.*$", f"HIOS_BIN={PROGRAMS}", site, flags=re.M))

            def finish(*arguments):
                number = slurm.submit("--nodes=2", "--output=%x-%j.out", *arguments, folder=folder)
                state = slurm.wait(number)
                printed = "".join(path.read_text(errors="replace") for path in folder.glob(f"*-{number}.out"))
                self.assertEqual(state, "COMPLETED", printed)

            profile, schedule, report = (folder / name for name in ("profile.json", "schedule.json", "report.json"))
            finish("profile.sbatch", *SMALL, "--warmup", 1, "--iterations", 5, "--largest-message", MESSAGE,
                   "--output", profile)
            slurm.command(PROGRAMS / "hios-schedule", *SMALL, "--profile", profile, "--devices", 2, "--algorithm",
                          "inter-mr", "--output", schedule)
            finish("run.sbatch", *SMALL, "--iterations", 5, "--schedule", schedule, "--verify=operators", "--json",
                   report)
            self.assertTrue(read(report)["verified"]["bitwise"])
            self.assertEqual({rank["host"] for rank in read(report)["ranks"]}, {"host1", "host2"})


if __name__ == "__main__":
    hosts.call_inside()
    unittest.main(verbosity=2)

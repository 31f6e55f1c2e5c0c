"""The job scripts of slurm/, on a real Slurm of two nodes (cluster.py)."""

import json
import os
import re
import shutil
import signal
import time
import unittest
from pathlib import Path

from cluster import Cluster, missing, read_json

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("HIOS_BIN_DIR", ROOT / "build/release/bin"))
NETWORK = ("--model", "squeezenet", "--height", "64", "--width", "64")
QUICK = ("--warmup", "1", "--iterations", "5")


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lacking = missing()
        if lacking:
            raise AssertionError(f"there is no Slurm: {', '.join(lacking)} (scripts/setup.sh --slurm installs it)")
        cls.cluster = Cluster(nodes=2)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        self.folder = self.cluster.folder / self.id().split(".")[-1]
        shutil.copytree(ROOT / "slurm", self.folder)
        self.site()

    def site(self, launcher="mpirun"):
        example = (self.folder / "site.env.example").read_text()
        text = re.sub(r"^HIOS_BIN=.*$", f"HIOS_BIN={PROGRAMS}", example, flags=re.M)
        text = re.sub(r"^HIOS_LAUNCHER=.*$", f"HIOS_LAUNCHER={launcher}", text, flags=re.M)
        (self.folder / "site.env").write_text(text)

    def submit(self, *arguments, variables=None):
        return self.cluster.submit("--nodes=2", "--output=%x-%j.out", *arguments, folder=self.folder,
                                   variables=variables)

    def output(self, number):
        return "".join(path.read_text(errors="replace") for path in self.folder.glob(f"*-{number}.out"))

    def finish(self, *arguments, state="COMPLETED"):
        """Submits, waits for the end, and returns what the job printed."""
        number = self.submit(*arguments)
        ended = self.cluster.wait(number)
        self.assertEqual(ended, state, self.output(number))
        return self.output(number)

    def schedule(self, algorithm="hios-lp", devices=2):
        """Plans by a profile that is made where there is none."""
        profile = self.folder / "profile.json"
        if not profile.exists():
            self.finish("profile.sbatch", *NETWORK, *QUICK, "--output", profile)
        schedule = self.folder / f"{algorithm}.json"
        self.cluster.command(PROGRAMS / "hios-schedule", *NETWORK, "--profile", profile, "--devices", devices,
                             "--algorithm", algorithm, "--output", schedule, "--force")
        return schedule

    def long_run(self, *arguments):
        """A job that runs until it is ended, and is measuring by now."""
        number = self.submit(*arguments, "run.sbatch", *NETWORK, "--schedule", self.schedule(), "--duration", "600")
        self.cluster.wait_until(lambda: self.measuring_ranks(number) == 2, 60, "two ranks measure")
        time.sleep(2)
        return number

    def measuring_ranks(self, number):
        """Counts the job's ranks that measure: they have a thread for requests to stop."""
        def measures(rank):
            try:
                return any(name.read_text() == "stop-request\n" for name in Path(f"/proc/{rank}/task").glob("*/comm"))
            except OSError:  # the thread ended meanwhile
                return False

        return sum(map(measures, self.cluster.processes(number, "hios-run")))

    def measured(self, name):
        report = read_json(self.folder / "results" / name)
        self.assertGreater(len(report["iterations_ms"]), 0)
        self.assertEqual(report["latency_ms"]["samples"], len(report["iterations_ms"]))
        return report


class Jobs(SlurmTest):
    def run_on_two_nodes(self, launcher):
        self.site(launcher)
        schedule = self.schedule("hios-mr")
        report = self.folder / "report.json"
        printed = self.finish("run.sbatch", *NETWORK, *QUICK, "--schedule", schedule, "--profile",
                              self.folder / "profile.json", "--verify", "--json", report)
        self.assertIn("bit for bit the result of one rank", printed)
        self.assertEqual(len(read_json(report)["ranks"]), 2)
        self.assertTrue(read_json(report)["verified"]["bitwise"])

    def test_two_nodes_give_the_bits_of_one_rank_by_mpirun(self):
        self.run_on_two_nodes("mpirun")

    def test_two_nodes_give_the_bits_of_one_rank_by_srun(self):
        self.run_on_two_nodes("srun")

    def test_srun_without_pmix_is_refused_with_the_remedy(self):
        script = self.folder / "plain.sh"
        for kind in ("none", "pmi2"):
            script.write_text(f"#!/bin/bash\nsrun --mpi={kind} {PROGRAMS}/hios-run --help\n")
            printed = self.finish("plain.sh", state="FAILED")
            lines = [line for line in printed.splitlines() if line.startswith("error: ")]
            self.assertEqual(len(lines), 1, printed)
            self.assertIn("srun --mpi=pmix", lines[0])

    def test_a_killed_rank_fails_the_job(self):
        for launcher in ("mpirun", "srun"):
            self.site(launcher)
            # Slurm's daemon kills all that a task has started: on a busy machine sooner than they can say why.
            for _ in range(4):
                number = self.long_run()
                os.kill(self.cluster.processes(number, "hios-run")[-1], signal.SIGKILL)
                started = time.monotonic()
                self.assertEqual(self.cluster.wait(number), "FAILED", self.output(number))
                self.assertLess(time.monotonic() - started, 30)
                line = re.search(r"error: rank (\d) on \S+: killed .*, last: ", self.output(number))
                if line:
                    break
            self.assertTrue(line, self.output(number))
            folder = self.folder / "results" / f"failed-{number}"
            record = read_json(folder / f"hios-run-rank-{line[1]}.flight.json")
            self.assertEqual((record["rank"], record["ending"]), (int(line[1]), "killed"))

    def test_ranks_write_their_records_on_a_signal(self):
        for launcher in ("mpirun", "srun"):
            self.site(launcher)
            number = self.long_run()
            self.cluster.command("scancel", "--signal=USR1", "--batch", number)
            folder = self.folder / "results" / f"failed-{number}"
            self.cluster.wait_until(lambda: len(list(folder.glob("*.flight.json"))) == 2, 20, "two records are written")
            self.assertEqual(self.cluster.job(number)["JobState"], "RUNNING")
            self.cluster.command("scancel", number)
            self.cluster.wait(number)

    def test_a_message_has_the_command_that_submits_the_job_again(self):
        schedule = shutil.copy(self.schedule(), self.folder / "my plan.json")
        for launcher in ("mpirun", "srun"):
            self.site(launcher)
            printed = self.finish("--nodes=1", "run.sbatch", *NETWORK, *QUICK, "--schedule", schedule, state="FAILED")
            command = re.search(r"the job 1 ranks: start it with: (sbatch --nodes=2 run\.sbatch .*)", printed)
            self.assertTrue(command, printed)
            submitted = self.cluster.command("bash", "-c", command[1], folder=self.folder)
            number = re.search(r"Submitted batch job (\d+)", submitted)[1]
            self.assertEqual(self.cluster.wait(number), "COMPLETED", self.output(number))

    def test_a_job_without_a_site_file_says_what_to_do(self):
        (self.folder / "site.env").unlink()
        printed = self.finish("run.sbatch", state="FAILED")
        self.assertIn("site.env: there is no such file; copy site.env.example to site.env", printed)


class Endings(SlurmTest):
    """Measurements are kept, and marked incomplete; no process is left (Cluster.wait sees to that)."""

    def expect_kept(self, number, name, by="SIGTERM"):
        report = self.measured(name)
        self.assertTrue(report["incomplete"].startswith(f"ended by {by}"), report["incomplete"])
        self.assertEqual(len(report["ranks"]), 2)

    def test_scancel(self):
        for launcher in ("mpirun", "srun"):
            self.site(launcher)
            number = self.long_run()
            self.cluster.command("scancel", number)
            self.assertEqual(self.cluster.wait(number), "CANCELLED")
            self.expect_kept(number, f"run-{number}.json")

    def time_limit(self, launcher):
        self.site(launcher)
        # Slurm counts in minutes, and signals the script up to 60 s earlier than asked: ranks measure by then.
        number = self.long_run("--time=2", "--signal=B:TERM@60")
        self.assertIn(self.cluster.wait(number), ("FAILED", "TIMEOUT"))
        self.expect_kept(number, f"run-{number}.json")

    def test_the_time_limit_by_mpirun(self):
        self.time_limit("mpirun")

    def test_the_time_limit_by_srun(self):
        self.time_limit("srun")

    def test_requeue(self):
        number = self.long_run()
        self.cluster.command("scontrol", "requeue", number)
        self.cluster.wait_until(lambda: self.cluster.job(number).get("Restarts") == "1", 60, "it is requeued")
        self.cluster.wait_until(lambda: not self.cluster.processes(number), 60, "its first start has ended")
        self.expect_kept(number, f"run-{number}.json")
        # Slurm waits two minutes before it starts a requeued job; nobody needs to see that.
        self.cluster.command("scancel", number)
        self.assertEqual(self.cluster.wait(number), "CANCELLED")


class Sweeps(SlurmTest):
    def sweep(self, *arguments):
        """Returns the output of a sweep, and the states of its jobs once they have ended."""
        printed = self.cluster.command("bash", "sweep.sbatch", *arguments, "--", "--nodes=2", folder=self.folder)
        numbers = map(int, re.findall(r"(?:jobs:|job) (\d+)", printed))
        return [self.cluster.wait(number, seconds=400) for number in numbers]

    def refused(self, *arguments):
        with self.assertRaises(RuntimeError) as caught:
            self.cluster.command("bash", "sweep.sbatch", *arguments, folder=self.folder)
        return str(caught.exception)

    def test_bad_sweeps_are_refused_before_anything_is_submitted(self):
        whole = ("--models", "squeezenet", "--algorithms", "sequential")
        self.assertIn("--models and --algorithms are needed", self.refused("a"))
        self.assertIn("is empty", self.refused("a", "--models", ",", "--algorithms", "ios"))
        self.assertIn("two networks are named", self.refused("a", "--models", "x/net.json,y/net.json", *whole[2:]))
        self.assertIn("nonsense", self.refused("a", "--models", "squeezenet", "--algorithms", "sequential,nonsense"))
        self.assertIn("the array is the sweep's own", self.refused("a", *whole, "--", "--array=0-3"))
        (self.folder / "results" / "used").mkdir(parents=True)
        self.assertIn("already exists", self.refused("used", *whole))
        (self.folder / "site.env").unlink()
        self.assertIn("copy site.env.example", self.refused("a", *whole))
        self.assertEqual(self.cluster.command("squeue", "--noheader"), "")

    def test_a_row_that_is_missing_fails_the_table(self):
        states = self.sweep("short", "--models", "no_such_network,squeezenet", "--algorithms", "sequential",
                            "--sizes", "48")
        self.assertEqual(states[-1], "FAILED")
        table = (self.folder / "results/short/table.csv").read_text()
        self.assertEqual(len(table.splitlines()), 2, "the row that there is")

    def test_two_models_and_three_algorithms_give_one_table(self):
        states = self.sweep("first", "--models", "squeezenet,randwire_large", "--algorithms",
                            "sequential,hios-lp,hios-mr", "--sizes", "64")
        outputs = "".join(path.read_text() for path in self.folder.glob("*.out"))
        self.assertEqual(states[-1], "COMPLETED", outputs)
        table = self.folder / "results/first/table.csv"
        self.assertTrue(table.exists(), outputs)
        rows = [line.split(",") for line in table.read_text().splitlines()[1:]]
        self.assertEqual({(row[0], row[3]) for row in rows},
                         {(model, algorithm) for model in ("squeezenet", "randwire_large")
                          for algorithm in ("sequential", "hios-lp", "hios-mr")}, outputs)
        self.assertTrue(all(row[-3:-1] == ["True", "True"] for row in rows), table.read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)

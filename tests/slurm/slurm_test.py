"""The job scripts of slurm/, on a real Slurm of two nodes (cluster.py)."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
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

    def site(self, launcher="mpirun", sort="cpu", **settings):
        """Writes site.env: the file of sites/ with these settings."""
        text = (self.folder / f"sites/{sort}.env").read_text()
        for name, value in {"HIOS_BIN": PROGRAMS, "HIOS_LAUNCHER": launcher, **settings}.items():
            text = re.sub(rf"^{name}=.*$", f"{name}={value}", text, flags=re.M)
        (self.folder / "site.env").write_text(text)

    def submit(self, *arguments, variables=None, folder=None):
        return self.cluster.submit("--nodes=2", f"--output={self.folder}/%x-%j.out", *arguments, folder=folder or self.folder,
                                   variables=variables)

    def output(self, number):
        return "".join(path.read_text(errors="replace") for path in self.folder.glob(f"*-{number}.out"))

    def finish(self, *arguments, state="COMPLETED", folder=None):
        """Submits, waits for the end, and returns what the job printed."""
        number = self.submit(*arguments, folder=folder)
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
        self.cluster.wait_until(lambda: self.measuring_ranks(number) == 2, 240, "two ranks measure")
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
    def run_on_two_nodes(self, folder):
        """From another folder than that of the scripts: files and results are relative to it."""
        shutil.copy(self.schedule("hios-mr"), folder / "plan.json")
        printed = self.finish(self.folder / "run.sbatch", *NETWORK, *QUICK, "--schedule", "plan.json", "--profile",
                              self.folder / "profile.json", "--verify", folder=folder)
        self.assertIn("bit for bit the result of one rank", printed)
        report = read_json(next((folder / "results").glob("run-*.json")))
        self.assertEqual(len(report["ranks"]), 2)
        self.assertTrue(report["verified"]["bitwise"])

    def test_two_nodes_give_the_bits_of_one_rank_by_mpirun_in_containers(self):
        runtime = self.folder / "apptainer"
        # It does what `apptainer exec OPTIONS IMAGE PROGRAM …` does, but for the container.
        runtime.write_text(f'#!/bin/sh\necho "$1 $2 $3" >>{self.folder}/called\nPATH={PROGRAMS}:$PATH\nshift 3\nexec "$@"\n')
        runtime.chmod(0o755)
        self.site("mpirun", "container", HIOS_CONTAINER=self.folder / "absent.sif")
        self.assertIn("absent.sif: there is no such image", self.finish("run.sbatch", *NETWORK, state="FAILED"))
        (self.folder / "hios.sif").touch()
        self.site("mpirun", "container", HIOS_CONTAINER=self.folder / "hios.sif")
        with (self.folder / "site.env").open("a") as site:
            site.write(f"HIOS_CONTAINER_RUNTIME={runtime}\nHIOS_CONTAINER_ARGUMENTS=--nv\n")
        self.run_on_two_nodes(self.folder)
        self.assertEqual(set((self.folder / "called").read_text().splitlines()), {f"exec --nv {self.folder}/hios.sif"})

    def test_two_nodes_give_the_bits_of_one_rank_by_srun_from_another_folder(self):
        elsewhere = self.folder / "my jobs"
        elsewhere.mkdir()
        self.site("srun")
        self.run_on_two_nodes(elsewhere)
        self.assertFalse((self.folder / "results").exists() and list((self.folder / "results").glob("run-*")))

    def test_gpus_are_refused_where_there_are_none(self):
        for arguments in (("--gpus-per-node=2",), ("--gres=gpu:1",), ("--gres", "gpu:1"), ("-G1",), ("--tres-per-task=gres/gpu:1",)):
            with self.assertRaises(RuntimeError) as caught:
                self.cluster.command("bash", self.folder / "run.sbatch", *NETWORK, "--", "--nodes=1", *arguments)
            self.assertIn(f"leave {arguments[-1]} out, and compute on cores", str(caught.exception))
        self.assertEqual(self.cluster.command("squeue", "--noheader"), "")

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
            for _ in range(8):
                number = self.long_run()
                os.kill(self.cluster.processes(number, "hios-run")[-1], signal.SIGKILL)
                started = time.monotonic()
                self.assertEqual(self.cluster.wait(number), "FAILED", self.output(number))
                self.assertLess(time.monotonic() - started, 200)
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
            self.cluster.wait_until(lambda: len(list(folder.glob("*.flight.json"))) == 2, 240, "two records are written")
            self.assertEqual(self.cluster.state(number), "RUNNING")
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

    def test_a_job_that_starts_in_another_folder_finds_the_scripts(self):
        for script, folder in (("run.sbatch", self.folder), (f"{self.folder.name}/run.sbatch", self.folder.parent)):
            printed = self.finish(f"--chdir={self.cluster.folder}", script, "--nonsense", state="FAILED", folder=folder)
            self.assertIn("--nonsense", printed)

    def test_a_copy_of_a_script_says_where_the_others_are_wanted(self):
        shutil.copy(self.folder / "run.sbatch", self.folder / "mine.sh")
        self.assertIn("set HIOS_SCRIPTS to the folder of job.sh", self.finish("mine.sh", state="FAILED"))

    def test_a_job_without_programs_says_what_to_do(self):
        (self.folder / "site.env").unlink()
        printed = self.finish("run.sbatch", state="FAILED")
        self.assertIn(f"hios-run: there is no such program; copy a file of {self.folder}/sites to site.env", printed)


class Endings(SlurmTest):
    """Measurements are kept, and marked incomplete; no process is left (Cluster.wait sees to that)."""

    def expect_kept(self, number, name):
        report = self.measured(name)
        # SIGTERM is Slurm's, and SIGUSR2 that of the job script, by mpirun.
        self.assertRegex(report["incomplete"], "^ended by SIG(TERM|USR2)")
        self.assertEqual(len(report["ranks"]), 2)

    def test_scancel(self):
        for launcher in ("mpirun", "srun"):
            self.site(launcher)
            for _ in range(3):  # on a busy machine ranks may be killed before they have written
                number = self.long_run()
                self.cluster.command("scancel", number)
                self.assertEqual(self.cluster.wait(number), "CANCELLED")
                if (self.folder / f"results/run-{number}.json").exists():
                    break
            self.expect_kept(number, f"run-{number}.json")

    def time_limit(self, launcher):
        self.site(launcher)
        # Slurm counts in minutes, and signals the script up to 60 s earlier than asked: ranks measure by then.
        number = self.long_run("--time=2", "--signal=B:TERM@40")
        self.assertIn(self.cluster.wait(number), ("FAILED", "TIMEOUT"))
        self.expect_kept(number, f"run-{number}.json")

    def test_the_time_limit_by_mpirun(self):
        self.time_limit("mpirun")

    def test_the_time_limit_by_srun(self):
        self.time_limit("srun")

    def test_requeue(self):
        number = self.long_run()
        self.cluster.command("scontrol", "requeue", number)
        self.cluster.wait_until(lambda: self.cluster.job(number).get("Restarts") == "1", 240, "it is requeued")
        self.cluster.wait_until(lambda: not self.cluster.processes(number), 240, "its first start has ended")
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
        self.assertIn("two networks are named", self.refused("a", "--models", "squeezenet,y/squeezenet.json", *whole[2:]))
        self.assertIn("there is no such file", self.refused("a", "--models", "squeezenet,y/none.onnx", *whole[2:]))
        self.assertIn("the size 64 is there twice", self.refused("a", *whole, "--sizes", "64,48,64"))
        self.assertIn("name the algorithms", self.refused("a", "--models", "squeezenet", "--algorithms", "heft,all"))
        self.assertIn("nonsense", self.refused("a", "--models", "squeezenet", "--algorithms", "sequential,nonsense"))
        self.assertIn("the array is the sweep's own", self.refused("a", *whole, "--", "--array=0-3"))
        for name in ("..", "a\nb", "a b", "a/b", "a;b"):
            self.assertIn("cannot be the name of a sweep", self.refused(name, *whole), name)
        for sizes in ("..", "../../x", "64,0", "12.5", "-64"):
            self.assertIn("is no number of pixels", self.refused("a", *whole, "--sizes", sizes), sizes)
        self.assertIn("control character", self.refused("a", *whole, "--sizes", "64\n32"))
        self.assertIn("control character", self.refused("a", "--models", "squeezenet\nx", *whole[2:]))
        self.assertIn("no node of this cluster has GPUs", self.refused("a", *whole, "--", "--gpus-per-node=1"))
        (self.folder / "results" / "used").mkdir(parents=True)
        self.assertIn("already exists", self.refused("used", *whole))
        (self.folder / "site.env").unlink()
        self.assertIn("to site.env", self.refused("a", *whole))
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
        self.assertEqual(len(list(table.parent.glob("*/summary.json"))), 2)
        page = subprocess.run([sys.executable, "-B", "-m", "hios", "report", table.parent, "-o", "-"], check=True, text=True,
                              capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")}).stdout
        for name in ("squeezenet, 64x64", "randwire_large, 64x64", "2 ranks hios-mr"):
            self.assertIn(name, page)


if __name__ == "__main__":
    unittest.main(verbosity=2)

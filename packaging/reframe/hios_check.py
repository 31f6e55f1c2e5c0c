"""ReFrame's test of HIOS on a cluster: measures a network, plans it, runs the plan and verifies the result; its figures are
those of the report that hios-run writes. One test per network and layout: one core, a node, two nodes.

    reframe -C settings.py -c hios_check.py -r [-S 'hios_check.networks=…']
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable

LAYOUTS = {"one_core": 1, "node": 1, "two_nodes": 2}


@rfm.simple_test
class hios_check(rfm.RunOnlyRegressionTest):  # ReFrame's names are those of its functions
    """The latency, the prediction's error and the schedule's gap of one network."""

    network = parameter(["squeezenet", "inception_v3"])
    layout = parameter(list(LAYOUTS))
    # The folder of the programs; empty: in PATH, for example by a module.
    bin = variable(str, value="")
    # Height and width of the input; 0: the network's own.
    size = variable(int, value=0)
    ranks_per_node = variable(int, value=2)
    cores_per_rank = variable(int, value=1)
    iterations = variable(int, value=30)

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "hios-run"
    local = False

    @run_before("run")
    def set_job(self):
        per_node = 1 if self.layout == "one_core" else self.ranks_per_node
        self.num_tasks_per_node, self.num_tasks = per_node, per_node * LAYOUTS[self.layout]
        cores = self.num_cpus_per_task = 1 if self.layout == "one_core" else self.cores_per_rank

        def program(name):
            return str(Path(self.bin) / name) if self.bin else name

        network = ["--model", self.network]
        if self.size:
            network += ["--height", str(self.size), "--width", str(self.size)]
        runs = ["--iterations", str(self.iterations)]
        # Ranks bind their own threads.
        launcher = self.job.launcher
        launcher.options = ["--cpu-bind=none"] if launcher.registered_name == "srun" else ["--bind-to none"]
        self.job.num_tasks = self.num_tasks  # ReFrame itself sets it later
        ranks = launcher.run_command(self.job)
        self.prerun_cmds = [
            "set -e",
            " ".join([ranks, program("hios-profile"), *network, *runs, "--threads", str(cores), "--output profile.json"]),
            " ".join([program("hios-schedule"), *network, "--profile profile.json --devices", str(self.num_tasks),
                      "--algorithm best --output schedule.json"])]
        self.executable = program("hios-run")
        self.executable_opts = [*network, *runs, "--profile profile.json", "--schedule schedule.json", "--verify",
                                "--json report.json"]
        self.keep_files = ["profile.json", "schedule.json", "report.json"]

    def read(self, name):
        return json.loads((Path(self.stagedir) / name).read_text())

    @sanity_function
    def verified(self):
        """The result agrees with plain loops, and has the bits of one rank."""
        report = self.read("report.json")
        return sn.all([sn.assert_true(report["verified"]["passed"], "the result is outside the tolerance"),
                       sn.assert_true(report["verified"]["bitwise"], "the result has not the bits of one rank"),
                       sn.assert_true(report["prediction_error"] is not None and "gap" in report, "the schedule has no prediction"),
                       sn.assert_eq(len(report["ranks"]), self.num_tasks)])

    @performance_function("ms")
    def latency(self):
        return self.read("report.json")["latency_ms"]["best_quarter"]

    @performance_function("%")
    def prediction_error(self):
        return 100 * self.read("report.json")["prediction_error"]

    @performance_function("%")
    def gap(self):
        return 100 * self.read("report.json")["gap"]

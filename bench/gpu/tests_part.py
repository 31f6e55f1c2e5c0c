"""The tests part: every test program of the backend on this GPU, whole networks through every transport, and NVIDIA's
checkers over a small selection of tests.
"""

import re
import shutil

import gtest_runs
from bench_case import IOS, SEQUENTIAL, TWO_RANKS, Case
from target import NETWORKS, SIZES, TINY

PROGRAM_LIMIT_S, CHECKER_LIMIT_S, NETWORK_LIMIT_S = 200, 75, 60
LEAST = ["--warmup", "1", "--iterations", "3"]  # only the values matter here
LONGEST, ROUGHER = "hios_gpu_tests", "*tf32*:*fp16*"
CHECKERS = ("memcheck", "racecheck")
# Long tests find no more than short ones, and the checkers slow everything down by 10 to 100.
NOT_CHECKED = ("Thousand", "GpuNetwork", "NamesTheMissingMemory", "nasnet", "randwire", "inception")
CHECKED_PER_SUITE = 6
REFUSALS = ("Device not supported", "not supported on", "Unable to find", "cannot be profiled")


class Tests:
    """`save(record)` is called after every step. A failure does not stop the other steps."""

    def __init__(self, installation, target, steps, scratch, save):
        self.installation, self.target, self.steps, self.scratch, self.save = installation, target, steps, scratch, save
        self.smcuda = installation.has_smcuda()
        self.record = {"programs": [], "networks": [], "checkers": []}

    def run(self, networks=NETWORKS):
        now, later = split(self.runs())
        for run in now:
            self.run_program(run)
        for network in networks:
            self.run_network(self.case(network, TINY[network]), [SEQUENTIAL, IOS, *self.two_ranks()])
        if self.target.rehearsal:
            return
        for tool in CHECKERS:
            self.run_checker(tool)
        # Large images use other algorithms than small ones.
        for network in networks:
            self.run_network(self.case(network, SIZES[network]["default"]), [SEQUENTIAL])
        for run in later:
            self.run_program(run)

    def case(self, network, size):
        return Case(network, size, "fp32", self.scratch, self.target)

    def two_ranks(self):
        if not self.installation.mpirun:
            return []
        return TWO_RANKS[:1] if self.target.rehearsal else TWO_RANKS

    def runs(self):
        """The test programs of the pack's manifest; in a checkout, every program that is built. Those on one rank come first:
        the others depend on the same code, and time may run out."""
        if self.installation.manifest:
            listed = self.installation.manifest["tests"]
        else:
            names = sorted(path.name for pattern in ("hios_cuda*tests", "hios_gpu*tests")
                           for path in self.installation.programs.glob(pattern))
            listed = [run for name in names for run in self.runs_of(name)]
        if self.target.rehearsal:  # tests that need a GPU fail without one, as expected
            listed = [run for run in listed if not run["program"].startswith("hios_gpu")]
        return sorted(listed, key=lambda run: run["ranks"])

    def runs_of(self, name):
        """The runs of a program in a checkout, as in tests/engine/cuda/CMakeLists.txt: with ranks, once for each path."""
        if not name.endswith("rank_tests"):
            return [{"program": name, "ranks": 0, "arguments": [], "environment": {}}]
        if not self.installation.mpirun:
            return []
        return [{"program": name, "ranks": 2, "arguments": [f"--gtest_filter={path}/*"], "environment": {}}
                for path in ("Ipc", "CudaAware", "Staged")]

    def run_program(self, run):
        name = run["program"] + (f" on {run['ranks']} ranks" if run["ranks"] else "")
        name += "".join(f" {key}={value}" for key, value in run["environment"].items())
        name += "".join(f" {argument}" for argument in run["arguments"])
        command = [self.installation.programs / run["program"]]
        if run["ranks"]:
            # Tests of transports also try CUDA-aware MPI, which needs smcuda.
            btl = self.target.btl("cuda-aware", self.smcuda)
            command = self.installation.mpi(run["ranks"], btl) + command
        environment = dict(self.steps.environment)
        self.steps.environment = {**environment, **run["environment"]}
        try:
            tally = gtest_runs.run_program(self.steps, name, command, PROGRAM_LIMIT_S, arguments=run["arguments"])
        finally:
            self.steps.environment = environment
        self.add("programs", {"name": name, "well": tally.all_well(), **tally.record()})

    def add(self, kind, entry):
        self.record[kind].append(entry)
        self.steps.say(f"{entry['name']}: {'ok' if entry['well'] else 'FAILED'}")
        self.save(self.record)

    def run_network(self, case, rows):
        """Profiles, schedules and runs networks as a user does; compares every operator with plain loops, and the results bit
        by bit with one rank."""
        profiled, scheduled = {}, {}
        for row in rows:
            # One profile is enough for all transports; if it fails, the next transport tries again.
            if profiled.get(row.ranks) != "":
                profiled[row.ranks] = self.step(case, f"profile for {row.name}", self.profile_command(case, row))
            why, report = profiled[row.ranks], None
            if not why and scheduled.get(row.algorithm) != "":
                command = case.schedule_command(self.installation.programs, row)
                scheduled[row.algorithm] = self.step(case, f"schedule {row.algorithm}", command)
            why = why or scheduled[row.algorithm]
            if not why:
                command = case.run_command(self.installation, row, 0, self.smcuda, ["--verify=operators"])
                why = self.step(case, f"{row.name}, verified", with_flags(command, LEAST))
                report = case.report(row, 0)
            self.add("networks", verified(f"{case.name}: {row.name}", report, why))

    def profile_command(self, case, row):
        command = with_flags(case.profile_command(self.installation, row.ranks, row.transport, self.smcuda), LEAST)
        return with_flags(command, ["--time-limit", "5"]) if row.ranks == 1 else command

    def step(self, case, name, command):
        """Returns '' on success, else the reason of the failure."""
        outcome = self.steps.run(f"{case.name}: {name}", command, NETWORK_LIMIT_S)
        return "" if outcome.passed else f"no {name.split(',')[0]}: {outcome.why}"

    def run_checker(self, tool):
        """Runs compute-sanitizer over some tests of every suite; some machines do not allow it."""
        checker = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
        program = self.installation.programs / "hios_gpu_tests"
        name = f"compute-sanitizer {tool}"
        if not checker or not program.exists():
            missing = "hios_gpu_tests" if checker else "compute-sanitizer"
            self.add("checkers", {"name": name, "well": False, "why": f"{missing} is not installed"})
            return
        listed = self.steps.run(f"{name}: list", [program, "--gtest_list_tests"], 60)
        tests = some_of_each(gtest_runs.parse_list(listed.out))
        # Tests of errors make failing CUDA calls on purpose; memcheck would count them.
        flags = ["--report-api-errors", "no"] if tool == "memcheck" else []
        outcome = self.steps.run(name, [checker, "--tool", tool, *flags, "--error-exitcode", "9", program,
                                        f"--gtest_filter={':'.join(tests)}"], CHECKER_LIMIT_S)
        tally = gtest_runs.Tally()
        gtest_runs.read_output(outcome.out, tally)
        self.add("checkers", {"name": name, **checked(outcome, tally, len(tests))})


def split(runs):
    """The filters of the first run, and of the remaining time: for the longest program, the other arithmetics, two thirds of
    its tests."""
    now, later = [], []
    for run in runs:
        if run["program"] != LONGEST or run["arguments"]:
            now.append(run)
            continue
        now.append({**run, "arguments": [f"--gtest_filter=-{ROUGHER}"]})
        later.append({**run, "arguments": [f"--gtest_filter={ROUGHER}"]})
    return now, later


def verified(name, report, why):
    """The result of a run with --verify. Passed only if values were compared."""
    found = (report or {}).get("verified") or {}
    entry = {"name": name, "well": not why and bool(found.get("passed")),
             **{key: found.get(key) for key in ("bitwise", "max_abs", "operators")}}
    if (report or {}).get("transfer_paths"):
        entry["paths"] = report["transfer_paths"]["by_pair"]
    return {**entry, **({"why": why} if why else {})}


def checked(outcome, tally, asked):
    """The result of compute-sanitizer. Passed only if it checked something and found nothing."""
    text = outcome.out + outcome.err
    refusal = next((line.strip("= ") for line in text.splitlines() if any(word in line for word in REFUSALS)), "")
    summary = next((line.strip("= ") for line in reversed(text.splitlines()) if "SUMMARY:" in line), "")
    found = {"tests": asked, "passed": len(tally.passed), "summary": summary}
    if refusal:
        return {**found, "well": False, "why": f"the tool refuses this machine: {refusal}"}
    clean = outcome.passed and re.search(r"(?<!\d)0 errors", summary) is not None
    why = outcome.why or ("" if summary else "it printed no summary")
    return {**found, "well": clean and bool(tally.passed), **({"why": why} if why else {})}


def some_of_each(tests):
    """Tests selected evenly from every suite, without the long ones."""
    suites = {}
    for test in tests:
        if not any(word in test for word in NOT_CHECKED):
            suites.setdefault(test.split(".")[0], []).append(test)
    chosen = []
    for of_suite in suites.values():
        step = max(1, -(-len(of_suite) // CHECKED_PER_SUITE))
        chosen += of_suite[::step]
    return chosen


def with_flags(command, flags):
    """The command with the values of these flags replaced or added."""
    words = list(map(str, command))
    for flag, value in zip(flags[::2], flags[1::2]):
        if flag in words:
            words[words.index(flag) + 1] = value
        else:
            words += [flag, value]
    return words

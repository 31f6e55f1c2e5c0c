"""The tests part: every test program of the backend on the GPU that is here, whole networks through every
transport, and NVIDIA's checkers over a short choice of tests.
"""

import re
import shutil

import gtest_runs
from bench_case import IOS, SEQUENTIAL, TWO_RANKS, Case
from target import NETWORKS, SIZES, TINY

PROGRAM_LIMIT_S, CHECKER_LIMIT_S, NETWORK_LIMIT_S = 200, 75, 60
LEAST = ["--warmup", "1", "--iterations", "3"]  # what counts here is whether the values are right
LONGEST, ROUGHER = "hios_gpu_tests", "*tf32*:*fp16*"
CHECKERS = ("memcheck", "racecheck")
# Long ones say nothing that short ones do not, and the checkers make everything 10 to 100 times slower.
NOT_CHECKED = ("Thousand", "GpuNetwork", "SaysHowMuchMemoryIsMissing", "nasnet", "randwire", "inception")
CHECKED_PER_SUITE = 6
REFUSALS = ("Device not supported", "not supported on", "Unable to find", "cannot be profiled")


class Tests:
    """`save(record)` is called after every step. Nothing here stops the rest from running."""

    def __init__(self, place, target, steps, scratch, save):
        self.place, self.target, self.steps, self.scratch, self.save = place, target, steps, scratch, save
        self.smcuda = place.has_smcuda()
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
        # Large images are computed by other algorithms than small ones.
        for network in networks:
            self.run_network(self.case(network, SIZES[network]["default"]), [SEQUENTIAL])
        for run in later:
            self.run_program(run)

    def case(self, network, size):
        return Case(network, size, "fp32", self.scratch, self.target)

    def two_ranks(self):
        if not self.place.mpirun:
            return []
        return TWO_RANKS[:1] if self.target.rehearsal else TWO_RANKS

    def runs(self):
        """As the pack's manifest lists them; in a checkout, every program that is built. Those on one rank come first:
        they say what the others build on, and time may run out."""
        if self.place.manifest:
            listed = self.place.manifest["tests"]
        else:
            names = sorted(path.name for pattern in ("hios_cuda*tests", "hios_gpu*tests")
                           for path in self.place.programs.glob(pattern))
            listed = [run for name in names for run in self.runs_of(name)]
        if self.target.rehearsal:  # what needs a GPU fails without, as it should
            listed = [run for run in listed if not run["program"].startswith("hios_gpu")]
        return sorted(listed, key=lambda run: run["ranks"])

    def runs_of(self, name):
        """Of a program in a checkout, as tests/engine/cuda/CMakeLists.txt has them: those for ranks once for each path."""
        if not name.endswith("rank_tests"):
            return [{"program": name, "ranks": 0, "arguments": [], "environment": {}}]
        if not self.place.mpirun:
            return []
        return [{"program": name, "ranks": 2, "arguments": [f"--gtest_filter={path}/*"], "environment": {}}
                for path in ("Ipc", "CudaAware", "Staged")]

    def run_program(self, run):
        name = run["program"] + (f" on {run['ranks']} ranks" if run["ranks"] else "")
        name += "".join(f" {key}={value}" for key, value in run["environment"].items())
        name += "".join(f" {argument}" for argument in run["arguments"])
        command = [self.place.programs / run["program"]]
        if run["ranks"]:
            # Tests of transports try CUDA-aware MPI too, which wants smcuda.
            btl = self.target.btl("cuda-aware", self.smcuda)
            command = self.place.mpi(run["ranks"], btl) + command
        environment = dict(self.steps.environment)
        self.steps.environment = {**environment, **run["environment"]}
        try:
            tally = gtest_runs.run_program(self.steps, name, command, PROGRAM_LIMIT_S, arguments=run["arguments"])
        finally:
            self.steps.environment = environment
        self.add("programs", {"name": name, "well": tally.all_well(), **tally.record()})

    def add(self, kind, entry):
        self.record[kind].append(entry)
        self.steps.say(f"{entry['name']}: {'ok' if entry['well'] else 'NOT WELL'}")
        self.save(self.record)

    def run_network(self, case, rows):
        """Profiled, scheduled and run as a user does; every operator compared with plain loops, and the whole bit by bit
        with one rank."""
        profiled, scheduled = {}, {}
        for row in rows:
            # One profile serves all transports; where one does not get that far, the next one tries.
            if profiled.get(row.ranks) != "":
                profiled[row.ranks] = self.step(case, f"profile for {row.name}", self.profile_command(case, row))
            why, report = profiled[row.ranks], None
            if not why and scheduled.get(row.algorithm) != "":
                command = case.schedule_command(self.place.programs, row)
                scheduled[row.algorithm] = self.step(case, f"schedule {row.algorithm}", command)
            why = why or scheduled[row.algorithm]
            if not why:
                command = case.run_command(self.place, row, 0, self.smcuda, ["--verify=operators"])
                why = self.step(case, f"{row.name}, verified", with_flags(command, LEAST))
                report = case.report(row, 0)
            self.add("networks", verified(f"{case.name}: {row.name}", report, why))

    def profile_command(self, case, row):
        command = with_flags(case.profile_command(self.place, row.ranks, row.transport, self.smcuda), LEAST)
        return with_flags(command, ["--time-limit", "5"]) if row.ranks == 1 else command

    def step(self, case, name, command):
        """'' when it worked, else why not."""
        outcome = self.steps.run(f"{case.name}: {name}", command, NETWORK_LIMIT_S)
        return "" if outcome.passed else f"no {name.split(',')[0]}: {outcome.why}"

    def run_checker(self, tool):
        """compute-sanitizer over some tests of every suite; some machines do not let it near the GPU."""
        checker = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
        program = self.place.programs / "hios_gpu_tests"
        name = f"compute-sanitizer {tool}"
        if not checker or not program.exists():
            missing = "hios_gpu_tests" if checker else "compute-sanitizer"
            self.add("checkers", {"name": name, "well": False, "why": f"{missing} is not here"})
            return
        listed = self.steps.run(f"{name}: list", [program, "--gtest_list_tests"], 60)
        tests = some_of_each(gtest_runs.parse_list(listed.out))
        # Tests of errors call CUDA in vain on purpose; memcheck would count that.
        flags = ["--report-api-errors", "no"] if tool == "memcheck" else []
        outcome = self.steps.run(name, [checker, "--tool", tool, *flags, "--error-exitcode", "9", program,
                                        f"--gtest_filter={':'.join(tests)}"], CHECKER_LIMIT_S)
        tally = gtest_runs.Tally()
        gtest_runs.read_output(outcome.out, tally)
        self.add("checkers", {"name": name, **checked(outcome, tally, len(tests))})


def split(runs):
    """What to run first, and what in the time that is left: of the longest program the other arithmetics, which are
    two thirds of its tests."""
    now, later = [], []
    for run in runs:
        if run["program"] != LONGEST or run["arguments"]:
            now.append(run)
            continue
        now.append({**run, "arguments": [f"--gtest_filter=-{ROUGHER}"]})
        later.append({**run, "arguments": [f"--gtest_filter={ROUGHER}"]})
    return now, later


def verified(name, report, why):
    """What a run with --verify found. Well only where values were compared."""
    found = (report or {}).get("verified") or {}
    entry = {"name": name, "well": not why and bool(found.get("passed")),
             **{key: found.get(key) for key in ("bitwise", "max_abs", "operators")}}
    if (report or {}).get("transfer_paths"):
        entry["paths"] = report["transfer_paths"]["by_pair"]
    return {**entry, **({"why": why} if why else {})}


def checked(outcome, tally, asked):
    """What a run of compute-sanitizer says. Well only where it looked at something and found nothing."""
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
    """Evenly out of every suite, without the long ones."""
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
    """The command with those flags' values replaced, or added."""
    words = list(map(str, command))
    for flag, value in zip(flags[::2], flags[1::2]):
        if flag in words:
            words[words.index(flag) + 1] = value
        else:
            words += [flag, value]
    return words

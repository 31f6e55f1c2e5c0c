"""The tests part: every test program of the backend on the GPU that is here, whole networks through every
transport, and NVIDIA's checkers over a short choice of tests.
"""

import re
import shutil

import gtest_runs
from bench_case import SEQUENTIAL, Case, Row
from target import NETWORKS, TINY, TRANSPORTS

PROGRAM_LIMIT_S, CHECKER_LIMIT_S, NETWORK_LIMIT_S = 200, 90, 60
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
        for run in self.runs():
            self.run_program(run)
        for network in networks:
            self.run_network(network)
        if not self.target.rehearsal:
            for tool in CHECKERS:
                self.run_checker(tool)

    def runs(self):
        """As the pack's manifest lists them; in a checkout, every program that is built, by itself."""
        if self.place.manifest:
            listed = self.place.manifest["tests"]
        else:
            names = sorted(path.name for pattern in ("hios_cuda*tests", "hios_gpu*tests")
                           for path in self.place.programs.glob(pattern))
            listed = [{"program": name, "ranks": 0, "arguments": [], "environment": {}} for name in names]
        if self.target.rehearsal:  # what needs a GPU fails without, as it should
            listed = [run for run in listed if not run["program"].startswith("hios_gpu")]
        return listed

    def run_program(self, run):
        name = run["program"] + (f" on {run['ranks']} ranks" if run["ranks"] else "")
        name += "".join(f" {key}={value}" for key, value in run["environment"].items())
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

    def run_network(self, network):
        """Profiled, scheduled, run on one rank and on two through each transport; every operator compared with plain
        loops, and two ranks bit by bit with one."""
        case = Case(network, TINY[network], "fp32", self.scratch, self.target)
        # The least effort: what counts here is whether the values are right.
        quick = ["--warmup", "1", "--iterations", "3"]
        rows = [SEQUENTIAL]
        if self.place.mpirun:
            transports = TRANSPORTS[:1] if self.target.rehearsal else TRANSPORTS
            rows += [Row(f"hios-lp, 2 ranks, {name}", "hios-lp", 2, transport=name) for name in transports]
        ready = {}
        for row in rows:
            # One profile serves all transports; where one does not get that far, the next one tries.
            if ready.get(row.ranks) != "":
                ready[row.ranks] = self.ready(case, row)
            why, report = ready[row.ranks], None
            if not why:
                outcome = self.steps.run(f"{case.name}: {row.name}, verified",
                                         with_flags(case.run_command(self.place, row, 0, self.smcuda,
                                                                     ["--verify=operators"]), quick),
                                         NETWORK_LIMIT_S)
                report = case.report(row, 0)
                why = outcome.why
            verified = (report or {}).get("verified") or {}
            entry = {"name": f"{case.name}: {row.name}", "well": not why and bool(verified.get("passed")),
                     "bitwise": verified.get("bitwise"), "max_abs": verified.get("max_abs"),
                     "operators": verified.get("operators")}
            if report and report.get("transfer_paths"):
                entry["paths"] = report["transfer_paths"]["by_pair"]
            self.add("networks", {**entry, **({"why": why} if why else {})})

    def ready(self, case, row):
        """'' when the row's schedule is there, else why it is not."""
        profile = with_flags(case.profile_command(self.place, row.ranks, row.transport, self.smcuda),
                             ["--warmup", "1", "--iterations", "3"])
        if row.ranks == 1:
            profile = with_flags(profile, ["--stages", "none"])
        for name, command in (("profile", profile), ("schedule", case.schedule_command(self.place.programs, row))):
            outcome = self.steps.run(f"{case.name}: {name} for {row.name}", command, NETWORK_LIMIT_S)
            if not outcome.passed:
                return f"no {name}: {outcome.why}"
        return ""

    def run_checker(self, tool):
        """compute-sanitizer over some tests of every suite; some machines do not let it near the GPU."""
        checker = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
        program = self.place.programs / "hios_gpu_tests"
        name = f"compute-sanitizer {tool}"
        if not checker or not program.exists():
            self.add("checkers", {"name": name, "well": False, "why": f"{'hios_gpu_tests' if checker else 'compute-sanitizer'} is not here"})
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

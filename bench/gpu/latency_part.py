"""The latency part: our schedules and PyTorch in turn, with one profile per network and size.

First every network at its default size, then torch.compile, then the other sizes, until the part's time is up: the
rows of the goals come first. A row that fails is recorded as failed.
"""

from bench_case import IOS, MERGED, PLAIN, SEQUENTIAL, TWO_RANKS, WITH_SIBLINGS, Case
from mps import Mps
from samples import summarize
from steps import Deadline, RunLimits
from worker import Worker, WorkerError

PROFILE_LIMIT_S, SCHEDULE_LIMIT_S, FIRST_RUN_LIMIT_S = 90, 30, 120
TORCH_LOAD_LIMIT_S, TORCH_MEASURE_LIMIT_S, COMPILE_LIMIT_S = 90, 60, 150
TORCH_MODES = {"torch eager": "eager", "torch graphs": "graphs"}
COMPILED = "torch.compile"
ENOUGH_S = 25  # a case with less time left is not started


class Latency:
    """`has_torch`: True if this Python can import PyTorch. `save(rows)` is called after each new row."""

    def __init__(self, installation, target, steps, scratch, has_torch, save):
        self.installation, self.target, self.steps, self.scratch = installation, target, steps, scratch
        self.has_torch, self.save = has_torch, save
        self.rows, self.torch_info = {}, None
        self.limits = {}  # of runs, by case
        self.smcuda = installation.has_smcuda()
        self.worker = Worker(installation.torch_environment(), scratch / "torch.log")
        self.mps = Mps(installation, target, steps, scratch)

    def run(self, cases_by_size, compiles):
        """Measures all cases. `cases_by_size`: lists of Case, most important first."""
        first, *others = cases_by_size
        if self.two_ranks():
            self.mps.start()
        try:
            for case in first:
                self.measure(case, rounds=self.target.rounds, rows=[SEQUENTIAL, PLAIN, IOS, *merged(case), *self.two_ranks()])
            if compiles and self.has_torch:
                self.measure_compiled(first)
            for cases in others:
                for case in cases:
                    self.measure(case, rounds=1, rows=[SEQUENTIAL, IOS, PLAIN, *merged(case)])
        finally:
            self.worker.stop()
            self.mps.stop()

    def environment(self, ranks):
        return {**self.installation.environment(), **(self.mps.environment() if ranks > 1 else {})}

    def two_ranks(self):
        if not self.installation.mpirun:
            return []
        return TWO_RANKS[:1] if self.target.rehearsal else TWO_RANKS

    def measure(self, case, rounds, rows):
        if self.steps.deadline.left() < ENOUGH_S:
            self.steps.note(f"{case.name}: not started, the part's time is up")
            return
        rows = self.prepare(case, rows)
        torch_rows = self.load_torch(case)
        samples = {}
        for number in range(1, rounds + 1):
            for row in rows:
                # Two ranks on one GPU only compare the transports; one round is enough.
                if number == 1 or row.ranks == 1:
                    self.run_row(case, row, number, samples)
            for name in torch_rows:
                self.run_torch(case, name, TORCH_MODES[name], TORCH_MEASURE_LIMIT_S, samples)

    def prepare(self, case, rows):
        """Profiles and schedules; returns the rows that can run. The others are recorded as failed."""
        ready, why = [], {}
        for ranks, merge in sorted({(row.ranks, row.merge) for row in rows}):
            outcome = self.profile(case, ranks, merge)
            if not outcome.passed:
                why[ranks, merge] = f"no profile: {outcome.why}"
        schedules = {}
        for row in rows:
            if (row.ranks, row.merge) in why:
                self.fail(case, row.name, why[row.ranks, row.merge])
                continue
            made = (row.algorithm, row.merge)
            if made not in schedules:
                words = f"{case.name}: schedule {row.algorithm}" + ("" if row.merge == "none" else ", merged")
                schedules[made] = self.steps.run(words, case.schedule_command(self.installation.programs, row),
                                                 SCHEDULE_LIMIT_S)
            if schedules[made].passed:
                ready.append(row)
            else:
                self.fail(case, row.name, f"no schedule: {schedules[made].why}")
        return ready

    def profile(self, case, ranks, merge="none"):
        """Profiles two ranks over IPC, or over pinned memory if that fails; profiles one rank without stages if these take
        too long (their times are then estimated)."""
        ways = [("auto", True), ("auto", False)] if ranks == 1 else [("ipc", True), ("staged", True)]
        for transport, stages in ways:
            command = case.profile_command(self.installation, ranks, transport, self.smcuda, stages, merge)
            name = f"{case.name}: profile on {ranks}, {transport}" + ("" if stages else ", without stages")
            name += "" if merge == "none" else ", merged"
            outcome = self.steps.run(name, command, PROFILE_LIMIT_S, self.environment(ranks))
            if outcome.passed:
                break
        return outcome

    def run_row(self, case, row, number, samples):
        name = f"{case.name}: {row.name}"
        limits = self.limits.setdefault(case.name, RunLimits(FIRST_RUN_LIMIT_S))
        outcome = self.steps.run(name, case.run_command(self.installation, row, number, self.smcuda), limits.limit_s(),
                                 self.environment(row.ranks))
        limits.saw(outcome)
        report = case.report(row, number) if outcome.passed else None
        if report is None:
            self.fail(case, row.name, outcome.why or "it wrote no report")
            return
        more = {"predicted_ms": report.get("predicted_ms"), "algorithm": row.algorithm, "ranks": row.ranks}
        if row.ranks > 1:
            more.update(transfer_path=report.get("transfer_path"), mps=self.mps.word)
        self.add(case, row.name, report["iterations_ms"], samples, more)

    def load_torch(self, case):
        """Loads the model into PyTorch and returns its rows."""
        if not self.has_torch:
            return []
        try:
            command = case.export_command(self.installation.programs)
            exported = self.steps.run(f"{case.name}: export", command, SCHEDULE_LIMIT_S)
            if not exported.passed:
                raise WorkerError(f"no model file: {exported.why}")
            self.torch_info = self.torch_info or self.worker.ask({"do": "describe"}, self.limit(TORCH_LOAD_LIMIT_S))
            self.worker.ask(self.load_request(case), self.limit(TORCH_LOAD_LIMIT_S))
            return list(TORCH_MODES)
        except WorkerError as error:
            for name in TORCH_MODES:
                self.fail(case, name, str(error))
            return []

    def load_request(self, case):
        return {"do": "load", "model": str(case.file("model")), "math": case.math, "device": self.target.torch_device}

    def run_torch(self, case, name, mode, limit_s, samples, worker=None):
        if self.steps.deadline.left() < 1:
            self.fail(case, name, "not started: the part's time is up")
            return
        request = {"do": "measure", "mode": mode, "warmup": self.target.warmup, "iterations": self.target.iterations}
        try:
            answer = (worker or self.worker).ask(request, self.limit(limit_s))
        except WorkerError as error:
            self.fail(case, name, str(error))
            if worker is None and self.worker.process is None:
                self.load_torch(case)  # a new process for the next mode
            return
        self.steps.say(f"{case.name}: {name}: ok")
        self.add(case, name, answer["samples_ms"], samples,
                 {"prepare_s": round(answer["prepare_s"], 1), "layout": answer["layout"]})

    def measure_compiled(self, cases):
        """Compiles all networks concurrently, each in a process of its own; measures them one after the other."""
        if self.steps.deadline.left() < ENOUGH_S:
            self.steps.note(f"{COMPILED}: not started, the part's time is up")
            return
        environment = self.installation.torch_environment()
        all_workers = [(case, Worker(environment, self.scratch / f"torch-{case.network}-{case.math}.log"))
                       for case in cases if case.file("model").exists()]
        waiting = all_workers
        self.steps.say(f"{COMPILED}: {len(waiting)} networks at once, at most {COMPILE_LIMIT_S} s")
        try:
            for case, worker in waiting:
                worker.send(self.load_request(case))
            waiting = self.those_that_answer(waiting, TORCH_LOAD_LIMIT_S)
            for _, worker in waiting:
                worker.send({"do": "measure", "mode": "compile", "warmup": 1, "iterations": 1})
            for case, worker in self.those_that_answer(waiting, COMPILE_LIMIT_S):
                self.run_torch(case, COMPILED, "compile", TORCH_MEASURE_LIMIT_S, {}, worker)
        finally:
            for _, worker in all_workers:
                worker.stop()

    def those_that_answer(self, waiting, limit_s):
        """Waits for the workers, at most `limit_s` in total; the others are recorded as failed."""
        end = Deadline(min(limit_s, self.steps.deadline.left()))
        done = []
        for case, worker in waiting:
            try:
                worker.answer(max(1.0, end.left()))
                done.append((case, worker))
            except WorkerError as error:
                self.fail(case, COMPILED, str(error))
        return done

    def limit(self, limit_s):
        return max(1.0, min(limit_s, self.steps.deadline.left()))

    def add(self, case, name, new_samples, samples, more):
        """Adds a round's samples to the row."""
        samples.setdefault(name, []).extend(new_samples)
        latency = summarize(samples[name])
        row = {**self.key(case, name), "latency_ms": latency,
               **{key: value for key, value in more.items() if value is not None}}
        if row.get("predicted_ms"):
            row["prediction_error"] = (latency["best_quarter"] - row["predicted_ms"]) / latency["best_quarter"]
        self.put(row)

    def fail(self, case, name, why):
        """Records a failure, unless an earlier round has numbers."""
        self.steps.say(f"{case.name}: {name}: FAILED, {why}")
        self.steps.note(f"{case.name}: {name}: failed: {why}")
        key = tuple(self.key(case, name).values())
        if "latency_ms" not in self.rows.get(key, {}):
            self.put({**self.key(case, name), "failed": why})

    def key(self, case, name):
        return {"network": case.network, "size": case.size, "math": case.math, "row": name}

    def put(self, row):
        self.rows[row["network"], row["size"], row["math"], row["row"]] = row
        self.save(list(self.rows.values()))


def merged(case):
    return MERGED if case.network in WITH_SIBLINGS else ()


def make_cases(target, networks, words, maths, folder):
    """The cases by name of the size, in the order of the names; a rehearsal has one size."""
    if target.rehearsal:
        words, maths = words[:1], ["fp32"]
    return [[Case(network, target.size(network, word), math, folder, target) for math in maths for network in networks]
            for word in words]

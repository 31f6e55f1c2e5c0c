"""Runs all tests of a GoogleTest program, even if a test crashes it.

Results are read from the lines that the program prints, because it writes a report file only at its end, and a program
that crashes in the fifth test has none. Tests after a crash run in a new process.
"""

import re
from dataclasses import dataclass, field

LINE = re.compile(r"^\[\s*(RUN|OK|FAILED|SKIPPED)\s*\]\s+([\w/.]+)")
ATTEMPTS = 4  # processes per program: three tests may crash it


@dataclass
class Tally:
    """Names of tests. `ended`: tests during which the process ended."""

    passed: set = field(default_factory=set)
    failed: set = field(default_factory=set)
    skipped: set = field(default_factory=set)
    ended: dict = field(default_factory=dict)
    never_run: set = field(default_factory=set)
    why: str = ""

    def seen(self):
        return self.passed | self.failed | self.skipped | set(self.ended)

    def all_well(self):
        return not (self.failed or self.skipped or self.ended or self.never_run or self.why) and bool(self.passed)

    def record(self):
        record = {"passed": len(self.passed), "failed": sorted(self.failed), "skipped": sorted(self.skipped),
                  "ended_the_program": self.ended, "never_run": sorted(self.never_run)}
        return {**record, **({"why": self.why} if self.why else {})}


def parse_list(text):
    """Full names from the output of --gtest_list_tests."""
    names, suite = [], ""
    for line in text.splitlines():
        word = line.split("#")[0].rstrip()
        if not word or word.startswith("Running main"):
            continue
        if word.startswith("  "):
            names.append(suite + word.strip())
        elif word.endswith("."):
            suite = word.strip()
    return names


def read_output(text, tally):
    """Adds the results in a program's output; returns the test that it began and did not end."""
    running = None
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        word, name = match.groups()
        if word == "RUN":
            running = name
        elif "." in name:
            {"OK": tally.passed, "FAILED": tally.failed, "SKIPPED": tally.skipped}[word].add(name)
            if running == name:
                running = None
    tally.passed -= tally.failed
    return running


def run_program(steps, name, command, limit_s, names=None, arguments=()):
    """Runs tests. `command`: the program after its launcher. `names`: the tests to run; default: all. `arguments` may select
    tests, too (--gtest_filter), so they are also used for the list of tests."""
    listed = steps.run(f"{name}: list", [command[-1], *arguments, "--gtest_list_tests"], 60)
    if not listed.passed:
        return Tally(why=f"it does not list its tests: {listed.why}")
    wanted = [test for test in parse_list(listed.out) if names is None or test in names]
    tally = Tally(never_run=set(wanted))
    for attempt in range(ATTEMPTS):
        # The filter names the wanted tests, if not all are wanted; after a crash, the remaining ones.
        left = [test for test in wanted if test not in tally.seen()]
        if not left or steps.deadline.left() < 5:
            break
        filtered = [f"--gtest_filter={':'.join(left)}"] if attempt or names is not None else []
        outcome = steps.run(name, [*command, *arguments, *filtered], limit_s)
        if outcome.status is None:
            tally.why = outcome.why
            break
        before = tally.seen()
        running = read_output(outcome.out, tally)
        if outcome.passed:
            break
        if running:
            tally.ended[running] = outcome.why
        elif tally.seen() == before:  # no progress: it would repeat
            tally.why = outcome.why
            break
    tally.never_run = set(wanted) - tally.seen()
    if not wanted:
        tally.why = "it has no such tests"
    return tally

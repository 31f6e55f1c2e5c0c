#!/usr/bin/env python3
"""Changes lines of the code one at a time (list.toml) in a copy of the tree, and says which changes the tests catch.
The last line counts those that survived; the status is 1 if there is one.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from mutants.mutation import ListError, read_list, shown  # noqa: E402
from mutants.tree import Tree  # noqa: E402

LIST = Path(__file__).with_name("list.toml")


def arguments(words):
    parser = argparse.ArgumentParser(prog="mutants", description=" ".join(__doc__.split()))
    parser.add_argument("only", nargs="*", metavar="FILE", help="run the mutants of files whose names contain one of these")
    parser.add_argument("--copy", type=Path, default=ROOT / "build" / "mutants",
                        help="folder of the copy, which later runs use again (%(default)s)")
    parser.add_argument("--preset", default="release", help="CMake's preset of the copy (%(default)s)")
    parser.add_argument("--continue", dest="resume", action="store_true",
                        help="skip the mutants that an earlier run with the same copy has judged")
    parser.add_argument("--limit", type=float, default=180, metavar="SECONDS",
                        help="time of the tests of a mutant; one that needs more is caught (%(default)g)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that build and test (%(default)s)")
    return parser.parse_args(words)


class Judgements:
    """The results so far by the mutants' keys, kept in a file so that a run can continue."""

    def __init__(self, file, resume):
        self.file = file
        self.by_key = json.loads(file.read_text()) if resume and file.exists() else {}

    def add(self, mutant, result):
        self.by_key[mutant.key] = result
        self.file.write_text(json.dumps(self.by_key, indent=1))


def check_unchanged(tree, suites, limit_s):
    """Ends the script unless the tests exist and pass without a mutant."""
    for suite in suites:
        outcome = tree.test(suite.tests, None, 10 * limit_s)
        if not outcome.passed:
            raise SystemExit(f"{outcome.text}\nerror: the tests of the suite {suite.name} fail without any mutant, or there "
                             "are none")


def judge(tree, mutant, limit_s):
    try:
        outcome = tree.test(mutant.suite.tests, mutant, limit_s)
    except subprocess.TimeoutExpired:
        return f"caught: the tests take more than {limit_s:g} s"
    return "survived" if outcome.passed else f"caught by {outcome.failed or 'a test that was not named'}"


def table(mutants, judgements):
    rows = []
    for mutant in mutants:
        result = f"equivalent: {mutant.equivalent}" if mutant.equivalent else judgements.by_key[mutant.key]
        rows.append(f"{mutant.file}\n    {shown(mutant.text)}\n -> {shown(mutant.becomes) or '(nothing)'}\n    {result}")
    return "\n".join(rows)


def run(mutants, tree, judgements, limit_s, chosen):
    """Returns the number of chosen mutants that survived."""
    compiled = [mutant for mutant in mutants if not mutant.equivalent]
    tree.fill(compiled)
    waiting = [mutant for mutant in chosen if not mutant.equivalent and mutant.key not in judgements.by_key]
    suites = sorted({mutant.suite for mutant in waiting}, key=lambda suite: suite.name)
    if waiting:
        tree.build(sorted({target for suite in suites for target in suite.targets}))
        check_unchanged(tree, suites, limit_s)
    for number, mutant in enumerate(waiting, 1):
        judgements.add(mutant, judge(tree, mutant, limit_s))
        print(f"{number} of {len(waiting)}: {mutant.title()}: {judgements.by_key[mutant.key]}", file=sys.stderr, flush=True)
    print(table(chosen, judgements))
    survived = sum(judgements.by_key.get(mutant.key) == "survived" for mutant in chosen)
    equivalent = sum(bool(mutant.equivalent) for mutant in chosen)
    print(f"{len(chosen)} mutants: {len(chosen) - survived - equivalent} caught, {equivalent} equivalent, "
          f"{survived} survived")
    return survived


def main(words=None):
    options = arguments(words)
    try:
        mutants = read_list(LIST)
        chosen = [m for m in mutants if not options.only or any(name in m.file for name in options.only)]
        if not chosen:
            raise ListError(f"no mutant is of a file whose name contains {' or '.join(options.only)}")
        folder = options.copy.resolve()
        tree = Tree(ROOT, folder, options.preset, options.jobs)
        judgements = Judgements(folder / "judgements.json", options.resume)
        return 1 if run(mutants, tree, judgements, options.limit, chosen) > 0 else 0
    except ListError as error:
        raise SystemExit(f"error: {error}") from error


if __name__ == "__main__":
    sys.exit(main())

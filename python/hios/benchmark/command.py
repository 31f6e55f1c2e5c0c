"""hios bench: measures a network, schedules it in every way that this machine can run, runs the schedules in turns, and
prints a table and a verdict. All rows use one profile file; a row's samples are those of all its rounds.
"""

import json
import shutil
import sys
from dataclasses import replace

from hios.benchmark import folder as folders
from hios.benchmark.arguments import latency_parser, settled, throughput_parser
from hios.benchmark.budget import Budget, effort_for
from hios.benchmark.network import first_answer, inputs_of, network_of, programs_of
from hios.benchmark.profiling import TurnsProfile
from hios.benchmark.running import Rounds
from hios.benchmark.summary import summarize
from hios.benchmark.table import checked, folded, page
from hios.benchmark.verdict import ms_text
from hios.benchmark.ways import machine_of, make_rows
from hios.benchmark.yardstick import Yardstick
from hios.errors import HiosError
from hios.launch.programs import ProgramFailed
from hios.throughput import command as throughput


NOTHING_TO_CUT = "--cut auto: no operator of"  # the error of hios-profile for a network without rows


def say(line):
    print(folded(line, "  "), flush=True)


def answer_first(programs, network, folder, budget):
    """Runs on one core and prints the first answer. Returns the time of an inference in ms."""
    print("measuring 1 rank x 1 core ...", file=sys.stderr, flush=True)
    ms = first_answer(programs, network, folder)["latency_ms"]["best_quarter"]
    rest = f"; every other way follows within {budget.left():.0f} s" if budget.left() >= 1 else ""
    say(f"first answer: 1 rank x 1 core {ms_text(ms)} ms{rest}")
    return ms


def measure(args, programs, network, machine, budget):
    """Measures, schedules and runs all rows, and returns the summary."""
    folder = args.output
    one_core_ms = answer_first(programs, network, folder, budget)
    rows = make_rows(folder, machine.cores, machine.ranks, args.all_rows, args.cut == "auto")
    ways = len({(row.way, row.cut) for row in rows})
    effort = effort_for(args.budget, one_core_ms, ways, len(rows), args.rounds, args.iterations)
    yardsticks = []
    if args.bare:
        yardsticks = [Yardstick(args.bare, threads, folder, programs.environment)
                      for threads in sorted({1, machine.cores})]

    def after_round():
        for yardstick in yardsticks:
            yardstick.run(args.model, effort.iterations)

    profile, cut_profile = profiles_of(programs, rows, network, folder, effort, budget)
    planned = [row for row in rows if not row.cut or cut_profile and row.way in cut_profile.ways]
    rounds = Rounds(programs, profile, planned, network.flags, effort, network.seed, network.inputs, cut_profile)
    rounds.schedule(planned)
    rounds.run_all(budget, after_round)
    remarks = list(machine.remarks) + left_out(rows, rounds.rows)
    rows = rounds.rows
    if budget.left() < -0.1 * budget.seconds:
        remarks.append(f"{budget.seconds:.0f} s are too few here: one turn of the profile and one round of every row took "
                       f"{budget.spent():.0f} s (--budget {budget.spent():.0f})")
    summary = summarize(rows, network.label, rounds.repeated,
                        profile.unsettled() + (cut_profile.unsettled() if cut_profile else []), remarks)
    if yardsticks:
        summary["extra"]["yardsticks"] = [yardstick.result() for yardstick in yardsticks]
    return summary


def left_out(wanted, rows):
    """Returns a remark for each way that has no rows with cuts, where others have some."""
    ways = {row.way for row in rows if row.cut}
    return [f"{way}: no rows with cuts, since no operator can be cut into {way.ranks} shards there"
            for way in sorted({row.way for row in wanted if row.cut} - ways) if ways]


def profiles_of(programs, rows, network, folder, effort, budget):
    """Measures the profile of the rows without cuts, and that of the others (None: there are none): operators that are not
    cut may compute by another method there. It has no ways whose ranks find no operator to cut."""
    profile = TurnsProfile(programs, [row for row in rows if not row.cut], network.flags, folder, effort, network.seed)
    profile.measure(budget)
    with_cuts = [row for row in rows if row.cut]
    if not with_cuts:
        return profile, None
    cut_profile = TurnsProfile(programs, with_cuts, [*network.flags, "--cut", "auto"], folder, effort, network.seed, "-cut",
                               leaves_out=NOTHING_TO_CUT)
    cut_profile.measure(budget)
    return profile, cut_profile if cut_profile.ways else None


def write_page(folder, summary):
    """Writes the page of all rows, and returns a line about it: without it the measurements stand."""
    files = [folder / "summary.json"]
    for row in summary["rows"]:
        files += [folder / row["extra"][key] for key in ("report", "schedule", "trace")]
    try:
        from hios.page.command import write_page as write
        write(files, folder / "report.html")
    except (ImportError, HiosError) as error:
        return f"no page: {error}"
    return f"the page: {folder / 'report.html'}"


def bench(args):
    """Returns the exit status."""
    programs = programs_of(args)
    network = network_of(args)
    machine = machine_of(args.cores, args.ranks, shutil.which("mpirun") is not None)
    network.operators(programs)
    folders.prepare(args.output, args.force)
    network = replace(network, inputs=inputs_of(args.input, args.preprocess, network, args.output))
    budget = Budget(args.budget)
    summary = measure(args, programs, network, machine, budget)
    summary["seconds"] = budget.spent()
    (args.output / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(page(summary))
    print(f"\n{write_page(args.output, summary)}")
    print(f"reports, schedules and traces are in {args.output}/ ({summary['seconds']:.0f} s)")
    return 0 if all(map(checked, summary["rows"])) else 1


def measured(words):
    """Measures latency, or with --throughput among the words inputs per second. Returns the exit status and the folder of the
    results. Throws ProgramFailed."""
    if "--throughput" in words:
        args = settled(throughput_parser().parse_args([word for word in words if word != "--throughput"]))
        return throughput.measure(args), args.output
    args = settled(latency_parser().parse_args(words))
    return bench(args), args.output


def main(words):
    """Returns the exit status."""
    try:
        return measured(words)[0]
    except ProgramFailed as failed:
        print(failed.words(), file=sys.stderr)
        return failed.status

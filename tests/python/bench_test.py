"""python/hios/benchmark: the order of profiles and runs, repeated measurements, and the table."""

import json
import unittest
from pathlib import Path
from unittest import mock

from fake_machine import EFFORT, MachineTest
from hios.benchmark.running import error_of
from hios.benchmark.samples import best_quarter, summarize_samples
from hios.benchmark.summary import summarize
from hios.benchmark.table import page
from hios.benchmark.budget import Effort, effort_for
from hios.benchmark.ways import Machine, Way, machine_of, make_rows, rank_counts
from hios.errors import InputError
from hios.launch.programs import ProgramFailed
from support import flag

ONE, TWO_CORES, TWO_RANKS = Way(1, 1), Way(1, 2), Way(2, 1)


class ProfilingTest(MachineTest):
    def test_ways_are_profiled_in_turns(self):
        self.profile.measure(self.budget(seconds=4 / 0.4 * 2))
        asked = [(ranks, flag(flags, "--threads"), flag(flags, "--stages")) for _, flags, ranks in self.programs.calls]
        turn = [(1, "1", "none"), (1, "2", "none"), (2, "1", "none"), (1, "2", "ios")]
        self.assertEqual(asked, turn * 2)

    def test_the_middle_of_the_turns_that_agree_with_the_fastest_counts_as_a_whole(self):
        self.operator_ms = {ONE: [14.0, 10.0, 11.0], TWO_CORES: [5.1, 5.0, 5.05], TWO_RANKS: [9.0, 23.0, 9.2]}
        self.profile.measure(self.budget())
        self.assertEqual([self.chosen_ms(way) for way in (ONE, TWO_CORES, TWO_RANKS)], [10.0, 5.05, 9.0])
        chosen = json.loads(self.profile.file.read_text())["configurations"][0]
        self.assertEqual(chosen["transfers"][0]["points"], [[1024, 0.1]])

    def test_stages_grow_in_a_file_of_their_own_and_join_the_turn_that_counts(self):
        self.operator_ms = {TWO_CORES: [14.0, 10.0, 11.0]}
        self.profile.measure(self.budget())
        growing = [flags for flags in self.programs.asked("hios-profile") if flag(flags, "--stages") == "ios"]
        file = str(self.folder / "turns" / "1x2-stages.json")
        self.assertEqual({flag(flags, "--output") for flags in growing}, {file})
        self.assertTrue(all("--update" in flags and flag(flags, "--time-limit") == "15" for flags in growing))
        ways = {(c["ranks"], c["threads"]): c for c in json.loads(self.profile.file.read_text())["configurations"]}
        self.assertEqual([stage["ms"] for stage in ways[1, 2]["stages"]], [5.0])
        self.assertEqual(ways[1, 1]["stages"], [])
        self.assertEqual(ways[1, 2]["operators"]["conv"]["ms"], 10.0)

    def test_a_further_turn_replaces_stages_and_returns_whether_times_changed(self):
        self.profile.measure(self.budget(seconds=1))
        self.assertFalse(self.profile.again(ONE, []))
        self.stage_ms = 4.0
        schedule = self.folder / "schedule-1x2-ios.json"
        self.assertTrue(self.profile.again(TWO_CORES, [schedule]))
        self.assertEqual(flag(self.programs.asked("hios-profile")[-1], "--stages"), str(schedule))

    def test_a_way_that_did_not_settle_is_known(self):
        self.settled = {TWO_RANKS: False, ONE: True}
        self.profile.measure(self.budget(seconds=1))
        self.assertEqual(self.profile.unsettled(), [TWO_RANKS])

    def test_stages_that_did_not_settle_mark_their_way_too(self):
        self.settled, self.stages_settled = {TWO_CORES: True}, False
        self.profile.measure(self.budget(seconds=1))
        self.assertEqual(self.profile.unsettled(), [TWO_CORES])
        configuration = json.loads(self.profile.file.read_text())["configurations"][1]
        self.assertEqual({what: part["settled"] for what, part in configuration["protocol"]["settling"].items()},
                         {"operators": True, "stages": False})


class RunningTest(MachineTest):
    def test_rows_run_in_turns_and_the_first_run_is_verified(self):
        self.measure()
        runs = self.programs.asked("hios-run")
        self.assertEqual(len(runs), EFFORT.rounds * len(self.rows))
        self.assertEqual([Path(flag(flags, "--schedule")).stem for flags in runs[:7]],
                         [row.schedule.stem for row in self.rows])
        self.assertEqual(["--verify" in flags for flags in runs], [True] * 7 + [False] * 14)
        self.assertEqual(self.rounds.repeated, [])

    def test_rounds_go_on_until_the_budget_is_spent(self):
        self.rounds.effort = Effort(iterations=4)
        self.profile.measure(self.budget(1))
        self.rounds.schedule(self.rows)
        before = self.now
        self.rounds.run_all(self.budget(5 * len(self.rows) + 3))
        self.assertEqual(self.rounds.last, 5)
        self.assertLessEqual(self.now - before, 5 * len(self.rows) + 3)

    def test_one_round_runs_however_small_the_budget(self):
        self.latency_ms = {TWO_RANKS: [20.0]}  # far from its prediction, and there is no time to repeat it
        self.profile.measure(self.budget(0))
        self.assertEqual([len(turns) for turns in self.profile.turns.values()], [1, 1, 1])
        self.rounds.schedule(self.rows)
        self.rounds.run_all(self.budget(0))
        self.assertEqual((self.rounds.last, self.rounds.repeated), (1, []))
        self.assertTrue(all(row.report["verified"]["passed"] for row in self.rows))

    def test_a_slow_round_ends_nothing_and_repeats_nothing(self):
        self.latency_ms = {ONE: [10.0, 15.0, 10.2]}
        summary = self.measure()
        self.assertEqual(sorted(self.rows[0].rounds), [1, 2, 3])
        self.assertAlmostEqual(summary["reference_moved"], 0.5)
        self.assertIn("distrust 1 rank x 1 core sequential (varied by 50 %", " ".join(page(summary).split()))

    def test_a_failed_verification_is_a_row_of_the_table(self):
        self.passed = False
        answer = self.programs.answer

        def failing(program, flags, ranks):
            answer(program, flags, ranks)
            if program == "hios-run" and "--verify" in flags:
                raise ProgramFailed(["hios-run"], 1, "error: wrong")
        self.programs.answer = failing
        summary = self.measure()
        self.assertEqual({row["verified"] for row in summary["rows"]}, {False})
        self.assertIn("NOT VERIFIED: 1 rank x 1 core sequential, 1 rank", page(summary))

    def test_a_run_that_fails_otherwise_ends_the_comparison(self):
        self.profile.measure(self.budget(1))
        self.rounds.schedule(self.rows)
        self.programs.answer = mock.Mock(side_effect=ProgramFailed(["hios-run"], 3, "error: out of memory"))
        with self.assertRaisesRegex(SystemExit, "out of memory"):
            self.rounds.run_all(self.budget())

    def test_a_way_whose_profile_was_disturbed_is_profiled_planned_and_run_again(self):
        self.operator_ms = {TWO_RANKS: [23.4, 23.5, 23.6, 10.0]}
        summary = self.measure()
        again = [flags for flags in self.programs.asked("hios-profile")][-1]
        self.assertEqual(flag(again, "--output"), str(self.folder / "turns" / "2x1-4.json"))
        self.assertEqual(len(self.programs.asked("hios-schedule")), 7 + 4)
        self.assertEqual([row["prediction_error"] for row in summary["rows"]], [0.0] * 7)
        self.assertIn("2 ranks x 1 core was profiled, planned and run again: inter-lp was -135.0 % off its prediction, "
                      "and is +0.0 % off now", " ".join(page(summary).split()))
        # The same schedule: its samples stay, two rounds are added, and it is verified again.
        self.assertEqual(sorted(self.row("2 ranks x 1 core hios-mr").rounds), [1, 2, 3, 4, 5])
        self.assertEqual(sorted(self.row("1 rank x 1 core sequential").rounds), [1, 2, 3])
        verified = ["--verify" in flags for flags in self.programs.asked("hios-run")]
        self.assertEqual(verified[-8:], [True] * 4 + [False] * 4)

    def test_another_schedule_drops_the_samples_of_the_one_before(self):
        self.profile.measure(self.budget())
        self.rounds.schedule(self.rows)
        self.rounds.run_all(self.budget())
        self.latency_ms = {TWO_CORES: [20.0]}
        self.rounds.run(self.rows)
        self.latency_ms[TWO_CORES] = [30.0]
        self.plan = "b"
        for row in self.rows:
            if row.way == TWO_CORES:
                row.rounds = {1: {"iterations_ms": [30.0], "disturbed_iterations": []}}
        self.rounds.repeat_off(self.budget())
        self.assertEqual(set(self.row("1 rank x 2 cores ios").samples()), {30.0})
        self.assertEqual(len(self.row("1 rank x 2 cores ios").rounds), EFFORT.rounds + 1)  # as many as the others have
        stages = [flag(flags, "--stages") for flags in self.programs.asked("hios-profile")]
        self.assertEqual(stages[-1], str(self.row("1 rank x 2 cores ios").schedule))

    def test_a_way_is_repeated_once_even_if_it_stays_off(self):
        self.latency_ms = {TWO_RANKS: [12.0]}
        self.measure()
        self.assertEqual(len(self.rounds.repeated), 1)
        self.assertAlmostEqual(error_of(self.rows[3]), 2 / 12)


class SummaryTest(MachineTest):
    def test_statistics_are_those_of_a_report(self):
        self.assertEqual(summarize_samples([5, 1, 2, 3, 4, 6, 7, 8]),
                         {"min": 1, "best_quarter": 1.5, "median": 4.5, "p95": 8, "p99": 8, "mean": 4.5, "samples": 8})

    def test_best_quarter_leaves_disturbed_runs_out_as_the_programs_do(self):
        # The numbers of tests/hios/base/numbers/statistics_test.cpp: one rule, in two languages.
        times = list(range(32))
        disturbed = list(range(24))
        self.assertEqual(best_quarter(times, disturbed), 27.5)
        summary = summarize_samples(times, disturbed)
        self.assertEqual((summary["best_quarter"], summary["min"], summary["disturbed"]), (27.5, 0, 24))
        self.assertEqual(best_quarter(times, [*disturbed, 24]), 3.5)  # seven are too few
        self.assertEqual(best_quarter([1, 2, 3, 4], [0, 1]), 3)       # of few, half are enough
        self.assertEqual(best_quarter([1, 2, 3, 4], [0, 1, 2]), 1)

    def test_each_row_says_what_it_is_and_how_it_compares(self):
        self.operator_ms = {TWO_CORES: [5.0], TWO_RANKS: [8.0]}
        self.latency_ms = {TWO_CORES: [5.0], TWO_RANKS: [8.0]}
        summary = self.measure()
        self.assertEqual([row["name"] for row in summary["rows"]],
                         ["1 rank x 1 core sequential", "1 rank x 2 cores sequential", "1 rank x 2 cores ios",
                          "2 ranks x 1 core inter-lp", "2 ranks x 1 core hios-lp", "2 ranks x 1 core inter-mr",
                          "2 ranks x 1 core hios-mr"])
        ranks = summary["rows"][4]
        self.assertEqual((ranks["ranks"], ranks["threads"], ranks["algorithm"]), (2, 1, "hios-lp"))
        self.assertEqual((ranks["speedup_over_one_core"], ranks["ratio_to_best_two_core_row"]), (1.25, 0.625))
        self.assertEqual(summary["two_cores_one_rank_ms"], 5.0)
        self.assertEqual(ranks["latency_ms"]["samples"], EFFORT.rounds * EFFORT.iterations)
        self.assertEqual(summary["extra"]["two_rank_limit"],
                         {"bound": "work", "ms": 4.0, "speedup_over_one_core": 2.5})
        report = json.loads((self.folder / "report-2x1-hios-lp.json").read_text())
        self.assertEqual(len(report["iterations_ms"]), 12)

    def test_the_page_marks_what_did_not_verify_or_settle(self):
        self.settled = {TWO_RANKS: False}
        summary = self.measure()
        self.assertIn("the profile of 2 ranks x 1 core did not settle", page(summary))
        self.assertIn("net, latency in ms (maximum over ranks), 12 runs per row in 3 rounds", page(summary))
        self.assertIn("every row is verified", page(summary))
        summary["rows"][0]["bitwise_equal_to_one_rank"] = False
        self.assertNotIn("every row is verified", page(summary))
        self.assertIn("NOT VERIFIED: 1 rank x 1 core sequential\n", page(summary))

    def test_disturbed_runs_are_counted_over_all_rounds(self):
        self.disturbed = [0, 2]
        summary = self.measure()
        self.assertEqual([row["latency_ms"]["disturbed"] for row in summary["rows"]], [6] * 7)
        self.assertIn("the machine did something else during 42 of the 84 runs", page(summary))
        report = json.loads((self.folder / "report-2x1-hios-lp.json").read_text())
        self.assertEqual(report["disturbed_iterations"], [0, 2, 4, 6, 8, 10])

    def test_runs_on_a_disturbed_machine_do_not_count_though_they_were_the_quickest(self):
        self.disturbed, self.disturbed_ms = [1], -4.0
        summary = self.measure()
        self.assertEqual({row["latency_ms"]["best_quarter"] for row in summary["rows"]}, {10.0})
        self.assertEqual({row["latency_ms"]["min"] for row in summary["rows"]}, {6.0})
        self.assertEqual({row["prediction_error"] for row in summary["rows"]}, {0.0})
        self.assertEqual(summary["reference_moved"], 0.0)

    def test_a_few_disturbed_runs_are_not_worth_a_line(self):
        summary = self.measure()
        self.assertEqual(summary["rows"][0]["latency_ms"]["disturbed"], 0)
        self.assertNotIn("something else", page(summary))

    def test_rows_name_their_files_for_the_page(self):
        summary = self.measure()
        for row in summary["rows"]:
            for key in ("schedule", "report", "trace"):
                self.assertTrue(row["extra"][key].startswith(f"{key}-{row['ranks']}x{row['threads']}-"))
            self.assertTrue((self.folder / row["extra"]["report"]).exists())


class WaysTest(unittest.TestCase):
    FOLDER = Path("unused")

    def names(self, *machine, **flags):
        return [row.name for row in make_rows(self.FOLDER, *machine, **flags)]

    def test_one_core_has_one_row(self):
        self.assertEqual(self.names(1, 1), ["1 rank x 1 core sequential"])

    def test_schedules_that_are_the_same_on_one_stream_run_once(self):
        self.assertEqual(self.names(2, 2), ["1 rank x 1 core sequential", "1 rank x 2 cores sequential",
                                            "1 rank x 2 cores ios", "2 ranks x 1 core hios-lp",
                                            "2 ranks x 1 core hios-mr", "2 ranks x 1 core best"])
        self.assertEqual(len(self.names(2, 2, all_rows=True)), 8)

    def test_each_number_of_ranks_has_a_row_with_cuts(self):
        self.assertEqual([name for name in self.names(4, 4, cuts=True) if name.endswith("cut")],
                         ["2 ranks x 2 cores hios-lp, cut", "2 ranks x 2 cores best, cut",
                          "4 ranks x 1 core hios-lp, cut", "4 ranks x 1 core best, cut"])

    def test_ranks_share_the_cores_and_have_streams_where_they_have_several(self):
        rows = make_rows(self.FOLDER, 8, 4)
        self.assertEqual(sorted({(row.way.key, row.streams) for row in rows if row.algorithm != "sequential"}),
                         [("1x8", 4), ("2x4", 4), ("4x2", 2)])
        self.assertEqual([row.algorithm for row in rows if row.way == Way(4, 2)],
                         ["inter-lp", "hios-lp", "inter-mr", "hios-mr", "best"])

    def test_ranks_are_powers_of_two_and_the_wanted_number(self):
        self.assertEqual([rank_counts(8, most) for most in (1, 2, 3, 6, 8)],
                         [[], [2], [2, 3], [2, 4, 6], [2, 4, 8]])

    def test_the_machine_says_what_it_leaves_out(self):
        self.assertEqual(machine_of(None, None, True, allowed=2), Machine(2, 2))
        self.assertEqual(machine_of(None, None, True, allowed=8), Machine(8, 4))
        self.assertEqual(machine_of(4, 3, True, allowed=8), Machine(4, 3))
        many = machine_of(None, None, True, allowed=64)
        self.assertEqual((many.cores, many.ranks), (16, 4))
        self.assertIn("16 of 64 cores are used (--cores 64 uses all)", many.remarks)
        alone = machine_of(None, None, True, allowed=1)
        self.assertEqual((alone.cores, alone.ranks), (1, 1))
        self.assertIn("one core: one rank only", alone.remarks[0])
        without = machine_of(None, None, False, allowed=2)
        self.assertEqual((without.cores, without.ranks), (2, 1))
        self.assertIn("no mpirun in PATH: one rank only", without.remarks[0])

    def test_more_than_there_is_is_refused_with_what_fits(self):
        with self.assertRaisesRegex(InputError, "--cores 4: this process may use 2 cores: --cores 2"):
            machine_of(4, None, True, allowed=2)
        with self.assertRaisesRegex(InputError, "--ranks 4: .* there are 2 cores: --ranks 2"):
            machine_of(None, 4, True, allowed=2)


class EffortTest(unittest.TestCase):
    def test_a_slow_network_runs_less_often(self):
        fast, slow = (effort_for(75, ms, ways=3, rows=6) for ms in (2, 700))
        self.assertEqual((fast.iterations, fast.sweeps), (24, 16))
        self.assertEqual((slow.iterations, slow.sweeps), (3, 4))
        self.assertEqual(effort_for(75, 2, 3, 6, rounds=9, iterations=5).iterations, 5)

    def test_a_large_budget_has_the_full_effort(self):
        effort = effort_for(1000, 66, 3, 6)
        self.assertEqual((effort.rounds, effort.iterations, effort.sweeps, effort.stages_s, effort.plan_s, effort.settle_s),
                         (None, 24, 16, 12, 10, 20))


if __name__ == "__main__":
    unittest.main()

"""python/hios/bench: the order of profiles and runs, repeated measurements, and the table."""

import json
import unittest
from pathlib import Path

from hios.bench.profiling import TurnsProfile
from hios.bench.running import Rounds, error_of
from hios.bench.summary import best_quarter, summarize, summarize_samples
from hios.bench.table import page
from hios.bench.ways import Effort, Way, effort_for, make_rows
from support import FakePrograms, FolderTest, flag

ONE, TWO_CORES, TWO_RANKS = Way(1, 1), Way(1, 2), Way(2, 1)
EFFORT = Effort(rounds=3, iterations=4, sweeps=8, stages_s=15)


class CompareTest(FolderTest):
    """Programs that write the next values of two lists: operators' times by way, latencies by way."""

    def setUp(self):
        super().setUp()
        (self.folder / "rounds").mkdir()
        self.programs = FakePrograms(answer=self.answer)
        self.rows = make_rows(self.folder)
        self.profile = TurnsProfile(self.programs, self.rows, ["--model", "net"], self.folder, EFFORT, 7)
        self.rounds = Rounds(self.programs, self.profile, self.rows, ["--model", "net"], EFFORT, 7)
        self.operator_ms = {}  # by way: the time of each turn, the last one for all that follow
        self.latency_ms = {}   # by way: the same for runs
        self.plan = "a"        # the content of schedules
        self.stage_ms = 5.0
        self.settled, self.stages_settled = {}, None
        self.disturbed = []    # indices of a report's runs
        self.disturbed_ms = 0.0  # by how much these took longer

    @staticmethod
    def next_of(times, default):
        return default if not times else times.pop(0) if len(times) > 1 else times[0]

    def answer(self, program, flags, ranks):
        return {"hios-profile": self.write_profile, "hios-schedule": self.write_schedule,
                "hios-run": self.write_report}[program](flags, ranks)

    def write_profile(self, flags, ranks):
        file, way = Path(flag(flags, "--output")), Way(ranks, int(flag(flags, "--threads")))
        if "--update" in flags:
            configuration = json.loads(file.read_text())["configurations"][0]
        else:
            self.assertFalse(file.exists())
            ms = self.next_of(self.operator_ms.get(way), 10.0)
            configuration = {"ranks": ranks, "threads": way.threads, "operators": {"conv": {"ms": ms}},
                             "transfers": [{"from": 0, "to": 1, "points": [[1024, ms / 100]]}], "protocol": {}}
            if way in self.settled:
                configuration["protocol"]["settling"] = {"operators": {"sweeps": 8, "settled": self.settled[way]}}
        if flag(flags, "--stages") != "none":
            configuration["stages"] = [{"groups": [["conv"], ["conv"]], "ms": self.stage_ms}]
            if self.stages_settled is not None:
                settling = configuration["protocol"].setdefault("settling", {})
                settling["stages"] = {"sweeps": 10, "settled": self.stages_settled}
        file.write_text(json.dumps({"configurations": [configuration]}))

    def write_schedule(self, flags, _):
        configurations = json.loads(Path(flag(flags, "--profile")).read_text())["configurations"]
        way = int(flag(flags, "--devices")), int(flag(flags, "--threads"))
        ms = next(c["operators"]["conv"]["ms"] for c in configurations if (c["ranks"], c["threads"]) == way)
        Path(flag(flags, "--output")).write_text(json.dumps(
            {"devices": [{"stages": [[[self.plan]]]}],
             "predicted": {"latency_ms": ms, "lower_bound_ms": ms / 2, "bound": "work"}}))

    def write_report(self, flags, ranks):
        schedule = Path(flag(flags, "--schedule"))
        threads = int(schedule.stem.removeprefix("schedule-")[2])
        ms = self.next_of(self.latency_ms.get(Way(ranks, threads)), 10.0)
        verified = {"passed": True, "bitwise": True} if "--verify" in flags else None
        iterations_ms = [ms + (index in self.disturbed) * self.disturbed_ms
                         for index in range(int(flag(flags, "--iterations")))]
        Path(flag(flags, "--json")).write_text(json.dumps(
            {"iterations_ms": iterations_ms, "disturbed_iterations": self.disturbed, "verified": verified,
             "overhead_ms": 0.1,
             "predicted_ms": json.loads(schedule.read_text())["predicted"]["latency_ms"]}))

    def chosen_ms(self, way):
        configurations = json.loads(self.profile.file.read_text())["configurations"]
        return next(c["operators"]["conv"]["ms"] for c in configurations if (c["ranks"], c["threads"]) ==
                    (way.ranks, way.threads))

    def measure(self):
        self.profile.measure()
        self.rounds.schedule(self.rows)
        self.rounds.run_all()
        self.rounds.replace_moved()
        self.rounds.repeat_off()
        return summarize(self.rows, "net", self.rounds.repeated, self.profile.unsettled())

    def row(self, name):
        return next(row for row in self.rows if row.name == name)


class ProfilingTest(CompareTest):
    def test_ways_are_profiled_in_turns(self):
        self.profile.measure(turns=2)
        asked = [(ranks, flag(flags, "--threads"), flag(flags, "--stages")) for _, flags, ranks in self.programs.calls]
        turn = [(1, "1", "none"), (1, "2", "none"), (2, "1", "none"), (1, "2", "ios")]
        self.assertEqual(asked, turn * 2)

    def test_the_middle_of_the_turns_that_agree_with_the_fastest_counts_as_a_whole(self):
        self.operator_ms = {ONE: [14.0, 10.0, 11.0], TWO_CORES: [5.1, 5.0, 5.05], TWO_RANKS: [9.0, 23.0, 9.2]}
        self.profile.measure()
        self.assertEqual([self.chosen_ms(way) for way in (ONE, TWO_CORES, TWO_RANKS)], [10.0, 5.05, 9.0])
        chosen = json.loads(self.profile.file.read_text())["configurations"][0]
        self.assertEqual(chosen["transfers"][0]["points"], [[1024, 0.1]])

    def test_stages_grow_in_a_file_of_their_own_and_join_the_turn_that_counts(self):
        self.operator_ms = {TWO_CORES: [14.0, 10.0, 11.0]}
        self.profile.measure()
        growing = [flags for flags in self.programs.asked("hios-profile") if flag(flags, "--stages") == "ios"]
        file = str(self.folder / "turns" / "1x2-stages.json")
        self.assertEqual({flag(flags, "--output") for flags in growing}, {file})
        self.assertTrue(all("--update" in flags and flag(flags, "--time-limit") == "15" for flags in growing))
        ways = {(c["ranks"], c["threads"]): c for c in json.loads(self.profile.file.read_text())["configurations"]}
        self.assertEqual([stage["ms"] for stage in ways[1, 2]["stages"]], [5.0])
        self.assertEqual(ways[1, 1]["stages"], [])
        self.assertEqual(ways[1, 2]["operators"]["conv"]["ms"], 10.0)

    def test_a_further_turn_replaces_stages_and_returns_whether_times_changed(self):
        self.profile.measure(turns=1)
        self.assertFalse(self.profile.again(ONE, []))
        self.stage_ms = 4.0
        schedule = self.folder / "schedule-1x2-ios.json"
        self.assertTrue(self.profile.again(TWO_CORES, [schedule]))
        self.assertEqual(flag(self.programs.asked("hios-profile")[-1], "--stages"), str(schedule))

    def test_a_way_that_did_not_settle_is_known(self):
        self.settled = {TWO_RANKS: False, ONE: True}
        self.profile.measure(turns=1)
        self.assertEqual(self.profile.unsettled(), [TWO_RANKS])

    def test_stages_that_did_not_settle_mark_their_way_too(self):
        self.settled, self.stages_settled = {TWO_CORES: True}, False
        self.profile.measure(turns=1)
        self.assertEqual(self.profile.unsettled(), [TWO_CORES])
        configuration = json.loads(self.profile.file.read_text())["configurations"][1]
        self.assertEqual({what: part["settled"] for what, part in configuration["protocol"]["settling"].items()},
                         {"operators": True, "stages": False})


class RunningTest(CompareTest):
    def test_rows_run_in_turns_and_the_first_run_is_verified(self):
        self.measure()
        runs = self.programs.asked("hios-run")
        self.assertEqual(len(runs), EFFORT.rounds * len(self.rows))
        self.assertEqual([Path(flag(flags, "--schedule")).stem for flags in runs[:7]],
                         [row.schedule.stem for row in self.rows])
        self.assertEqual(["--verify" in flags for flags in runs], [True] * 7 + [False] * 14)
        self.assertEqual(self.rounds.repeated, [])

    def test_a_round_in_which_one_core_was_slow_is_replaced(self):
        self.latency_ms = {ONE: [10.0, 15.0, 10.2, 10.1]}
        summary = self.measure()
        self.assertEqual(sorted(self.rows[0].rounds), [1, 3, 4])
        self.assertEqual(sorted(self.rows[3].rounds), [1, 3, 4])
        self.assertAlmostEqual(summary["reference_moved"], 0.02)
        self.assertEqual(len(self.rounds.repeated), 1)
        self.assertIn("round 2 was repeated: one core was 50 % slower", page(summary))

    def test_rounds_are_not_replaced_for_ever(self):
        self.latency_ms = {ONE: [10.0, 15.0, 15.0, 15.0, 15.0, 10.0]}
        self.measure()
        self.assertEqual(len([line for line in self.rounds.repeated if "repeated" in line]), 2)

    def test_a_way_whose_profile_was_disturbed_is_profiled_planned_and_run_again(self):
        self.operator_ms = {TWO_RANKS: [23.4, 23.5, 23.6, 10.0]}
        summary = self.measure()
        again = [flags for flags in self.programs.asked("hios-profile")][-1]
        self.assertEqual(flag(again, "--output"), str(self.folder / "turns" / "2x1-4.json"))
        self.assertEqual(len(self.programs.asked("hios-schedule")), 7 + 4)
        self.assertEqual([row["prediction_error"] for row in summary["rows"]], [0.0] * 7)
        self.assertIn("2 ranks x 1 core was profiled, planned and run again: inter-lp was -135.0 % off its prediction, "
                      "and is +0.0 % off now", page(summary))
        # The same schedule: its samples stay, two rounds are added, and it is verified again.
        self.assertEqual(sorted(self.row("2 ranks x 1 core hios-mr").rounds), [1, 2, 3, 4, 5])
        self.assertEqual(sorted(self.row("1 rank x 1 core sequential").rounds), [1, 2, 3])
        verified = ["--verify" in flags for flags in self.programs.asked("hios-run")]
        self.assertEqual(verified[-8:], [True] * 4 + [False] * 4)

    def test_another_schedule_drops_the_samples_of_the_one_before(self):
        self.profile.measure()
        self.rounds.schedule(self.rows)
        self.rounds.run_all()
        self.latency_ms = {TWO_CORES: [20.0]}
        self.rounds.run(self.rows)
        self.latency_ms[TWO_CORES] = [30.0]
        self.plan = "b"
        for row in self.rows:
            if row.way == TWO_CORES:
                row.rounds = {1: {"iterations_ms": [30.0], "disturbed_iterations": []}}
        self.rounds.repeat_off()
        self.assertEqual(set(self.row("1 rank x 2 cores ios").samples()), {30.0})
        self.assertEqual(len(self.row("1 rank x 2 cores ios").rounds), EFFORT.rounds)
        stages = [flag(flags, "--stages") for flags in self.programs.asked("hios-profile")]
        self.assertEqual(stages[-1], str(self.row("1 rank x 2 cores ios").schedule))

    def test_a_way_is_repeated_once_even_if_it_stays_off(self):
        self.latency_ms = {TWO_RANKS: [12.0]}
        self.measure()
        self.assertEqual(len(self.rounds.repeated), 1)
        self.assertAlmostEqual(error_of(self.rows[3]), 2 / 12)


class SummaryTest(CompareTest):
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
        self.assertEqual(page(summary).count("yes, bitwise"), 7)
        summary["rows"][0]["bitwise_equal_to_one_rank"] = False
        self.assertEqual(page(summary).count("yes, bitwise"), 6)
        self.assertRegex(page(summary), r"1 rank x 1 core sequential .* NO\n")

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

    def test_effort_by_network_and_by_flag(self):
        self.assertEqual(effort_for("nasnet_large").iterations, 8)
        self.assertEqual(effort_for("squeezenet", rounds=9), Effort(rounds=9))


if __name__ == "__main__":
    unittest.main()

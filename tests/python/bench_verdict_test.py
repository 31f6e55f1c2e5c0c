"""python/hios/benchmark: each sentence of the verdict, from made-up summaries; the longest path; rows to distrust; the table."""

import copy
import unittest

from hios.benchmark.disturbance import disturbance_line
from hios.benchmark.table import fitted, folded_verdict, table
from hios.benchmark.verdict import verdict
from hios.benchmark.why import longest_path


def row(name, ms, p25=None, p75=None, **changes):
    """A row of the summary: "1 rank x 2 cores ios"."""
    words = name.split()
    extra = {"batch": 1, "p25_ms": p25 or ms, "p75_ms": p75 or ms * 1.02, "rounds_varied": 0.01}
    latency = {"best_quarter": ms, "median": ms * 1.01, "p95": ms * 1.5, "samples": 40, "disturbed": 0}
    made = {"name": name, "ranks": int(words[0]), "threads": int(words[3]), "algorithm": words[-1], "latency_ms": latency,
            "predicted_ms": ms, "prediction_error": 0.0, "speedup_over_one_core": 1.0, "extra": extra}
    for key, value in changes.items():
        (latency if key in latency else extra if key in extra else made)[key] = value
    return made


def limit(ms, bound="critical_path", share=0.74, ranks=2, threads=1, heaviest=("stem", "conv2", "conv7"), operators=9):
    return {"ranks": ranks, "threads": threads, "ms": ms, "bound": bound,
            "path": {"ms": ms, "work_ms": ms / share, "share": share, "operators": operators, "heaviest": list(heaviest)}}


ONE = row("1 rank x 1 core sequential", 3.6)
THREADS = row("1 rank x 2 cores sequential", 1.85)
RANKS = row("2 ranks x 1 core best", 2.67)


def said(rows, limits):
    return verdict({"rows": copy.deepcopy(rows), "extra": {"limits": limits}})


class VerdictTest(unittest.TestCase):
    def test_the_fastest_row_has_its_latency_and_inputs_per_second(self):
        rows = [ONE, row("1 rank x 2 cores sequential", 1.85, median=2.39, p95=10.4), RANKS]
        self.assertEqual(said(rows, [limit(2.64)])[0], "fastest here: 1 rank x 2 cores, sequential   1.85 ms  p50 2.39  "
                                                       "p95 10.40   541 inputs/s")

    def test_inputs_per_second_count_the_batch(self):
        self.assertIn("   2162 inputs/s", said([row("1 rank x 1 core sequential", 1.85, batch=4)], [])[0])
        self.assertIn("   0.500 inputs/s", said([row("1 rank x 1 core sequential", 2000)], [])[0])

    def test_rows_within_noise_are_no_different(self):
        ios = row("1 rank x 2 cores ios", 1.86, p25=1.86, p75=1.95)
        lines = said([ONE, THREADS, ios, RANKS], [limit(2.64)])
        self.assertEqual(lines[1], "no difference measured between it (1.85 to 1.89 ms) and 1 rank x 2 cores, ios (1.86 to "
                                   "1.95 ms): the middle halves of their runs overlap")
        apart = row("1 rank x 2 cores ios", 1.86, p25=1.90, p75=1.95)
        self.assertNotIn("no difference", " ".join(said([ONE, THREADS, apart, RANKS], [limit(2.64)])))

    def test_rows_that_differ_much_show_the_runs_that_make_it_no_difference(self):
        wide = row("2 ranks x 1 core best", 46.7, p25=47.2, p75=61)
        narrow = row("1 rank x 2 cores sequential", 58.0, p25=58.4, p75=59.1)
        text = " ".join(said([row("1 rank x 1 core sequential", 90), wide, narrow], [limit(40)]))
        self.assertIn("between it (47.20 to 61.00 ms) and 1 rank x 2 cores, sequential (58.40 to 59.10 ms): ", text)

    def test_many_equal_rows_are_counted(self):
        equal = [row(f"2 ranks x 1 core {name}", 1.86) for name in ("best", "hios-lp", "hios-mr", "inter-lp")]
        self.assertIn("2 ranks x 1 core, hios-mr (1.86 to 1.90 ms); 1 more: ", said([ONE, THREADS, *equal], [limit(1)])[1])
        self.assertIn(") and every other row: ", said([row("1 rank x 1 core sequential", 1.86), THREADS, *equal],
                                                             [limit(1)])[1])

    def test_two_ranks_are_limited_by_the_longest_path(self):
        self.assertIn("two ranks: 2.67 ms; the longest path is 74 % of the work (stem, conv2, conv7, …), so no plan without "
                      "cut operators is below 2.64 ms", said([ONE, THREADS, RANKS], [limit(2.64)]))

    def test_another_bound_is_named_next_to_the_path(self):
        slower = {**limit(2.4, bound="work", operators=3), "ms": 2.64}
        self.assertIn("two ranks: 2.67 ms; the longest path is 74 % of the work (stem, conv2, conv7) and takes 2.40 ms; no "
                      "plan without cut operators is below 2.64 ms (bound: work)", said([ONE, THREADS, RANKS], [slower]))

    def test_a_run_below_its_bound_is_no_contradiction(self):
        lines = said([ONE, THREADS, RANKS], [limit(2.9)])
        self.assertIn("below 2.90 ms; this run was faster than the profile's times allow", " ".join(lines))

    def test_a_plan_with_cuts_may_be_below_the_limit_of_those_without(self):
        cut = {**row("2 ranks x 1 core hios-lp", 2.5), "name": "2 ranks x 1 core hios-lp, cut", "cut_operators": 7}
        lines = said([ONE, THREADS, RANKS, cut], [limit(2.64)])
        self.assertIn("no plan without cut operators is below 2.64 ms; this one cuts 7", " ".join(lines))
        self.assertIn("two ranks: 2.50 ms", " ".join(lines))
        self.assertIn("2 ranks x 1 core, hios-lp, cut", " ".join(lines))

    def test_ranks_of_several_cores_and_other_numbers_are_named(self):
        rows = [ONE, row("1 rank x 16 cores sequential", 1.0), row("8 ranks x 2 cores best", 1.5)]
        self.assertTrue(any(line.startswith("8 ranks of 2 cores: 1.50 ms; ")
                            for line in said(rows, [limit(1.4, ranks=8, threads=2)])))

    def test_threads_beat_ranks_because_of_the_bound(self):
        self.assertIn("threads beat ranks: 1 rank x 2 cores, sequential is 1.95x as fast as one core, 2 ranks x 1 core, best "
                      "1.35x; threads share the operators of the longest path, ranks cannot: the bound of 2 ranks, 2.64 ms, is "
                      "above 1.85 ms", said([ONE, THREADS, RANKS], [limit(2.64)]))
        self.assertIn("1.35x; the bound of 2 ranks, 2.64 ms, is above 1.85 ms",
                      said([ONE, THREADS, RANKS], [limit(2.64, bound="work")])[-1])

    def test_threads_beat_ranks_because_of_the_plan_or_the_run(self):
        ranks = row("2 ranks x 1 core best", 2.67, predicted_ms=2.0)
        self.assertIn("1.35x; by the bound 2 ranks could take 1.80 ms, its plan takes 2.00 ms and its run 2.67 ms",
                      said([ONE, THREADS, ranks], [limit(1.8)])[-1])

    def test_ranks_beat_threads(self):
        rows = [ONE, row("1 rank x 2 cores sequential", 3.0), row("2 ranks x 1 core best", 2.0)]
        self.assertIn("ranks beat threads: 2 ranks x 1 core, best is 1.80x as fast as one core, 1 rank x 2 cores, sequential "
                      "1.20x; the longest path is 40 % of the work, and the rest can run at the same time",
                      said(rows, [limit(1.44, share=0.4)]))

    def test_threads_and_ranks_within_noise(self):
        rows = [ONE, row("1 rank x 2 cores sequential", 2.0, p75=2.4), row("2 ranks x 1 core best", 2.1)]
        self.assertIn("threads or ranks: no difference measured (1 rank x 2 cores, sequential (2.00 to 2.40 ms); 2 ranks x "
                      "1 core, best (2.10 to 2.14 ms)): the middle halves of their runs overlap", said(rows, [limit(1.8)]))

    def test_neither_threads_nor_ranks(self):
        rows = [ONE, row("1 rank x 2 cores sequential", 4.0), row("2 ranks x 1 core best", 4.5)]
        self.assertIn("neither threads nor ranks beat one core: 1 rank x 2 cores, sequential is 0.90x as fast, 2 ranks x 1 "
                      "core, best 0.80x", said(rows, [limit(2.64)]))

    def test_ranks_within_noise_of_one_core_do_not_beat_it(self):
        rows = [ONE, row("1 rank x 2 cores sequential", 4.0), row("2 ranks x 1 core best", 3.5, p75=3.7)]
        lines = said(rows, [limit(2.64)])
        self.assertTrue(any(line.startswith("neither threads nor ranks beat one core: ") for line in lines), lines)

    def test_one_rank_has_nothing_to_say_of_ranks(self):
        self.assertEqual(len(said([ONE], [limit(3.6, ranks=1)])), 1)
        self.assertEqual(len(said([ONE, THREADS], [limit(3.6, ranks=1), limit(1.8, ranks=1, threads=2)])), 1)

    def test_a_disturbed_machine_is_the_last_line(self):
        rows = [ONE, row("1 rank x 2 cores sequential", 1.85, disturbed=20, rounds_varied=0.31), RANKS]
        self.assertEqual(said(rows, [limit(2.64)])[-1],
                         "the machine did something else during 20 of the 120 runs: distrust 1 rank x 2 cores sequential "
                         "(varied by 31 % between rounds)")


class DisturbanceTest(unittest.TestCase):
    def test_a_quiet_machine_is_not_worth_a_line(self):
        self.assertIsNone(disturbance_line([row("1 rank x 1 core sequential", 1, disturbed=2), THREADS]))

    def test_disturbed_runs_alone_do_not_spoil_a_row_with_enough_others(self):
        self.assertEqual(disturbance_line([row("1 rank x 1 core sequential", 1, disturbed=20), THREADS]),
                         "the machine did something else during 20 of the 80 runs")

    def test_rows_with_few_quiet_runs_are_distrusted(self):
        rows = [row("1 rank x 1 core sequential", 1, samples=40, disturbed=37),
                row("1 rank x 2 cores ios", 1, samples=40, disturbed=35), THREADS]
        self.assertEqual(disturbance_line(rows), "the machine did something else during 72 of the 120 runs: distrust 1 rank "
                                                 "x 1 core sequential, 1 rank x 2 cores ios (3 to 5 undisturbed runs)")

    def test_every_row(self):
        rows = [row("1 rank x 1 core sequential", 1, rounds_varied=0.2), row("1 rank x 2 cores ios", 1, rounds_varied=0.4)]
        self.assertEqual(disturbance_line(rows), "the machine did something else during 0 of the 80 runs: distrust every row "
                                                 "(varied by 20 to 40 % between rounds)")


class LongestPathTest(unittest.TestCase):
    @staticmethod
    def graph(times, *edges):
        return {"operators": [{"name": name, "time_ms": ms} for name, ms in times.items()],
                "edges": [{"from": a, "to": b} for a, b in edges]}

    def test_the_path_with_most_time_counts_not_the_one_with_most_operators(self):
        graph = self.graph({"a": 1, "b": 1, "c": 1, "d": 5, "e": 2}, ("a", "b"), ("b", "c"), ("c", "e"), ("a", "d"), ("d", "e"))
        path = longest_path(graph)
        self.assertEqual([name for name, _ in path.operators], ["a", "d", "e"])
        self.assertEqual((path.ms, path.work_ms, path.share), (8, 10, 0.8))

    def test_the_longest_path_is_that_of_all_paths(self):
        times = {name: 1 + (7 * index) % 5 for index, name in enumerate("abcdefgh")}
        numbered = list(enumerate("abcdefgh"))
        edges = [(a, b) for i, a in numbered for j, b in numbered if i < j and (i * j + i + j) % 3 == 0]

        def longest_from(name):
            return times[name] + max((longest_from(b) for a, b in edges if a == name), default=0)
        self.assertEqual(longest_path(self.graph(times, *edges)).ms, max(map(longest_from, times)))

    def test_named_are_the_operators_that_take_most_in_the_order_of_the_path(self):
        names = "abcdef"
        path = longest_path(self.graph(dict(zip(names, [3, 1, 9, 2, 4, 8])), *zip(names, names[1:])))
        self.assertEqual(path.heaviest(3), ["c", "e", "f"])
        self.assertEqual(path.json()["operators"], 6)

    def test_an_operator_takes_its_time_on_the_fastest_device(self):
        self.assertEqual(longest_path(self.graph({"a": {"cpu": 4, "cpu-avx2": 9}, "b": 3}, ("a", "b"))).ms, 7)

    def test_equal_edges_and_single_operators(self):
        self.assertEqual(longest_path(self.graph({"a": 2, "b": 3}, ("a", "b"), ("a", "b"))).ms, 5)
        self.assertEqual(longest_path(self.graph({"a": 2})).share, 1)


class TableTest(unittest.TestCase):
    def test_a_table_fits_80_columns(self):
        rows = [row("1 rank x 16 cores sequential", 12345.6, prediction_error=-1.35, speedup_over_one_core=12.5),
                row("2 ranks x 8 cores inter-mr", 0.123)]
        text = table({"rows": rows})
        self.assertLessEqual(max(map(len, text.split("\n"))), 80)
        self.assertIn("12346", text)
        self.assertIn("0.123", text)

    def test_columns_are_dropped_in_order_where_it_is_too_wide(self):
        lines = [["row", "a", "b", "c"], ["x" * 60, "1" * 9, "2" * 9, "3"]]
        self.assertEqual(fitted(lines, ["b", "a"])[0].split(), ["row", "a", "c"])
        self.assertEqual(fitted(lines, [])[0].split(), ["row", "a", "b", "c"])

    def test_the_verdict_folds(self):
        line = "fastest here: 1 rank x 2 cores, sequential   1.85 ms  p50 2.39  p95 10.40   540 inputs/s"
        self.assertEqual(folded_verdict(line),
                         "fastest here: 1 rank x 2 cores, sequential\n  1.85 ms  p50 2.39  p95 10.40   540 inputs/s")
        self.assertEqual(folded_verdict("short   1.85 ms"), "short   1.85 ms")
        self.assertTrue(all(len(line) <= 80 for line in folded_verdict("word " * 60).split("\n")))


if __name__ == "__main__":
    unittest.main()

"""python/hios/throughput: profiles, plans and runs, and the table."""

import contextlib
import io
import json
import unittest
from pathlib import Path
from unittest import mock

from support import FakePrograms, FolderTest, flag
from hios.benchmark import command as bench_command
from hios.benchmark.budget import Budget
from hios.throughput import command, table, weights
from hios.throughput.measuring import Bench, write_platform
from hios.throughput.rows import Row, distinct, rows_of, short_rows_of
from hios.throughput.verdict import verdict


def once(turn, _):
    return turn < 1


def twice(turn, _):
    return turn < 2


class JsonPrograms(FakePrograms):
    """Whose --json is read back."""

    def __init__(self, file, answer):
        super().__init__(answer=answer)
        self.file = file

    def json(self, program, *flags, ranks=0):
        self.run(program, *flags, "--json", self.file, ranks=ranks)
        return json.loads(self.file.read_text())


class ProgramsTest(FolderTest):
    """Programs that write the requested files."""

    def setUp(self):
        super().setUp()
        self.programs = JsonPrograms(self.folder / "answer.json", self.answer)
        self.bench = Bench(self.programs, self.folder, 2, 16, 5)
        self.period_ms, self.bitwise, self.disturbed = 10.0, True, 0

    def answer(self, program, flags, ranks):
        if program == "hios-run":
            copies = int(flag(flags, "--copies")) if "--copies" in flags else 1
            verified = {"passed": True, "bitwise": self.bitwise} if "--verify" in flags else None
            report = {"verified": verified, "latency_ms": {"median": 12.0, "samples": 40, "disturbed": self.disturbed},
                      "throughput": {"in_flight": 2, "copies": copies, "prediction_error": 0.01, "bottleneck": 0,
                                     "predicted_bottleneck": 0, "predicted_period_ms": 9.9, "ranks": [{"own_ms": 0.1}] * ranks,
                                     "period_ms": {"mean": self.period_ms / ranks}}}
            Path(flag(flags, "--json")).write_text(json.dumps(report))
        elif program == "hios-schedule" and "--json" in flags:
            rows = [{"algorithm": flag(flags, "--algorithm"), "in_flight": 3}]
            Path(flag(flags, "--json")).write_text(json.dumps({"comparison": rows}))

    def calls(self, program):
        return [call for call in self.programs.calls if call[0] == program]


class ThroughputTest(ProgramsTest):
    def test_all_rows_of_a_network_stand_on_one_profile_and_run_in_turns(self):
        rows = rows_of("net", 4)
        profile = self.bench.profile(["--model", "net"], rows)
        self.assertEqual([(ranks, flag(flags, "--threads")) for _, flags, ranks in self.calls("hios-profile")],
                         [(1, "1"), (1, "2"), (2, "1")])
        self.assertEqual(["--objective" in flags for _, flags, _ in self.calls("hios-profile")], [False, False, True])
        self.bench.schedule(["--model", "net"], rows, profile)
        self.assertEqual([row.in_flight for row in rows if row.algorithm == "hios-lp"], [1, 3])
        self.bench.turns(["--model", "net"], rows, profile, twice)
        runs = self.calls("hios-run")
        self.assertEqual(len(runs), 2 * len(rows))
        self.assertEqual([ranks for _, _, ranks in runs[:7]], [1, 1, 2, 2, 2, 2, 2])
        self.assertEqual(["--verify" in flags for _, flags, _ in runs], [True] * 7 + [False] * 7)
        result = rows[2].result()
        self.assertEqual((result["ranks"], result["copies"], result["per_second"]), (2, 2, 800))
        self.assertTrue(result["verified"])
        self.assertEqual((result["name"], result["periods_ms"]), ("2 copies, 1 core each", [5.0, 5.0]))

    def test_rows_follow_from_cores_and_ranks(self):
        self.assertEqual([row.name for row in rows_of("net", 1, 1, 1)], ["1 rank x 1 core, sequential"])
        self.assertEqual([row.name for row in rows_of("net", 1, 2, 1)],
                         ["1 rank x 1 core, sequential", "1 rank x 2 cores, sequential"])
        ways = {(row.way, row.copies) for row in rows_of("net", 1, 8, 4)}
        self.assertEqual(ways, {((1, 1), 1), ((1, 8), 1), ((8, 1), 8), ((4, 2), 1)})

    def test_rounds_go_on_while_they_are_wanted(self):
        asked = []

        def more(turn, last_s):
            asked.append(last_s >= 0)
            return turn < 4
        self.bench.turns(["--model", "net"], short_rows_of("net"), "p", more)
        self.assertEqual((len(self.calls("hios-run")), asked), (8, [True] * 4))

    def test_a_plan_that_does_best_with_one_buffer_is_listed_once(self):
        rows = rows_of("net", 1)
        rows[-1].in_flight = 2
        self.assertEqual(distinct(rows), rows)
        rows[-1].in_flight = 1
        self.assertEqual(distinct(rows), rows[:-1])

    def test_a_row_that_does_not_verify_is_marked(self):
        self.bitwise = False
        rows = short_rows_of("net")
        self.bench.turns(["--model", "net"], rows, "p", once)
        self.assertFalse(rows[0].result()["verified"])
        self.assertIn(f"NOT VERIFIED: {rows[0].name}", table.page("net", rows))

    def test_the_table_compares_all_with_copies(self):
        rows = short_rows_of("net")
        self.bench.turns(["--model", "net"], rows[:1], "p", once)
        self.period_ms = 5
        self.bench.turns(["--model", "net"], rows[1:], "p", once)
        self.assertIn("2.00x", table.page("net", rows))
        refused = Row("net", 1, 1, 1, 2, "sequential", refused="needs 9 MB per device")
        self.assertIn("needs 9 MB", table.page("net", [refused]))
        self.assertEqual(table.copies_of([refused]), 0)

    def test_weights_are_so_many_times_the_caches(self):
        for factor in weights.FACTORS:
            layers = weights.network(factor, 17 << 20)["layers"]
            held = len(layers) * weights.CHANNELS ** 2 * 4
            self.assertLess(abs(held - factor * (17 << 20)), weights.CHANNELS ** 2 * 4)
        self.assertEqual(len(weights.network(0.5, 1)["layers"]), 2, "one for each rank at least")
        for index, (level, size, cores) in enumerate([("1", "48K", "0"), ("2", "1024K", "0"), ("3", "32M", "0-1,4-5")]):
            cache = self.folder / f"index{index}"
            cache.mkdir()
            for name, text in (("level", level), ("size", size), ("shared_cpu_list", cores)):
                (cache / name).write_text(text + "\n")
        self.assertEqual(weights.cache_bytes(self.folder), (1 << 20) + (8 << 20))
        self.assertEqual(weights.cache_bytes(self.folder / "none"), weights.CACHE_BYTES)

    def test_a_platform_has_the_memory_of_its_devices(self):
        devices = json.loads(write_platform(self.folder / "p.json", 2, 1, 1000).read_text())["devices"]
        self.assertEqual([device["memory_bytes"] for device in devices], [1000, 1000])


def result(name, per_second, batch=1, copies=1, ranks=1, spread=0.0, **changes):
    """A row's result; its rounds differ by this share."""
    period = 1000 * batch / per_second
    return {"name": name, "batch": batch, "copies": copies, "ranks": ranks, "per_second": per_second, "period_ms": period,
            "periods_ms": [period, period * (1 + spread)], "latency_ms": 2 * period, "own_ms": 0.8 * period,
            "samples": 40, "disturbed": 0, **changes}


class VerdictTest(unittest.TestCase):
    COPIES = result("2 copies, 1 core each", 40, batch=4, copies=2, ranks=2)
    PIPELINE = result("2 ranks x 1 core, best", 30, ranks=2)

    def test_most_inputs_per_second(self):
        self.assertEqual(list(verdict([result("1 rank x 1 core, sequential", 20), self.COPIES]))[0],
                         "most inputs per second here: 2 copies, 1 core each, batch 4   40.0 inputs/s  period 100.0 ms  "
                         "latency 200.0 ms")

    def test_rows_whose_rounds_overlap_are_no_different(self):
        close = result("1 rank x 2 cores, sequential", 39, spread=0.0)
        wide = {**self.COPIES, "periods_ms": [100, 110]}
        self.assertIn("no difference measured between it and 1 rank x 2 cores, sequential, batch 1: the ranges of their rounds "
                      "overlap", list(verdict([wide, close])))
        self.assertEqual(len(list(verdict([self.COPIES, close]))), 1)

    def test_a_single_round_tells_no_small_difference(self):
        once = [{**each, "periods_ms": [each["period_ms"]]} for each in (self.COPIES, result("1 rank x 2 cores, sequential", 38))]
        self.assertIn("no difference measured", list(verdict(once))[1])
        twice = [{**each, "periods_ms": [each["period_ms"]] * 2} for each in once]
        self.assertEqual(len(list(verdict(twice))), 1)
        far = [once[0], {**self.PIPELINE, "periods_ms": [self.PIPELINE["period_ms"]]}]
        self.assertNotIn("no difference", "".join(verdict(far)))

    def test_a_disturbed_machine_is_said_in_one_line(self):
        self.assertEqual(list(verdict([{**self.COPIES, "disturbed": 4}]))[1:], [])
        self.assertEqual(list(verdict([{**self.COPIES, "disturbed": 5}]))[1:],
                         ["the machine did something else during 5 of the 40 inferences"])
        wide = {**self.PIPELINE, "periods_ms": [33, 50]}
        self.assertEqual(list(verdict([self.COPIES, wide]))[-1],
                         "the machine did something else during 0 of the 80 inferences: distrust 2 ranks x 1 core, best, batch 1 "
                         "(varied by 52 % between rounds)")

    def test_copies_beat_a_pipeline_or_it_them(self):
        self.assertIn("copies beat a pipeline: 2 ranks x 1 core, best, batch 1 has 0.75x the inputs per second of 2 copies, "
                      "1 core each, batch 4; its slowest rank computes for 26.67 of 33.33 ms",
                      list(verdict([self.COPIES, self.PIPELINE])))
        faster = result("2 ranks x 1 core, best", 60, ranks=2)
        self.assertIn("a pipeline beats copies: 2 ranks x 1 core, best, batch 1 has 1.50x ",
                      list(verdict([self.COPIES, faster]))[-1])
        equal = result("2 ranks x 1 core, best", 40, ranks=2)
        self.assertEqual(list(verdict([self.COPIES, equal]))[-1],
                         "pipeline or copies: no difference measured (2 ranks x 1 core, best, batch 1; 2 copies, 1 core each, "
                         "batch 4): the ranges of their rounds overlap")


class CommandTest(ProgramsTest):
    """The whole command on two cores, with programs that take no time."""

    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(command, "programs_of", lambda args: self.programs))
        self.enterContext(mock.patch.object(command.shutil, "which", lambda name: "mpirun"))
        self.enterContext(mock.patch("os.sched_getaffinity", return_value={0, 1}))
        self.now = 0.0
        self.enterContext(mock.patch.object(command, "Budget", lambda seconds: Budget(seconds, clock=self.clock)))
        self.enterContext(mock.patch.object(command, "first_answer", lambda *_: {"latency_ms": {"best_quarter": 20.0},
                                                                                 "model": {"batch": 1}}))
        self.results = self.folder / "results"

    def clock(self):
        self.now += 1
        return self.now

    def run_command(self, *words):
        self.programs.json = self.listed(self.programs.json)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.status = bench_command.main(["--throughput", "net", "--output", str(self.results), *words])
        return out.getvalue()

    @staticmethod
    def listed(json_of):
        return lambda program, *flags, ranks=0: ({"operators": [{}]} if "--list-operators" in flags else
                                                 json_of(program, *flags, ranks=ranks))

    def test_first_answer_tables_and_verdict(self):
        said = self.run_command("--budget", "60")
        self.assertEqual(self.status, 0)
        wanted = ("first answer: 1 rank x 1 core 20.00 ms, one inference after the other: 50.0", "net, batch 1, 2 cores",
                  "net, batch 8, 2 cores", "most inputs per second here: 2 copies, 1 core each, batch 8")
        places = list(map(said.index, wanted))
        self.assertEqual(places, sorted(places))
        self.assertTrue(all(len(line) <= 80 for line in said.splitlines() if str(self.results) not in line), said)
        written = json.loads((self.results / "throughput.json").read_text())
        self.assertEqual({row["batch"] for row in written["rows"]}, {1, 8})
        self.assertIn(written["verdict"][0].split("   ")[0], said)

    def test_a_small_budget_leaves_larger_batches_out_and_says_so(self):
        said = self.run_command("--budget", "2")
        self.assertIn("no time for larger batches (--budget ", said)
        self.assertNotIn("batch 8", said)

    def test_a_budget_that_is_too_small_is_said_in_one_line(self):
        self.assertIn("2 s are too few here: the profile and one round of every row took", self.run_command("--budget", "2"))
        self.assertNotIn("too few", self.run_command("--budget", "60"))

    def test_a_slow_network_runs_fewer_inferences(self):
        for first_ms, inferences in ((20.0, "40"), (400.0, "12")):
            self.programs.calls.clear()
            first = {"latency_ms": {"best_quarter": first_ms}, "model": {"batch": 1}}
            with mock.patch.object(command, "first_answer", lambda *_: first):
                self.run_command("--budget", "75", "--batch", "1")
            self.assertEqual({flag(flags, "--inferences") for _, flags, _ in self.calls("hios-run")}, {inferences})

    def test_a_row_that_does_not_verify_is_status_1(self):
        self.bitwise = False
        self.assertIn("NOT VERIFIED", self.run_command("--batch", "2"))
        self.assertEqual(self.status, 1)


if __name__ == "__main__":
    unittest.main()

"""python/hios/throughput: profiles, plans and runs, and the table."""

import json
import unittest
from pathlib import Path

from support import FakePrograms, FolderTest, flag
from hios.throughput import table, weights
from hios.throughput.measuring import Bench, write_platform
from hios.throughput.rows import Row, distinct, rows_of, short_rows_of


class JsonPrograms(FakePrograms):
    """Whose --json is read back."""

    def __init__(self, file, answer):
        super().__init__(answer=answer)
        self.file = file

    def json(self, program, *flags, ranks=0):
        self.run(program, *flags, "--json", self.file, ranks=ranks)
        return json.loads(self.file.read_text())


class ThroughputTest(FolderTest):
    """Programs that write the requested files."""

    def setUp(self):
        super().setUp()
        self.programs = JsonPrograms(self.folder / "answer.json", self.answer)
        self.bench = Bench(self.programs, self.folder, 2, 16, 5)
        self.period_ms, self.bitwise = 10.0, True

    def answer(self, program, flags, ranks):
        if program == "hios-run":
            copies = int(flag(flags, "--copies")) if "--copies" in flags else 1
            verified = {"passed": True, "bitwise": self.bitwise} if "--verify" in flags else None
            report = {"verified": verified, "latency_ms": {"median": 12.0},
                      "throughput": {"in_flight": 2, "copies": copies, "prediction_error": 0.01, "bottleneck": 0,
                                     "predicted_bottleneck": 0, "predicted_period_ms": 9.9, "ranks": [{"own_ms": 0.1}] * ranks,
                                     "period_ms": {"mean": self.period_ms / ranks}}}
            Path(flag(flags, "--json")).write_text(json.dumps(report))
        elif program == "hios-schedule" and "--json" in flags:
            rows = [{"algorithm": flag(flags, "--algorithm"), "in_flight": 3}]
            Path(flag(flags, "--json")).write_text(json.dumps({"comparison": rows}))

    def calls(self, program):
        return [call for call in self.programs.calls if call[0] == program]

    def test_all_rows_of_a_network_stand_on_one_profile_and_run_in_turns(self):
        rows = rows_of("net", 4)
        profile = self.bench.profile(["--model", "net"], rows)
        self.assertEqual([(ranks, flag(flags, "--threads")) for _, flags, ranks in self.calls("hios-profile")],
                         [(1, "1"), (1, "2"), (2, "1")])
        self.assertEqual(["--objective" in flags for _, flags, _ in self.calls("hios-profile")], [False, False, True])
        self.bench.schedule(["--model", "net"], rows, profile)
        self.assertEqual([row.in_flight for row in rows if row.algorithm == "hios-lp"], [1, 3])
        self.bench.turns(["--model", "net"], rows, profile, 2)
        runs = self.calls("hios-run")
        self.assertEqual(len(runs), 2 * len(rows))
        self.assertEqual([ranks for _, _, ranks in runs[:7]], [1, 1, 2, 2, 2, 2, 2])
        self.assertEqual(["--verify" in flags for _, flags, _ in runs], [True] * 7 + [False] * 7)
        result = rows[2].result()
        self.assertEqual((result["ranks"], result["copies"], result["per_second"]), (2, 2, 800))
        self.assertTrue(result["verified"])

    def test_a_plan_that_does_best_with_one_buffer_is_listed_once(self):
        rows = rows_of("net", 1)
        rows[-1].in_flight = 2
        self.assertEqual(distinct(rows), rows)
        rows[-1].in_flight = 1
        self.assertEqual(distinct(rows), rows[:-1])

    def test_a_row_that_does_not_verify_is_marked(self):
        self.bitwise = False
        rows = short_rows_of("net")
        self.bench.turns(["--model", "net"], rows, "p", 1)
        self.assertFalse(rows[0].result()["verified"])
        self.assertIn("NO", table.page("net", rows))

    def test_the_table_compares_all_with_copies(self):
        rows = short_rows_of("net")
        self.bench.turns(["--model", "net"], rows[:1], "p", 1)
        self.period_ms = 5
        self.bench.turns(["--model", "net"], rows[1:], "p", 1)
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


if __name__ == "__main__":
    unittest.main()

"""bench/study/hios/contention.py: the measurements of figures 1 and 2, and the numbers computed from them."""

import json
import unittest
from pathlib import Path
from unittest import mock

import contention
from support import NEVER, DeadlineAfter, FakePrograms, FolderTest, flag


class Profiler:
    """Writes a profile in which a convolution takes 10, 30, 20, 10, … ms."""

    def __init__(self):
        self.models = []

    def __call__(self, program, flags, ranks):
        self.models.append(json.loads(Path(flag(flags, "--model")).read_text()))
        one_ms = (10, 30, 20)[(len(self.models) - 1) % 3]
        Path(flag(flags, "--output")).write_text(json.dumps({"configurations": [{
            "operators": {"Concat 1x96": {"ms": 1}, "Conv 48": {"ms": one_ms}},
            "stages": [{"groups": [["a"]], "ms": 99}, {"groups": [["a"], ["b"]], "ms": 15}],
            "transfers": [{"points": [[1024, 1.0], [65536, 2.0], [16777216, 4.0]]}],
            "machine": {"transport": "shared memory"}}]}))


class ContentionTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.profiler = Profiler()
        self.programs = FakePrograms(answer=self.profiler)

    def test_together_over_one_after_the_other(self):
        self.assertEqual(contention.measure_contention(self.programs, 64),
                         {"sequential_ms": 20, "parallel_ms": 15, "ratio": 0.75})
        (_, flags, ranks), = self.programs.calls
        self.assertEqual((ranks, flag(flags, "--threads"), flag(flags, "--streams")), (1, "2", "2"))

    def test_sending_over_computing_is_a_ratio_of_medians(self):
        result = contention.measure_transfer(self.programs, 64)
        size = 48 * 64 * 64 * 4
        sent = 2.0 + 2.0 * (size - 65536) / (16777216 - 65536)
        self.assertEqual((result["bytes"], result["compute_ms"], result["beyond_measured_sizes"], result["path"]),
                         (size, 20, 0, "shared memory"))
        self.assertAlmostEqual(result["transfer_ms"], sent)
        self.assertAlmostEqual(result["ratio"], sent / 20)
        self.assertEqual([(ranks, flag(flags, "--threads")) for _, flags, ranks in self.programs.calls], [(2, "1")] * 3)

    def test_the_largest_is_beyond_what_is_measured_and_profiled_once(self):
        result = contention.measure_transfer(self.programs, 1024)
        self.assertEqual(len(self.programs.calls), 1)
        self.assertEqual(result["beyond_measured_sizes"], 1)
        self.assertAlmostEqual(result["transfer_ms"], 4.0 * (48 * 1024 * 1024 * 4) / 16777216)

    def test_transfers_between_points_are_linear(self):
        configuration = {"transfers": [{"points": [[100, 1.0], [200, 2.0], [400, 8.0]]}]}
        for size, ms, beyond in ((100, 1.0, False), (150, 1.5, False), (200, 2.0, False), (300, 5.0, False),
                                 (400, 8.0, False), (800, 16.0, True)):
            self.assertEqual(contention.transfer_ms(configuration, size), (ms, beyond), size)

    def test_the_model_is_the_papers(self):
        contention.measure_contention(self.programs, 32)
        model, = self.profiler.models
        self.assertEqual(model["input"]["shape"], [1, 48, 32, 32])
        left, right, join = model["layers"]
        for layer in (left, right):
            self.assertEqual((layer["type"], layer["kernel_shape"], layer["pads"], layer["inputs"]),
                             ("Conv", [5, 5], [2, 2, 2, 2], ["input"]))
        self.assertEqual(join["inputs"], [left["name"], right["name"]])

    def test_every_size_once_and_a_second_run_computes_nothing(self):
        self.assertTrue(contention.run(self.programs, self.folder, NEVER))
        small = [pixels for pixels in contention.PIXELS if pixels <= 512]
        large = len(contention.PIXELS) - len(small)
        self.assertEqual(len(self.programs.calls), len(contention.PIXELS) + 3 * len(small) + large)
        for store in contention.open_stores(self.folder):
            self.assertEqual([int(pixels) for pixels, in store.rows], [8, 16, 32, 64, 128, 256, 512, 1024])
        self.programs.calls.clear()
        self.assertTrue(contention.run(self.programs, self.folder, NEVER))
        self.assertEqual(self.programs.calls, [])

    def test_starts_nothing_after_the_deadline_and_continues_later(self):
        with mock.patch.object(contention, "PIXELS", (8, 16)):
            self.assertFalse(contention.run(self.programs, self.folder, DeadlineAfter(1)))
            self.assertEqual(len(self.programs.calls), 1)
            self.assertTrue(contention.run(self.programs, self.folder, NEVER))
        self.assertEqual(len(self.programs.calls), 1 + 1 + 3 + 3)


if __name__ == "__main__":
    unittest.main()

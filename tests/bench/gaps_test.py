"""bench/study/hios/gaps.py: networks and numbers of devices, and the longer searches."""

import csv
import unittest
from pathlib import Path
from unittest import mock

import gaps
from support import NEVER, DeadlineAfter, FakePrograms, FolderTest, flag

CELLS = len(gaps.NETWORKS) * len(gaps.DEVICES)


class GapsTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(gaps, "WORK", self.folder / "work"))
        self.gap_of_best = {}  # by (network, devices); 0 where not here
        self.programs = FakePrograms(answer=self.answer)

    def answer(self, program, flags, ranks):
        if program == "hios-profile" or flag(flags, "--export-graph"):
            Path(flag(flags, "--output") or flag(flags, "--export-graph")).write_text("{}")
            return
        network = Path(flag(flags, "--graph")).parent.name.removesuffix("-gaps")
        gap = self.gap_of_best.get((network, int(flag(flags, "--devices"))), 0)
        with Path(flag(flags, "--csv")).open("w", newline="") as file:
            writer = csv.DictWriter(file, ("algorithm", *gaps.VALUES, "seconds"))
            writer.writeheader()
            for name in flag(flags, "--algorithm").split(","):
                writer.writerow({"algorithm": name, "latency_ms": 12, "lower_bound_ms": 10, "bound": "work",
                                 "gap": gap if name == "best" else 0.2, "outcome": "feasible", "seconds": 1})

    def scheduled(self):
        return [flags for flags in self.programs.asked("hios-schedule") if flag(flags, "--graph")]

    def test_every_network_is_profiled_once_and_scheduled_on_every_number_of_devices(self):
        self.assertTrue(gaps.run(self.programs, self.folder, NEVER))
        profiled = [(flag(flags, "--model"), ranks) for name, flags, ranks in self.programs.calls
                    if name == "hios-profile"]
        self.assertEqual(profiled, [(name, 2) for name in gaps.NETWORKS])
        self.assertEqual([(Path(flag(f, "--graph")).parent.name, flag(f, "--devices"), flag(f, "--algorithm"),
                           flag(f, "--time-limit")) for f in self.scheduled()],
                         [(f"{name}-gaps", str(devices), "hios-lp,hios-mr,best", "10")
                          for name in gaps.NETWORKS for devices in gaps.DEVICES])
        rows = gaps.open_store(self.folder).rows
        self.assertEqual(len(rows), 3 * CELLS)
        self.assertEqual(rows["squeezenet", "2", "hios-lp", "10"]["gap"], "0.2")

    def test_a_second_run_computes_nothing(self):
        gaps.run(self.programs, self.folder, NEVER)
        self.programs.calls.clear()
        self.assertTrue(gaps.run(self.programs, self.folder, NEVER))
        self.assertEqual(self.programs.calls, [])

    def test_where_a_gap_stays_best_searches_longer_once(self):
        self.gap_of_best = {("nasnet_large", 3): 0.006, ("nasnet_large", 4): 0.005}
        for _ in range(2):
            self.assertTrue(gaps.run(self.programs, self.folder, NEVER))
        longer = [(Path(flag(f, "--graph")).parent.name, flag(f, "--devices"), flag(f, "--algorithm"))
                  for f in self.scheduled() if flag(f, "--time-limit") == "60"]
        self.assertEqual(longer, [("nasnet_large-gaps", "3", "best")])
        self.assertEqual(len(gaps.open_store(self.folder).rows), 3 * CELLS + 1)

    def test_stops_at_the_deadline_and_continues_where_it_stopped(self):
        self.gap_of_best = {("squeezenet", 2): 0.1}
        steps = 0
        while not gaps.run(self.programs, self.folder, DeadlineAfter(1)):
            steps += 1
        self.assertEqual(steps, CELLS)  # one schedule a call; the last one sees that nothing is missing
        self.assertEqual(len(self.scheduled()), CELLS + 1)


if __name__ == "__main__":
    unittest.main()

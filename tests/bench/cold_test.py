"""bench/cold: plans of a network are run in turns by the loads that a profile measured, and compared in a table."""

import json
import unittest
from pathlib import Path

from cold import Place, arguments
from cold_rows import added, page, row
from markdown_tables import tables_in
from support import FakePrograms, FolderTest, flag


def report(ms, passed=True, **disk):
    walls = {"resident_ms": {"median": 8.0}, "load_ms": {"median": 4.0}, "perfect_overlap_ms": 8.0, **disk}
    return {"latency_ms": {"median": ms}, "iterations_ms": [ms - 1, ms, ms + 1], "disturbed_iterations": [0],
            "predicted_ms": 9.0, "cold_start": walls,
            "protocol": {"executor": "fifo"}, "verified": {"passed": passed, "bitwise": passed}}


class RowsTest(unittest.TestCase):
    NAMES = {"model": "net", "store": "disk", "ranks": 1, "threads": 2, "place": "1x2", "gb_per_s": 1.0}

    def rows(self):
        disk = {"disk": {"file": "f", "direct": True, "cached_bytes": 0}}
        return [row({**self.NAMES, "algorithm": name}, [report(ms, **disk), report(ms + 2, **disk)])
                for name, ms in (("load-then-run", 15), ("pipelined", 9))]

    def test_a_row_has_the_medians_of_the_rounds(self):
        found = self.rows()[1]
        self.assertEqual((found["latency_ms"], found["rounds_ms"]), (10, [9, 11]))
        # The fastest two of six cold starts, 9 and 10 ms, are the best quarter: the first of each round was disturbed.
        self.assertAlmostEqual(found["best_quarter_ms"], 9.5)
        self.assertAlmostEqual(found["prediction_error"], 0.5 / 9.5)
        self.assertEqual((found["resident_ms"], found["load_ms"], found["overlap"]), (8, 4, 1.25))
        self.assertEqual(found["executor"], "fifo")
        self.assertTrue(found["verified"] and found["bitwise_equal_to_one_rank"] and found["direct"])

    def test_rows_that_a_run_did_not_measure_remain(self):
        protocol = {"processor": "p", "cores": 2, "onnxruntime": "1", "rounds": 3, "iterations": 5}
        rows = lambda *names: [{"model": name, "store": "disk", "place": place, "of": of} for name, place, of in names]
        kept = {**protocol, "rows": rows(("a", "1x1", "old"), ("b", "1x1", "old"), ("a", "2x1", "old"))}
        new = {**protocol, "rows": rows(("a", "1x1", "new"), ("c", "1x1", "new"))}
        self.assertEqual([(row["model"], row["place"], row["of"]) for row in added(new, kept)["rows"]],
                         [("b", "1x1", "old"), ("a", "2x1", "old"), ("a", "1x1", "new"), ("c", "1x1", "new")])
        self.assertEqual(added(new, None), new)
        self.assertEqual(added(new, {**kept, "rounds": 5}), new)

    def test_a_peer_leaves_empty_what_it_does_not_say(self):
        peer = {**self.rows()[1], "algorithm": "onnxruntime", "predicted_ms": None, "prediction_error": None, "load_ms": None,
                "overlap": None, "bitwise_equal_to_one_rank": None}
        rows = [*self.rows(), peer, {**peer, "verified": False}]
        (found,) = tables_in(page({"rounds": 2, "iterations": 5, "onnxruntime": "1", "rows": rows}), "page")
        self.assertEqual(list(found.rows[2][6:]), ["", "", "8.00", "", "", "1.60x", "1e-4"])
        self.assertEqual(found.rows[3][-1], "NO")

    def test_the_page_compares_with_load_then_run(self):
        (found,) = tables_in(page({"rounds": 2, "iterations": 5, "rows": self.rows()}), "page")
        self.assertEqual([each[-2:] for each in found.rows], [("1.00x", "yes"), ("1.60x", "yes")])


class FakeWorker:
    def __init__(self):
        self.asked, self.ms = [], 10

    def ask(self, request):
        self.asked.append(request)
        if request["do"] == "compare":
            return {"difference": 1e-6}
        self.ms += 10 if request["do"] == "cold" else 0
        return {"median_ms": self.ms, "resident_ms": 9.0}


class PlaceTest(FolderTest):
    def answer(self, program, flags, ranks):
        if program == "hios-profile":
            loads = {"memory": {"gb_per_s": 5.0}, "disk": {"gb_per_s": 1.0}}
            profile = {"configurations": [{"ranks": number, "loads": loads} for number in (1, 2)]}
            Path(flag(flags, "--output")).write_text(json.dumps(profile))
        if program == "hios-run" and flag(flags, "--json"):
            Path(flag(flags, "--json")).write_text(json.dumps(report(10)))

    def place(self, store, name, worker=None):
        options = arguments(["--folder", str(self.folder), "--rounds", "2"])
        return Place(FakePrograms(answer=self.answer), options, "net", store, name, worker)

    def test_every_plan_runs_once_a_round_and_is_verified_once(self):
        place = self.place("disk", "2x1")
        rows = place.rows()
        self.assertEqual([(each["algorithm"], each["ranks"]) for each in rows],
                         [("load-then-run", 1), ("pipelined", 1), ("hios-lp", 2), ("best", 2)])
        runs = [(Path(flag(flags, "--schedule")).stem, "--verify" in flags)
                for flags in place.programs.asked("hios-run") if flag(flags, "--json")]
        names = [each["algorithm"] for each in rows]
        self.assertEqual(runs, [(name, True) for name in names] + [(name, False) for name in reversed(names)])
        profiles = place.programs.asked("hios-profile")
        # One rank, and two; then both with the disk.
        self.assertEqual([("--update" in flags, "--weights" in flags) for flags in profiles],
                         [(False, False), (True, False), (True, True), (True, True)])
        self.assertTrue(any("--packed" in flags for flags in place.programs.asked("hios-run")))

    def test_a_peer_starts_cold_in_the_same_rounds(self):
        worker = FakeWorker()
        rows = self.place("disk", "1x1", worker).rows()
        self.assertEqual([each["algorithm"] for each in rows], ["load-then-run", "pipelined", "best", "onnxruntime"])
        self.assertEqual((rows[-1]["latency_ms"], rows[-1]["rounds_ms"], rows[-1]["verified"]), (25, [20, 30], True))
        cold = [each for each in worker.asked if each["do"] == "cold"]
        self.assertEqual([(each["dropped"], each["threads"]) for each in cold], [(True, 1)] * 2)
        self.assertFalse(any(each["dropped"] for each in self.asked_of_memory()))
        self.assertEqual(len(self.place("disk", "2x1", worker).rows()), 4)  # it has no ranks

    def asked_of_memory(self):
        worker = FakeWorker()
        self.place("memory", "1x1", worker).rows()
        return [each for each in worker.asked if each["do"] == "cold"]

    def test_the_plans_are_by_the_measured_loads(self):
        place = self.place("memory", "1x1")
        self.assertEqual({each["gb_per_s"] for each in place.rows()}, {5.0})
        for flags in place.programs.asked("hios-schedule"):
            self.assertEqual((flag(flags, "--profile"), flag(flags, "--store")), (str(place.profile), "memory"))
        self.assertFalse(any("--packed" in flags for flags in place.programs.asked("hios-run")))
        self.assertFalse(any("--weights" in flags for flags in place.programs.asked("hios-profile")))


if __name__ == "__main__":
    unittest.main()

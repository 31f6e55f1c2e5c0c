"""bench/exchange: the page, and the comparison with schedules that IOS published."""

import json
import unittest
from pathlib import Path

import published
from exchange_tables import page, published_table, table
from markdown_tables import tables_in
from support import FakePrograms, FolderTest, flag

READ = {"network": "squeezenet", "plan": "2 devices", "nodes": 80, "nodes_of_devices": [70, 10], "streams": 2,
        "same_bits": True, "onnx": "1.0", "onnxruntime": "2.0"}


def row(name, ms, merged="none"):
    return {"schedule": name, "merged": merged, "stages": 9, "estimated_stages": 0, "predicted_ms": ms + 1, "measured_ms": ms,
            "rounds_ms": [ms, ms + 2]}


class PageTest(unittest.TestCase):
    def test_a_plan_has_a_row(self):
        (found,) = tables_in(table({"read_back": [READ]}), "page")
        self.assertEqual(found.rows, (("squeezenet", "2 devices", "80", "70, 10", "2", "passed", "yes"),))

    def test_a_failure_is_shown(self):
        failed = {"network": "net", "plan": "p", "error": "no"}
        (found,) = tables_in(table({"read_back": [failed, {**READ, "same_bits": False}]}), "page")
        self.assertEqual([each[-2:] for each in found.rows], [("no", "no"), ("passed", "no")])

    def test_published_schedules_are_compared_with_the_first_row(self):
        (found,) = tables_in(published_table([row("ours", 10), row("theirs", 8, 9)]), "page")
        self.assertEqual([each[-2:] for each in found.rows], [("10.00 to 12.00", "1.000x"), ("8.00 to 10.00", "1.250x")])

    def test_the_page_has_both_tables(self):
        results = {"read_back": [READ], "published": [], "cores": 2, "cpu": "a processor", "onnx": "1.0", "onnxruntime": "2.0"}
        self.assertEqual(len(tables_in(page(results), "page")), 1)
        self.assertEqual(len(tables_in(page({**results, "published": [row("ours", 10)]}), "page")), 2)


class PublishedTest(FolderTest):
    def answer(self, program, flags, ranks):
        if program == "hios-schedule":
            file = Path(flag(flags, "--output"))
            file.write_text(json.dumps({"graph": {}, "devices": [{"stages": [[["a"]], [["b"]]]}],
                                        "predicted": {"latency_ms": 5.0, "estimated_stages": 0}}))

    def hios(self, *words):
        merge = "none" if "none" in words else [["a", "b"]]
        graph = {} if merge == "none" else {"merge": merge}
        Path(words[-1]).write_text(json.dumps({"graph": graph, "devices": [{"stages": [[["a", "b"]]]}]}))

    def test_each_schedule_is_measured_merged_and_apart(self):
        programs = FakePrograms(answer=self.answer)
        runs = []

        def answer(program, *flags):
            if program == "hios-run":
                runs.append(flags)
                return {"latency_ms": {"best_quarter": 3.0 + len(runs)}}
            return {"latency_ms": 4.0, "estimated_stages": 1}

        programs.json = answer
        rows = published.compare(programs, self.hios, "net", ["ios.json"])
        self.assertEqual([each["schedule"] for each in rows],
                         ["ours, `sequential`", "ours, `ios`", "ios, merged", "ios, apart"])
        self.assertEqual([each["merged"] for each in rows], ["none", "none", 1, "none"])
        self.assertEqual([(each["stages"], each["predicted_ms"]) for each in rows], [(2, 5.0), (2, 5.0), (1, 4.0), (1, 4.0)])
        # In turns, forward and back, and verified once.
        self.assertEqual([each["rounds_ms"][:3] for each in rows], [[4, 11, 12], [5, 10, 13], [6, 9, 14], [7, 8, 15]])
        self.assertEqual(sum("--verify" in flags for flags in runs), len(rows))
        self.assertEqual(sum("--merge" in flags for flags in runs), published.ROUNDS)
        measured = programs.asked("hios-profile")
        self.assertEqual(len(measured), 3)
        self.assertIn("--merge", measured[1])
        self.assertNotIn("--merge", measured[2])


if __name__ == "__main__":
    unittest.main()

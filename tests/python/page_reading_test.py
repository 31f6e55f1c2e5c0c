"""Files that the page cannot show: one line that names the file, the place and what to do, and exit status 2."""

import json
import sys
import unittest
from pathlib import Path
from unittest import mock

from hios.page import reading
from page_samples import PageTest, comparison, examples, report, schedule, trace


class ReadingTest(PageTest):
    def test_a_file_that_is_no_json_is_refused_with_its_place(self):
        self.assertIn("a.json: line 1, column 2: not valid JSON", self.refused(self.file("a.json", "{no")))
        self.assertIn("not valid JSON", self.refused(self.file("empty.json", "")))

    def test_a_file_that_is_no_text_is_refused(self):
        path = self.folder / "picture.png"
        path.write_bytes(b"\x89PNG\r\n\x1a\n\xff")
        self.assertIn("picture.png is no UTF-8 text", self.refused(str(path)))

    def test_json_of_others_is_refused(self):
        for text in ("[]", "3", "null", "{}", '{"format": 3}',
                     '{"format": "other", "version": 1}', '{"format": ["hios-report"]}'):
            with self.subTest(text=text):
                self.assertIn("is JSON, but no file of our programs", self.refused(self.file("a.json", text)))

    def test_another_version_is_refused_with_a_remedy(self):
        for version in (2, 0, "1", None, [1]):
            for data in (report(), schedule(), comparison(), examples()["summary"]):
                with self.subTest(version=version, format=data["format"]):
                    line = self.refused(self.file("a.json", {**data, "version": version}))
                    self.assertIn(f"a.json is a {data['format']} of version {json.dumps(version)}", line)
                    self.assertIn("make the file again with the programs that you use", line)

    def test_formats_without_a_picture_are_refused_by_name(self):
        for name in ("profile", "graph", "model", "platform", "fusion", "flight"):
            line = self.refused(self.file("a.json", examples()[name]))
            self.assertIn(f"is a hios-{name}, which has no picture", line)

    def test_every_missing_key_is_found(self):
        needed = ("arguments", "versions", "ranks", "transfer_path", "digests", "model", "algorithm", "seed", "protocol",
                  "latency_ms", "iterations_ms", "disturbed_iterations", "predicted_ms", "prediction_error", "overhead_ms",
                  "verified", "stages")
        for key in needed:
            data = report()
            del data[key]
            self.assertIn(f"a.json is no complete report: $.{key} is missing", self.refused(self.file("a.json", data)))

    def test_values_of_another_type_are_found_with_their_path(self):
        data = report()
        data["stages"][1]["measured_end_ms"] = "1.5"
        self.assertIn("$.stages[1].measured_end_ms is not of type number or null", self.refused(self.file("a.json", data)))
        self.assertIn("$.iterations_ms is too short", self.refused(self.file("b.json", report(iterations_ms=[]))))
        self.assertIn("$.seed is out of range: -1", self.refused(self.file("c.json", report(seed=-1))))
        digests = {"graph": "x", "schedule": "y"}
        self.assertIn("$.digests.graph has not the form", self.refused(self.file("d.json", report(digests=digests))))
        self.assertIn("$.outcome is none of optimal, ", self.refused(self.file("e.json", schedule(outcome="good"))))
        self.assertIn("$.streems is no key of this format", self.refused(self.file("f.json", schedule(streems=1))))

    def test_numbers_that_are_none_and_keys_given_twice_are_refused(self):
        self.assertIn("a number out of range: 1e999", self.refused(self.file("a.json", '{"format": 1e999}')))
        self.assertIn("a number out of range: NaN", self.refused(self.file("b.json", '{"format": NaN}')))
        self.assertIn("a number out of range: 1000", self.refused(self.file("e.json", '{"format": 1' + "0" * 400 + "}")))
        self.assertIn("a number out of range: 1000", self.refused(self.file("f.json", '{"format": 1' + "0" * 9000 + "}")))
        self.assertIn("half of a surrogate pair", self.refused(self.file("g.json", '{"format": "\\ud800"}')))
        self.assertIn('has the key "format" twice', self.refused(self.file("c.json", '{"format": 1, "format": 2}')))
        self.assertIn("nested too deeply", self.refused(self.file("d.json", "[" * 100000)))

    def test_broken_traces_and_comparisons_are_found(self):
        self.assertIn("$.traceEvents is not of type array", self.refused(self.file("a.json", {"traceEvents": {}})))
        self.assertIn("$.traceEvents[0] is no event", self.refused(self.file("b.json", {"traceEvents": [3]})))
        broken = trace()
        del broken["traceEvents"][-1]["ts"]
        self.assertIn("lacks its time", self.refused(self.file("c.json", broken)))
        broken = trace()
        broken["traceEvents"][-1]["tid"] = [1]
        self.assertIn("a thread or an id that is neither", self.refused(self.file("c2.json", broken)))
        self.assertIn("no file of our programs", self.refused(self.file("d.json", {"comparison": [{}]})))
        data = comparison()
        del data["schedules"][0]["graph"]["digest"]
        self.assertIn("$.schedules: $.graph.digest is missing", self.refused(self.file("e.json", data)))
        data = comparison()
        data["comparison"][0]["latency_ms"] = "fast"
        self.assertIn("$.comparison[0].latency_ms is not of type number", self.refused(self.file("f.json", data)))

    def test_files_that_are_not_there_and_folders_are_refused(self):
        self.assertIn("none.json cannot be read: No such file or directory", self.refused(str(self.folder / "none.json")))
        self.assertIn("is a folder without summary.json", self.refused(str(self.folder)))

    def test_a_folder_stands_for_the_summaries_in_it(self):
        for network in ("squeezenet-80", "inception-160"):
            (self.folder / "sweep" / network).mkdir(parents=True)
            self.file(f"sweep/{network}/summary.json", examples()["summary"])
        names = [Path(file.name).parent.name for file in reading.read_all([self.folder / "sweep"])]
        self.assertEqual(names, ["inception-160", "squeezenet-80"])
        one = self.folder / "sweep" / "squeezenet-80"
        self.assertEqual(len(reading.read_all([one, one / "summary.json"])), 1)

    def test_a_huge_file_is_refused(self):
        with mock.patch.object(reading, "LARGEST_JSON", 100):
            self.assertIn("has more than", self.refused(self.file("a.json", report())))

    def test_a_bad_file_in_the_folder_of_a_summary_is_named(self):
        self.file("report-x.json", "{")
        self.assertIn("report-x.json: line 1", self.refused(self.file("summary.json", examples()["summary"])))

    def test_standard_input_is_read_once(self):
        self.assertIn("given twice", self.refused("-", "-"))
        stdin = mock.Mock()
        stdin.buffer.read = lambda _: json.dumps(report()).encode()
        with mock.patch.object(sys, "stdin", stdin):
            self.assertIn("two_branches", self.page("-").text)


if __name__ == "__main__":
    unittest.main()

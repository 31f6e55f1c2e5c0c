"""The command hios report: its words, its output, and two runs side by side."""

import builtins
import contextlib
import io
import os
import sys
import unittest
from unittest import mock

from hios.errors import InputError
from hios.page.command import main, write_page
from hios.page.difference import change
from page_samples import Page, PageTest, comparison, examples, report, schedule


class CommandTest(PageTest):
    def test_help_explains_files_and_units(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), self.assertRaises(SystemExit) as ended:
            main(["--help"])
        self.assertEqual(ended.exception.code, 0)
        for words in ("usage: hios report", "--compare A B", "--force", "Times are in ms",
                      "hios report build/demo -o report.html"):
            self.assertIn(words, out.getvalue())

    def test_bad_words_are_one_line(self):
        for words in ([], ["--compare", "a.json"], ["--unknown", "a.json"]):
            self.assertIn("see hios report --help", self.refused(*words))
        status, _, err = self.command(self.file("a.json", report()))
        self.assertEqual((status, err), (2, "error: hios report: the following arguments are required: -o/--output: "
                                            "see hios report --help\n"))

    def test_a_page_that_exists_is_replaced_by_force_only(self):
        data, output = self.file("a.json", report()), self.folder / "page.html"
        output.write_text("mine")
        status, _, err = self.command(data, "-o", str(output))
        self.assertEqual((status, err), (2, f"error: {output} exists: add --force to replace it\n"))
        self.assertEqual(output.read_text(), "mine")
        self.assertEqual(self.command(data, "-o", str(output), "--force")[0], 0)
        self.assertTrue(output.read_text().startswith("<!DOCTYPE html>"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "page.html"])

    def test_a_page_without_a_folder_is_refused(self):
        data = self.file("a.json", report())
        status, _, err = self.command(data, "-o", str(self.folder / "none" / "page.html"))
        self.assertEqual((status, err.count("\n")), (2, 1))
        self.assertIn(f"mkdir -p {self.folder / 'none'}", err)
        self.assertIn("is a folder", self.command(data, "-o", str(self.folder))[2])

    def test_a_page_that_cannot_be_written_is_a_failure(self):
        with mock.patch("os.replace", side_effect=OSError(28, "No space left on device")):
            status, _, err = self.command(self.file("a.json", report()), "-o", str(self.folder / "page.html"))
        self.assertEqual((status, err), (3, f"error: {self.folder / 'page.html'} cannot be written: No space left on device\n"))
        self.assertEqual(os.listdir(self.folder), ["a.json"])

    def test_minus_writes_to_standard_output(self):
        out = mock.Mock()
        with mock.patch.object(sys, "stdout", out):
            self.assertFalse(main([self.file("a.json", report()), "-o", "-"]))
        (written,), _ = out.buffer.write.call_args
        self.assertIn("two_branches", Page(written.decode()).text)

    def test_without_jinja_there_is_a_remedy(self):
        real = builtins.__import__

        def without(name, *others, **named):
            if name.startswith("jinja2"):
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)
            return real(name, *others, **named)
        with mock.patch.object(builtins, "__import__", without):
            self.assertIn("apt-get install python3-jinja2", self.refused(self.file("a.json", report())))

    def test_a_page_for_other_commands(self):
        output = self.folder / "report.html"
        output.write_text("older")
        write_page([self.file("summary.json", examples()["summary"])], output, title="My network")
        self.assertIn("My network", Page(output.read_text()).text)
        with self.assertRaises(InputError):
            write_page([self.file("b.json", "{")], output)

    def test_the_same_files_make_the_same_page(self):
        files = [self.file("a.json", report()), self.file("s.json", schedule())]
        for name in ("one.html", "two.html"):
            self.assertEqual(self.command(*files, "-o", str(self.folder / name))[0], 0)
        self.assertEqual((self.folder / "one.html").read_bytes(), (self.folder / "two.html").read_bytes())


class CompareTest(PageTest):
    def pair(self):
        second = report(algorithm="inter-lp")
        second["latency_ms"] = {**second["latency_ms"], "best_quarter": 1.2}
        second["operators"][1].update(rank=1, measured_ms=0.133)
        second["operators"][4]["operator"] = "pool_9"
        return self.file("a.json", report()), self.file("b.json", second)

    def test_figures_stand_side_by_side(self):
        page = self.page("--compare", *self.pair())
        table = next(one for one in page.tables if one.headings[1:3] == ["A", "B"])
        self.assertEqual([text for text, _ in table.rows[0]], ["best ¼, ms", "1.532", "1.200", "−0.332", "−21.7 %"])

    def test_differences_have_the_digits_of_their_figures(self):
        self.assertEqual(change(107.5, 135.27, 1)[1:], ("+27.8", "+25.8 %"))
        first, second = report(), report()
        first["latency_ms"].update(best_quarter=107.5)
        second["latency_ms"].update(best_quarter=135.3)
        page = self.page("--compare", self.file("a.json", first), self.file("b.json", second))
        table = next(one for one in page.tables if one.headings[1:3] == ["A", "B"])
        self.assertEqual([text for text, _ in table.rows[0][1:4]], ["107.5", "135.3", "+27.8"])

    def test_operators_are_compared_by_name_the_largest_difference_first(self):
        table = self.page("--compare", *self.pair()).table("operator")
        self.assertEqual(table.rows[0][0][0], "conv_2 moved")
        self.assertEqual([text for text, _ in table.rows[0][2:]], ["0", "1", "1.133", "0.133", "−1.000", "−88.3 %"])
        self.assertEqual({row[0][0] for row in table.rows[-2:]}, {"pool_5 only in A", "pool_9 only in B"})
        self.assertEqual(len(table.rows), 6)

    def test_both_runs_share_an_axis(self):
        timeline = self.page("--compare", *self.pair()).payload["timelines"]["difference"]
        self.assertEqual([part["title"] for part in timeline["parts"]], ["A, run", "B, run"])

    def test_schedules_without_times_are_compared_by_their_devices(self):
        other = schedule()
        other["devices"][0]["stages"] = [[["conv_1"]]]
        other["devices"][1]["stages"] = [[["conv_2"]], [["conv_3"]], [["concat_4"]], [["pool_5"]]]
        page = self.page("--compare", self.file("a.json", schedule()), self.file("b.json", other))
        self.assertIn("3 operators run on another device", page.text)
        self.assertNotIn("A, ms", page.table("operator").headings)

    def test_only_runs_and_schedules_are_compared(self):
        one = self.file("a.json", report())
        for data in (comparison(), examples()["summary"]):
            self.assertIn("a report or a schedule is compared", self.refused("--compare", one, self.file("b.json", data)))
        self.assertIn("given twice", self.refused("--compare", "-", "-"))
        self.assertIn("given twice", self.refused("-", "--compare", one, "-"))


if __name__ == "__main__":
    unittest.main()

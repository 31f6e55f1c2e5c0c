"""hios schedule --plot: what is refused before anything runs, what the program gets, and the numbers of the picture. Matplotlib
is not needed: the drawing itself is tested by plots_drawn_test.py."""

import contextlib
import io
import json
import os
import signal
import stat
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from hios.errors import HiosError, InputError
from hios.plots import comparison, schedule

ROW = {"devices": 2, "latency_ms": 12.5, "lower_bound_ms": 10.0, "bound": "critical_path"}
RESULTS = {
    "format": "hios-comparison", "objective": "latency", "graph": {"name": "fork"},
    "comparison": [{**ROW, "algorithm": "sequential"}, {**ROW, "algorithm": "hios-lp", "latency_ms": 11},
                   {**ROW, "algorithm": "hios-lp", "given": "own.json", "latency_ms": 12},
                   {"algorithm": "milp", "devices": 2, "refused": "no solver"}],
}

# Stands in for hios-schedule: writes its words, then JSON where --json says, and ends with $STATUS.
FAKE = """#!/bin/sh
printf '%s\\n' "$@" > "$FOLDER/words"
while [ $# -gt 0 ]; do
  if [ "$1" = --json ]; then file=$2; fi
  shift
done
echo the table >&2
if [ "$file" = - ]; then cat "$FOLDER/results"; else cat "$FOLDER/results" > "$file"; fi
exit "${STATUS:-0}"
"""


class PlotTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        program = self.folder / "hios-schedule"
        program.write_text(FAKE)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (self.folder / "results").write_text(json.dumps(RESULTS))
        self.file = str(self.folder / "plot.svg")
        self.drawn = []
        for patch in (mock.patch.dict(os.environ, {"HIOS_PROGRAMS": folder.name, "FOLDER": folder.name}),
                      mock.patch.object(schedule, "draw", lambda results, file: self.drawn.append((results, file))),
                      mock.patch.object(schedule.importlib.util, "find_spec", lambda name: name)):
            patch.start()
            self.addCleanup(patch.stop)

    def words(self):
        return (self.folder / "words").read_text().split("\n")[:-1]

    def refused(self, words, part, file=None):
        with self.assertRaises(InputError) as caught:
            schedule.plan_and_draw(words, file or self.file)
        self.assertIn(part, str(caught.exception))
        self.assertFalse((self.folder / "words").exists(), "nothing ran")


class RefusesTest(PlotTest):
    def test_a_name_without_a_format(self):
        for name in ("plot", "plot.gif", "-", "plot.svg.gz"):
            self.refused(["--compare"], "must end in .pdf, .svg or .png", str(self.folder / name))

    def test_a_machine_without_matplotlib(self):
        with mock.patch.object(schedule.importlib.util, "find_spec", lambda name: None):
            self.refused(["--compare"], "apt-get install python3-matplotlib")

    def test_files_that_would_be_replaced(self):
        Path(self.file).write_text("mine")
        self.refused(["--compare"], "exists; name another file or replace it with --force")
        self.assertEqual(schedule.plan_and_draw(["--compare", "--force"], self.file), 0)
        Path(self.file).unlink()
        (self.folder / "words").unlink()
        self.refused(["--compare", "--json", self.file], "name the same file")
        self.refused(["--compare", f"--csv={self.file}"], "name the same file")

    def test_a_folder_in_place_of_the_file(self):
        (self.folder / "made.png").mkdir()
        self.refused(["--compare", "--force"], "is a folder: name a file", str(self.folder / "made.png"))

    def test_a_folder_that_is_not_there(self):
        self.refused(["--compare"], "there is no folder", str(self.folder / "none" / "plot.pdf"))

    def test_commands_without_a_table_and_two_plots(self):
        for flag in schedule.WITHOUT_ROWS:
            self.refused([flag], flag)
        self.refused(["--check", "s.json"], "with --compare")
        self.refused(["--compare", "--plot=other.pdf"], "given twice")


class RunsTest(PlotTest):
    def test_the_program_gets_the_words_and_the_picture_its_rows(self):
        self.assertEqual(schedule.plan_and_draw(["--random", "n=9", "--compare"], self.file), 0)
        self.assertEqual(self.words()[:4], ["--random", "n=9", "--compare", "--json"])
        self.assertFalse(Path(self.words()[4]).exists(), "a temporary file")
        self.assertEqual(self.drawn, [(RESULTS, Path(self.file))])

    def test_the_json_goes_where_it_was_asked_for(self):
        asked = self.folder / "c.json"
        schedule.plan_and_draw(["--compare", "--json", str(asked)], self.file)
        self.assertEqual(json.loads(asked.read_text()), RESULTS)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            schedule.plan_and_draw(["--json", "-", "--compare"], self.file)
        self.assertEqual(out.getvalue(), json.dumps(RESULTS))

    def test_a_failure_draws_nothing_and_keeps_its_status(self):
        with mock.patch.dict(os.environ, {"STATUS": "2"}):
            self.assertEqual(schedule.plan_and_draw(["--compare"], self.file), 2)
        self.assertEqual(self.drawn, [])

    def test_a_picture_that_cannot_be_written_is_a_failure(self):
        with mock.patch.object(schedule, "draw", side_effect=OSError(28, "No space left on device")):
            with self.assertRaisesRegex(HiosError, "plot.svg cannot be written: No space left on device") as raised:
                schedule.plan_and_draw(["--compare"], self.file)
        self.assertEqual(raised.exception.status, 3)

    def test_an_interrupted_comparison_is_drawn(self):
        with mock.patch.dict(os.environ, {"STATUS": "130"}):
            self.assertEqual(schedule.plan_and_draw(["--compare"], self.file), 130)
        self.assertEqual(len(self.drawn), 1)

    def test_signals_are_the_programs_business(self):
        before = signal.getsignal(signal.SIGINT)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        script = f"kill -INT {os.getpid()}; kill -TERM {os.getpid()}; exec sleep 30"
        status, _ = schedule.run(["sh", "-c", script])
        self.assertEqual(status, 128 + signal.SIGTERM, "passed on; SIGINT comes to both from the terminal")
        self.assertEqual(schedule.run(["true"])[0], 0)


class NumbersTest(unittest.TestCase):
    def test_rows_become_bars(self):
        picture = comparison.picture_of(RESULTS)
        self.assertEqual([(line.name, line.points) for line in picture.lines],
                         [("sequential", [(2, 12.5)]), ("hios-lp", [(2, 11)]), ("hios-lp (given)", [(2, 12)])])
        self.assertEqual((picture.bounds, picture.refused, picture.is_sweep), ({2: 10.0}, ["milp"], False))
        self.assertEqual((picture.title, picture.axis), ("fork, 2 devices", "latency in ms"))

    def test_several_numbers_of_devices_become_lines(self):
        rows = [{**ROW, "algorithm": "heft", "devices": count, "latency_ms": 20 / count, "lower_bound_ms": 8 / count}
                for count in (4, 2)]
        rows.append({"algorithm": "milp", "devices": 4, "refused": "too large"})
        picture = comparison.picture_of({**RESULTS, "comparison": rows})
        self.assertTrue(picture.is_sweep)
        self.assertEqual(picture.lines[0].points, [(2, 10), (4, 5)])
        self.assertEqual((picture.devices, picture.bounds), ([2, 4], {2: 4, 4: 2}))
        self.assertEqual(picture.refused, ["milp on 4"])

    def test_rows_for_throughput_have_their_periods(self):
        rows = [{**ROW, "algorithm": "slice-graph", "period_ms": 7.5, "bound": "none"}]
        picture = comparison.picture_of({**RESULTS, "objective": "throughput", "comparison": rows})
        self.assertEqual(picture.lines[0].points, [(2, 7.5)])
        self.assertEqual(picture.bounds, {})


if __name__ == "__main__":
    unittest.main()

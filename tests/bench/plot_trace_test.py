"""bench/plot_trace.py: reading a trace."""

import json
import subprocess
import sys
import unittest

import plot_trace
from plot_trace import LETTER, color, lane_label, read_trace, shown
from support import FolderTest

EVENTS = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "planned"}},
    {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "measured"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 0, "args": {"name": "device 0"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "device 1"}},
    {"ph": "M", "name": "thread_name", "pid": 2, "tid": 0, "args": {"name": "rank 0"}},
    {"ph": "X", "name": "conv_1", "pid": 1, "tid": 0, "ts": 500, "dur": 1500},
    {"ph": "X", "name": "pool_1", "pid": 2, "tid": 0, "ts": 0, "dur": 250},
    {"ph": "s", "id": 7, "name": "message", "pid": 1, "tid": 0, "ts": 2000},
    {"ph": "s", "id": 8, "name": "never arrives", "pid": 1, "tid": 0, "ts": 2000},
    {"ph": "f", "id": 7, "name": "message", "pid": 1, "tid": 1, "ts": 2500},
]


class PlotTraceTest(FolderTest):
    def read(self):
        file = self.folder / "trace.json"
        file.write_text(json.dumps({"traceEvents": EVENTS}))
        return read_trace(file)

    def test_slices_by_process_and_lane_in_ms(self):
        self.assertEqual(self.read()[0], [("planned", "device 0", "conv_1", 0.5, 1.5),
                                          ("measured", "rank 0", "pool_1", 0.0, 0.25)])

    def test_arrows_have_both_ends(self):
        self.assertEqual(self.read()[1], [(("planned", "device 0", 2.0), ("planned", "device 1", 2.5))])

    def test_inferences_in_flight_begin_at_zero_and_have_a_colour_each(self):
        slices = [("in flight", "rank 0", "12: conv_1", 200.0, 1.0), ("in flight", "rank 1", "13: pool", 203.0, 1.0)]
        self.assertEqual([start for _, _, _, start, _ in plot_trace.from_their_start(slices)], [0.0, 3.0])
        self.assertNotEqual(color("12: conv_1"), color("13: conv_1"))
        self.assertEqual(plot_trace.from_their_start(self.read()[0]), self.read()[0])

    def test_a_stream_is_named_where_there_are_several(self):
        lanes = [("planned", "rank 0 stream 0"), ("planned", "rank 1 stream 0"), ("planned", "rank 1 stream 1"),
                 ("measured", "device 0")]
        self.assertEqual([lane_label(lane, lanes) for lane in lanes],
                         ["planned rank 0", "planned rank 1 stream 0", "planned rank 1 stream 1", "measured device 0"])

    def test_colours_by_kind(self):
        self.assertEqual(color("conv_1"), color("conv_2"))
        self.assertNotEqual(color("conv_1"), color("pool_1"))
        self.assertEqual(color("something else"), "tab:gray")
        self.assertEqual(color("stem/conv1/conv [0, 56)"), color("conv_1"))
        self.assertEqual(color("pool4/pool"), color("pool_1"))

    def test_a_name_is_as_long_as_its_slice_allows(self):
        name = "stem/conv1/conv [0, 56)"
        for expected in (name, "conv1/conv [0, 56)", "[0, 56)"):
            self.assertEqual(shown(name, (len(expected) + 0.5) * LETTER), expected)
        self.assertEqual(shown(name, 3 * LETTER), "")
        self.assertEqual(shown("conv_1", 1), "conv_1")

    def call(self, *arguments):
        # -S leaves out all installed packages, matplotlib among them.
        return subprocess.run([sys.executable, "-S", plot_trace.__file__, *map(str, arguments)],
                              capture_output=True, text=True)

    def test_without_matplotlib_one_line_says_how_to_get_it(self):
        self.read()
        done = self.call(self.folder / "trace.json", self.folder / "picture.png")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("scripts/setup.sh --bench", done.stderr)
        self.assertIn("/usr/bin/python3", done.stderr)

    def test_a_file_that_is_no_trace_is_refused_in_one_line(self):
        file = self.folder / "no_trace.json"
        for text in ("{", "[]", "{}", '{"traceEvents": [{}]}'):
            file.write_text(text)
            done = self.call(file, self.folder / "picture.png")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(str(file), done.stderr)


if __name__ == "__main__":
    unittest.main()

"""- is standard input in the commands that start the programs."""

import json
import os
import subprocess
import sys
import unittest
from unittest import mock

from hios.launch import check


class StreamsTest(unittest.TestCase):
    def test_a_schedule_on_standard_input_says_its_ranks_and_is_still_there(self):
        script = "from hios.launch.start import devices_of; import os; print(devices_of('-')); os.execvp('cat', ['cat'])"
        text = json.dumps({"devices": [{}, {}, {}]})
        done = subprocess.run([sys.executable, "-B", "-u", "-c", script], input=text, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(done.stdout, "3\n" + text, done.stderr)

    def test_a_text_that_is_no_schedule_is_left_to_the_program(self):
        script = "from hios.launch.start import devices_of; print(devices_of('-'))"
        for text in ("", "{", "[1]", '{"devices": 2}'):
            done = subprocess.run([sys.executable, "-B", "-c", script], input=text, capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
            self.assertEqual(done.stdout, "1\n", done.stderr)

    def test_hios_check_takes_it_as_its_file(self):
        started = {("-", "--graph", "g.json"): ["--check", "-", "--graph", "g.json"],
                   ("s.json",): ["--check", "s.json"],
                   ("--graph", "g.json", "--check", "-"): ["--graph", "g.json", "--check", "-"],
                   (): ["--help"]}
        for words, expected in started.items():
            with mock.patch.object(check, "become") as become:
                check.main(list(words))
            become.assert_called_once_with("hios-schedule", expected)


if __name__ == "__main__":
    unittest.main()

"""Labels, the largest values of an output, and the flags of hios run that ask for them."""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from array import array
from pathlib import Path

from hios.answers import running
from hios.answers.arrays import read_npy, write_npy
from hios.answers.labels import labels_for
from hios.answers.network import Network, Tensor
from hios.answers.top import answer_lines, vector_length
from hios.errors import InputError


def network(*outputs, batch=1):
    return Network("net", (Tensor("x", (batch, 3, 8, 8)),), tuple(Tensor(f"y{i}", dims) for i, dims in enumerate(outputs)))


class Refusing(unittest.TestCase):
    def refused(self, words, step, *given):
        with self.assertRaises(InputError) as raised:
            step(*given)
        self.assertIn(words, str(raised.exception))
        self.assertNotIn("\n", str(raised.exception))

    def file(self, name, content=b""):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / name
        path.write_bytes(content)
        return str(path)


class Top(Refusing):
    def test_vectors_have_one_long_extent(self):
        for dims, batch in (((1, 10), 1), ((1, 10, 1, 1), 1), ((10,), 1), ((4, 10), 4), ((4, 1, 1, 10), 4)):
            self.assertEqual(vector_length(network(dims, batch=batch), 10), 10, dims)
        for dims, batch in (((1, 10, 2, 2), 1), ((1, 1), 1), ((), 1), ((10,), 4), ((8, 10), 4)):
            net = network(dims, batch=batch)
            self.refused("--top is for an output that is a vector, and this is 'y0'", vector_length, net, 1)
        self.refused("the model has 2: 'y0' 1x10, 'y1' 1x5", vector_length, network((1, 10), (1, 5)), 1)
        self.refused("has 10 values: take at most --top 10", vector_length, network((1, 10)), 11)

    def test_logits_become_probabilities(self):
        lines = answer_lines("a.jpg", [0, 2, 1, 2], 3)
        total = 1 + math.e + 2 * math.e ** 2
        shares = [f"{100 * math.exp(value) / total:.2f} %" for value in (2, 2, 1)]
        self.assertEqual(lines, ["a.jpg: value, and probability by softmax", f"  1  2  {shares[0]}", f"  3  2  {shares[1]}",
                                 f"  2  1  {shares[2]}"])

    def test_probabilities_stay(self):
        self.assertEqual(answer_lines("t", [0.25, 0.5, 0.25], 2, ["ant", "bee", "wasp"]),
                         ["t: the values are probabilities", "  1  bee   0.5", "  0  ant  0.25"])

    def test_large_logits_do_not_overflow(self):
        self.assertEqual(answer_lines("t", [1e30, 0], 2)[1].split(), ["0", "1e+30", "100.00", "%"])

    def test_values_that_are_no_numbers_are_named_and_last(self):
        lines = answer_lines("t", [math.nan, 1, math.inf], 3)
        self.assertEqual(lines, ["t: 2 of 3 values are no finite numbers, so there are no probabilities",
                                 "  2  inf", "  1    1", "  0  nan"])


class Labels(Refusing):
    def test_a_label_per_line(self):
        file = self.file("l.txt", "ant\r\nbee \n\nwäsp\x1b[31m\n\n".encode())
        self.assertEqual(labels_for(file, 4), ["ant", "bee", "", "wäsp\\x1b[31m"])
        self.refused("has 4 labels, and the output 1000 values", labels_for, file, 1000)
        self.refused("No such file", labels_for, file + "2", 4)
        self.refused("larger than the 67108864 bytes", labels_for, "/dev/zero", 4)
        self.refused("is no text in UTF-8 (byte 1)", labels_for, self.file("b", b"a\xff"), 1)


class Arrays(unittest.TestCase):
    def test_numpys_header_is_aligned(self):
        with tempfile.TemporaryDirectory() as folder:
            for dims in ([], [3], [1, 3], [2, 3, 4]):
                file = f"{folder}/{len(dims)}.npy"
                values = array("f", map(float, range(math.prod(dims))))
                write_npy(file, dims, values)
                self.assertEqual(read_npy(file), (dims, values))
                self.assertEqual((Path(file).stat().st_size - 4 * len(values)) % 64, 0)


class Flags(Refusing):
    def test_words_without_pictures_or_answers_stay_as_they_are(self):
        words = ["--model", "net.onnx", "--input", "x.npy", "--verify", "--input=y.bin"]
        answers, rest = running.take_answers(words)
        self.assertFalse(answers.needed())
        self.assertEqual(rest, words)

    def test_flags_of_answers_are_taken(self):
        answers, rest = running.take_answers(["--model", "m", "--input", "a.jpg", "--top=3", "--input", "b.jpg", "-q"])
        self.assertEqual((answers.inputs, answers.top, rest), (["a.jpg", "b.jpg"], 3, ["--model", "m", "-q"]))
        for word in ("0", "-1", "all", "1.5", "²"):
            self.refused("a number of answers is wanted", running.take_answers, ["--top", word])

    def test_flags_that_contradict_each_other(self):
        def check(*words):
            running.check(*running.take_answers(words))

        self.refused("add --top 5", check, "--labels", "l.txt")
        self.refused("--preprocess none is for pictures", check, "--preprocess", "none", "--input", "x.npy")
        self.refused("--input x.npy is a whole input, and a.jpg a picture", check, "--input", "a.jpg", "--input", "x.npy")
        self.refused("to several inputs (x, y)", check, "--input", "x:a.jpg", "--input", "y:b.jpg")
        for flag in ("--dry-run", "--export-onnx=f", "--list-devices"):
            self.refused("computes nothing: leave one of them out", check, "--top", "1", flag)

    def test_names_are_split_as_the_programs_do(self):
        file = self.file("a:b.jpg")
        self.assertEqual(running.split_name(file), ("", file))
        self.assertEqual(running.split_name(f"x:0:{file}"), ("x:0", file))
        self.assertEqual(running.split_name("x:0:nowhere.jpg"), ("x:0", "nowhere.jpg"))
        self.assertEqual(running.split_name("nowhere.jpg"), ("", "nowhere.jpg"))

    def test_the_size_is_the_flags_or_the_schedules(self):
        self.assertEqual(running.model_words(["--height=48", "--model", "m", "--dim", "a=1", "--dim", "b=2"], 2),
                         ["--model", "m", "--height", "48", "--dim", "a=1", "--dim", "b=2", "--batch", "2"])
        self.assertEqual(running.model_words(["--model", "m", "--batch", "4"], 2), ["--model", "m", "--batch", "4"])
        graph = {"batch": 2, "height": 48, "width": 64}
        file = self.file("s.json", json.dumps({"graph": graph}).encode())
        words = ["--model", "m", "--schedule", file]
        self.assertEqual(running.model_words(words, 2), ["--model", "m", "--batch", "2", "--height", "48", "--width", "64"])
        self.assertEqual(running.model_words([*words, "--width", "9"], 2), ["--model", "m", "--width", "9"])
        self.assertEqual(running.model_words(["--model", "m", "--schedule", "nowhere"], 2), ["--model", "m"])
        file = self.file("vector.json", json.dumps({"graph": {"batch": 2, "height": 1, "width": 1}}).encode())
        self.assertEqual(running.model_words(["--model", "m", "--schedule", file], 1), ["--model", "m", "--batch", "2"])
        self.refused("--model is needed", running.model_words, [], 1)


class Children(unittest.TestCase):
    def test_the_status_is_the_childs(self):
        self.assertEqual(running.run_child([sys.executable, "-c", "raise SystemExit(7)"]), 7)
        self.assertEqual(running.run_child(["sh", "-c", "kill -9 $$"]), 137)

    def test_signals_reach_the_child_once(self):
        # The child counts what it gets, until nothing has come for a while after the first.
        child = ("import signal, sys, time; got = []\n"
                 "for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(each, lambda s, f: got.append(s))\n"
                 "print('ready', flush=True)\n"
                 "while not got: time.sleep(0.01)\n"
                 "time.sleep(0.3); sys.exit(10 * len(got) + got[0])")
        program = ("import sys; from hios.answers.running import run_child\n"
                   "sys.exit(run_child([sys.executable, '-c', sys.argv[1]]))")
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            parent = subprocess.Popen([sys.executable, "-c", program, child], stdout=subprocess.PIPE, text=True)
            self.assertEqual(parent.stdout.readline(), "ready\n")
            os.kill(parent.pid, sent)
            self.assertEqual(parent.wait(), 10 + sent)
            parent.stdout.close()


if __name__ == "__main__":
    unittest.main()

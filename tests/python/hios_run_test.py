"""hios run from a picture to its answers, with the programs."""

import json
import math
import os
import re
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from PIL import Image

BIN = os.environ["HIOS_BIN_DIR"]
NETWORK = ["--model", "squeezenet", "--height", "48", "--width", "48"]
QUICK = ["--iterations", "2", "--warmup", "1", "--oversubscribe"]


def values_of(file):
    """The float32 values of an .npy file of version 1.0."""
    content = Path(file).read_bytes()
    data = content[10 + struct.unpack("<H", content[8:10])[0]:]
    return struct.unpack(f"<{len(data) // 4}f", data)


class HiosRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def hios(self, *words, status=0):
        done = subprocess.run([f"{BIN}/hios", *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def run_network(self, *words, status=0):
        return self.hios("run", *NETWORK, *QUICK, *words, status=status)

    def refused(self, said, *words):
        done = self.run_network(*words, status=2)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertIn(said, errors[0])
        return errors[0]

    def photo(self, name="photo.jpg", size=(80, 60), turn=0):
        image = Image.merge("RGB", [Image.linear_gradient("L").rotate(90 * (i + turn)) for i in range(3)]).resize(size)
        image.save(self.folder / name)
        return name

    def answers(self, output):
        """The rows of an output that has been printed: (index, value, share). Sentences may end with a percentage, too."""
        rows = [line.split() for line in output.splitlines()
                if re.fullmatch(r" +\d+ (.* )?-?[\d.]+(e[+-]\d+)? +[\d.]+ %", line)]
        return [(int(row[0]), row[-3], row[-2]) for row in rows]

    def expected(self, values, count):
        order = sorted(range(len(values)), key=lambda i: (-values[i], i))[:count]
        total = math.fsum(math.exp(value - max(values)) for value in values)
        return [(i, f"{values[i]:.5g}", f"{100 * math.exp(values[i] - max(values)) / total:.2f}") for i in order]

    def test_a_pictures_answers_are_those_of_the_output(self):
        done = self.run_network("--input", self.photo(), "--top", 3, "--outputs", "out")
        self.assertIn("photo.jpg 80x60 RGB: resized to 73x55, cropped to 48x48, values / 255, mean 0.485 0.456 0.406, "
                      "std 0.229 0.224 0.225", done.stdout)
        values = values_of(self.folder / "out/0.npy")
        self.assertEqual(len(values), 1000)
        self.assertEqual(self.answers(done.stdout), self.expected(values, 3))
        self.assertEqual(sorted(each.name for each in self.folder.iterdir()), ["out", "photo.jpg"], "nothing else is left")

    def test_labels_name_the_answers(self):
        (self.folder / "labels.txt").write_text("".join(f"class {i}\n" for i in range(1000)))
        words = ["--input", self.photo(), "--top", 5, "--labels", "labels.txt"]
        done = self.run_network(*words, "--outputs", "out")
        for index, _, _ in self.expected(values_of(self.folder / "out/0.npy"), 5):
            self.assertRegex(done.stdout, rf"\n +{index}  class {index} ")
        (self.folder / "labels.txt").write_text("class 0\n")
        self.refused("labels.txt: has 1 labels, and the output 1000 values", *words)

    def test_several_pictures_are_a_batch(self):
        first, second = self.photo("a.png"), self.photo("b.png", turn=1)
        both = self.run_network("--input", first, "--input", second, "--top", 2, "--outputs", "both")
        values = values_of(self.folder / "both/0.npy")
        self.assertEqual(self.answers(both.stdout), self.expected(values[:1000], 2) + self.expected(values[1000:], 2))
        self.assertIn("b.png, top 2 of ", both.stdout)
        self.run_network("--input", second, "--outputs", "one")
        for a, b in zip(values[1000:], values_of(self.folder / "one/0.npy")):
            self.assertAlmostEqual(a, b, delta=1e-3)
        self.refused("a batch of 3, and 2 pictures are given", "--input", first, "--input", second, "--batch", 3)

    def test_top_needs_no_picture(self):
        done = self.run_network("--top", 1, "--seed", 4, "--outputs", "out", "-q")
        self.assertEqual(self.answers(done.stdout), self.expected(values_of(self.folder / "out/0.npy"), 1))

    def test_two_ranks_give_the_same_answers(self):
        self.hios("profile", "--ranks", 2, *NETWORK, *QUICK, "--stages", "none", "--output", "profile.json")
        self.hios("schedule", *NETWORK, "--profile", "profile.json", "--devices", 2, "--algorithm", "inter-mr",
                  "--output", "s.json")
        words = ["run", "--model", "squeezenet", *QUICK, "--input", self.photo(), "--top", 4]
        two = self.hios(*words, "--schedule", "s.json", "--json", "two.json")
        self.assertEqual(len(json.loads((self.folder / "two.json").read_text())["ranks"]), 2)
        one = self.hios(*words, *NETWORK[2:])
        self.assertEqual(len(self.answers(one.stdout)), 4)
        self.assertEqual(self.answers(two.stdout), self.answers(one.stdout))

    def test_a_reference_is_compared_and_its_failure_is_the_status(self):
        words = ["--input", self.photo(), "--top", 1]
        self.run_network(*words, "--outputs", "out")
        self.run_network(*words, "--reference", "out/0.npy")
        done = self.run_network("--preprocess", "imagenet", "--input", self.photo("other.png", turn=1), "--top", 1,
                                "--reference", "out/0.npy", "--atol", 0, "--rtol", 0, status=1)
        self.assertIn("BEYOND THE TOLERANCE", done.stderr)
        self.assertEqual(len(self.answers(done.stdout)), 1, "the answer is shown all the same")

    def test_the_remedies_run_when_they_are_pasted(self):
        def pasted(command):
            return subprocess.run(command, shell=True, executable="/bin/bash", cwd=self.folder, capture_output=True, text=True,
                                  env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}, stdin=subprocess.DEVNULL)

        # hios-run is given a picture.
        self.photo("it's \x1b[1m mine.png")
        words = [f"{BIN}/hios-run", *NETWORK, "--input", "it's \x1b[1m mine.png"]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        said = [line for line in done.stderr.splitlines() if "is a picture, no .npy file; this converts it: " in line]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertNotIn("\x1b", said[0])
        done = pasted(said[0].split("; this converts it: ")[1])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("resized to 73x55", done.stdout)
        # An input has another size.
        (self.folder / "x.bin").write_bytes(bytes(8))
        error = self.refused("x.bin: holds 8 bytes where the model takes 1x3x48x48 (float32, 27648 bytes)", "--input", "x.bin")
        made = pasted(error.split("this makes an input of zeros: ")[1])
        self.assertEqual(made.returncode, 0, made.stderr)
        self.run_network("--input", "zeros.bin")

    def test_bad_input_is_refused_before_anything_runs(self):
        (self.folder / "noise.jpg").write_text("noise")
        self.refused("noise.jpg: is no picture that Pillow reads", "--input", "noise.jpg")
        self.refused("nowhere.jpg: No such file or directory", "--input", "nowhere.jpg")
        self.refused("the model has one input, 'input', not 'image'", "--input", f"image:{self.photo()}")
        self.run_network("--input", f"input:{self.photo()}", "-q")
        self.refused("squeezenot", "--model", "squeezenot", "--top", 1)
        self.refused("has 1000 values: take at most --top 1000", "--top", 1001)
        self.refused("--top shows what a run computes, and --dry-run computes nothing", "--top", 1, "--dry-run")
        self.refused("by --preprocess none", "--input", self.photo(), "--preprocess", "none")

    def test_help_names_the_flags(self):
        done = self.hios("run", "--help", "all")
        for flag in ("--preprocess", "--labels", "--top", "--schedule", "--reference"):
            self.assertIn(flag, done.stdout)


if __name__ == "__main__":
    unittest.main()

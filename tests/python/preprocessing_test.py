"""The sizes and numbers of --preprocess, and the files that are refused."""

import json
import tempfile
import unittest
from pathlib import Path

from hios.answers.preprocessing import preprocessing
from hios.errors import InputError


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = str(Path(folder.name) / "how.json")

    def of(self, content, size=(224, 224), channels=3):
        Path(self.file).write_text(content if isinstance(content, str) else json.dumps(content))
        return preprocessing(self.file, *size, channels)

    def refused(self, words, *given, **options):
        with self.assertRaises(InputError) as raised:
            self.of(*given, **options)
        self.assertIn(words, str(raised.exception))
        self.assertIn(self.file, str(raised.exception))
        self.assertNotIn("\n", str(raised.exception))

    def test_all_keys(self):
        how = self.of({"resize": 256, "crop": [224, 224], "mean": [1, 2, 3], "std": 2, "scale": 1, "layout": "NHWC"})
        self.assertEqual((how.cover, how.crop, how.layout), ((256, 256), (224, 224), "NHWC"))
        self.assertEqual((how.mean, how.std), ((1, 2, 3), (2,)))
        self.assertEqual(how.table(1)[:3], [-1, -0.5, 0])
        self.assertEqual(how.numbers_text(), "mean 1 2 3, std 2")

    def test_none_is_needed(self):
        how = self.of({})
        self.assertEqual((how.resized(640, 480), how.table(0)[255], how.numbers_text()), ((640, 480), 1, "values / 255"))

    def test_the_shorter_side_or_both(self):
        self.assertEqual(self.of({"resize": 256}).resized(640, 480), (341, 256))
        self.assertEqual(self.of({"resize": 256}).resized(480, 640), (256, 341))
        self.assertEqual(self.of({"resize": 256}).resized(1, 1000), (256, 256000))
        self.assertEqual(self.of({"resize": [100, 200]}).resized(640, 480), (200, 100))

    def test_bad_files_are_refused_in_one_line(self):
        self.refused("is no JSON file", "{")
        self.refused("is no JSON file", "[" * 100000)
        for text in ('{"mean": NaN}', '{"mean": Infinity}', '{"mean": 1, "mean": 2}', '{"scale": 1' + "0" * 400 + "}"):
            self.refused("is no JSON file: has ", text)
        self.refused("must be an object", "[1]")
        self.refused("unknown key 'means' (did you mean 'mean'?)", {"means": 1})
        for value in (0, -1, 2.5, True, "224", [224], [1, 2, 3], None, 1 << 20):
            self.refused("crop takes pixels, such as 224", {"crop": value})
            self.refused("resize takes pixels", {"resize": value})
        for value in ([], "0.5", [0.5, None], True, [[1]]):
            self.refused("mean takes a number, or one per channel", {"mean": value})
        self.refused("std is 0", {"std": [1, 0, 1]})
        self.refused("scale takes a number other than 0", {"scale": 0})
        self.refused("scale takes a number other than 0", {"scale": "1/255"})
        self.refused("layout takes NCHW or NHWC", {"layout": "CHW"})
        self.refused("layout takes NCHW or NHWC", {"layout": ["NCHW"]})
        self.refused("mean has 2 numbers, and the model takes 3 channels: give 3, or one", {"mean": [1, 2]})
        self.refused("crop is 320x200, and the model takes 224x224", {"crop": [200, 320]})
        self.refused("larger than", " " * (2 << 20))

    def test_values_beyond_float32_are_refused(self):
        self.assertEqual(self.of({"scale": 1e-320}).numbers_text(), "values * 9.99989e-321")
        for content in ({"scale": 1e37}, {"std": 1e-320}, {"mean": -1e300}):
            with self.assertRaisesRegex(InputError, "how.json: scale, mean and std make values that no float32 holds"):
                self.of(content).table(0)
        self.assertLess(max(self.of({"scale": 1e36}).table(0)), 3e38)

    def test_a_file_without_end_is_read_to_its_limit(self):
        with self.assertRaisesRegex(InputError, "^/dev/zero: larger than the 1048576 bytes"):
            preprocessing("/dev/zero", 224, 224, 3)

    def test_a_missing_file_names_what_there_is(self):
        with self.assertRaisesRegex(InputError, "^--preprocess imagnet: No such file or directory: take imagenet, none, or"):
            preprocessing("imagnet", 224, 224, 3)

    def test_imagenet_is_for_three_channels(self):
        with self.assertRaisesRegex(InputError, "the model takes one channel: take --preprocess none, or a FILE"):
            preprocessing("imagenet", 28, 28, 1)
        self.assertEqual(preprocessing("none", 28, 28, 1).table(0), list(range(256)))


if __name__ == "__main__":
    unittest.main()

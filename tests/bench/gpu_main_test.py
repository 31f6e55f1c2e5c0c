"""bench/gpu/main.py: its refusals, and rehearsals, which cannot change the results."""

import contextlib
import io
import unittest
from unittest import mock

import main
import installations
from support import FolderTest


class ArgumentsTest(FolderTest):
    def refused(self, *words):
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as said:
            main.arguments(words)
        self.assertEqual(ended.exception.code, 2)
        return said.getvalue()

    def test_words_are_checked(self):
        self.assertIn("tests, latency, transfer, cold", self.refused("--part", "speed"))
        self.assertIn("unknown: 'fp8'", self.refused("--math", "fp32,fp8"))
        self.assertEqual(main.arguments(["--part", "latency,transfer"]).part, ["latency", "transfer"])

    def test_a_rehearsal_writes_no_results(self):
        self.assertIn("bench/results", self.refused("--rehearse", "--output", str(main.ROOT / "bench/results")))
        self.assertIn("fp32", self.refused("--rehearse", "--math", "fp16"))


class RefusalTest(FolderTest):
    def ended(self, libraries, probed=None):
        installation = installations.Installation(self.folder, self.folder, False, None, dict.fromkeys(libraries, self.folder))
        with mock.patch.object(main.installations, "find_installation", lambda *_: installation), \
                mock.patch.object(main, "probe_gpu", lambda _: probed), self.assertRaises(SystemExit) as ended, \
                contextlib.redirect_stderr(io.StringIO()) as said:
            main.main([])
        self.assertEqual(len(said.getvalue().splitlines()), 1)
        return ended.exception.code, said.getvalue()

    def test_without_a_gpu_one_line_and_status_2(self):
        status, said = self.ended(installations.NEEDED, {"why": "the driver sees no GPU"})
        self.assertEqual(status, 2)
        self.assertIn("no GPU to measure: the driver sees no GPU", said)

    def test_without_cudnn_as_well(self):
        status, said = self.ended([])
        self.assertEqual(status, 2)
        self.assertIn("libcudnn.so.9", said)

    def test_a_driver_that_is_not_there_is_a_reason(self):
        installation = installations.Installation(self.folder, self.folder, False, None, {"libcuda.so.1": self.folder / "missing"})
        self.assertIn("cannot be opened", main.probe_gpu(installation)["why"])


class AllWellTest(unittest.TestCase):
    def test_every_part_counts(self):
        well = {"tests": {"programs": [{"well": True}], "networks": [], "checkers": []},
                "latency": {"rows": [{"latency_ms": {}}]}, "transfer": {"failed": {}},
                "cold": {"rows": [{"latency_ms": {}, "verified": True}]}}
        self.assertTrue(main.all_well({"parts": well}, main.PARTS))
        for part, worse in (("tests", {"programs": [{"well": False}]}), ("latency", {"rows": [{"failed": "why"}]}),
                            ("transfer", {"failed": {"ipc": "why"}}), ("cold", {"rows": [{"failed": "why"}]}),
                            ("cold", {"rows": [{"latency_ms": {}, "verified": False}]})):
            self.assertFalse(main.all_well({"parts": {**well, part: worse}}, main.PARTS), part)
            others = [name for name in main.PARTS if name != part]
            self.assertTrue(main.all_well({"parts": {**well, part: worse}}, others), part)


if __name__ == "__main__":
    unittest.main()

"""A configuration names all that it lacks in one message, and refuses compilers that are too old. Nothing is built."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Packages, by CMake's name, that stand for any that a machine may lack.
HIDDEN = {"nlohmann_json": ("nlohmann-json3-dev", "json-devel"), "MPI": ("libopenmpi-dev", "-DHIOS_MPI=OFF"),
          "Hwloc": ("libhwloc-dev", "-DHIOS_HWLOC=OFF"), "dnnl": ("libdnnl-dev", "onednn", "-DHIOS_CPU=OFF"),
          "ONNX": ("libonnx-dev", "-DHIOS_ONNX=OFF"), "GTest": ("libgtest-dev", "libgmock-dev", "googletest", "-DHIOS_TESTS=OFF")}


class ConfigureTest(unittest.TestCase):
    def refused(self, *flags):
        """Returns the message of a configuration that fails, without the spaces by which CMake folds lines."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *flags], capture_output=True, text=True, timeout=300,
                                  check=False, env={**os.environ, "LC_ALL": "C"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("CMake Error"), 1, done.stderr)
        return " ".join(done.stderr.split())

    def test_all_that_is_missing_is_named_at_once(self):
        said = self.refused(*(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in HIDDEN))
        for name, words in HIDDEN.items():
            for word in words:
                self.assertIn(word, said, name)

    def test_message_classes_are_made_where_no_package_has_them(self):
        proto = Path("/usr/include/onnx/onnx.proto")
        if not proto.exists():
            self.skipTest("no onnx.proto (libonnx-dev)")
        hidden = "-DCMAKE_DISABLE_FIND_PACKAGE_ONNX=ON"
        self.assertIn("/absent.proto: there is no such file", self.refused(hidden, "-DHIOS_ONNX_PROTO=/absent.proto"))
        with tempfile.TemporaryDirectory() as folder:
            for command in (("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", hidden, f"-DHIOS_ONNX_PROTO={proto}", "-DHIOS_TESTS=OFF"),
                            ("cmake", "--build", folder, "--target", "onnx-messages/onnx/onnx-ml.pb.h")):
                done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            made = (Path(folder) / "onnx-messages/onnx/onnx-ml.pb.h").read_text()
        self.assertIn("class ModelProto", made)

    def test_an_onednn_that_is_too_old_or_absent_is_said_with_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            absent = self.refused(f"-Ddnnl_DIR={folder}")
            self.assertIn(f"dnnl_DIR: there is no oneDNN in {folder}", absent)
            version = Path(folder) / "dnnl-config-version.cmake"
            Path(folder, "dnnl-config.cmake").write_text("add_library(DNNL::dnnl INTERFACE IMPORTED)\n")
            version.write_text("set(PACKAGE_VERSION 2.4.1)\n")
            old = self.refused(f"-Ddnnl_DIR={folder}")
        self.assertIn(f"oneDNN 2.6 or newer: 2.4.1 in {folder} is too old", old)
        self.assertIn("-DHIOS_CPU=OFF", old)

    def test_old_compilers_are_refused(self):
        for kind, version in (("GNU", "11.4.0"), ("Clang", "14.0.6")):
            with tempfile.TemporaryDirectory() as folder:
                script = Path(folder) / "check.cmake"
                script.write_text(f"set(CMAKE_CXX_COMPILER_ID {kind})\nset(CMAKE_CXX_COMPILER_VERSION {version})\n"
                                  f"include({ROOT}/cmake/HiosMissing.cmake)\nhios_check_compiler()\n")
                done = subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("GCC 12 or Clang 15", " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()

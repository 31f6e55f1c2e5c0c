"""A configuration on a machine that lacks one package says so in one line, with that package. Each test hides a package of
this machine in a mount namespace of its own: a layer over /usr in which the package's files do not exist."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The packages that are hidden together, as dpkg's patterns, and words of the line and its remedies.
HIDDEN = {
    "nlohmann_json": (["nlohmann-json3-dev"], ["nlohmann_json 3.11 or newer", "Debian: nlohmann-json3-dev"]),
    "Boost": (["libboost-program-options*-dev"], ["Boost.Program_options", "Debian: libboost-program-options-dev"]),
    "MPI": (["libopenmpi-dev"], ["MPI for C", "-DHIOS_MPI=OFF", "Debian: libopenmpi-dev"]),
    "ONNX": (["libonnx-dev"], ["ONNX's message classes", "-DHIOS_ONNX=OFF", "Debian: libonnx-dev"]),
    "hwloc": (["libhwloc-dev"], ["hwloc 2.3 or newer", "-DHIOS_HWLOC=OFF", "Debian: libhwloc-dev"]),
    "oneDNN": (["libdnnl-dev"], ["oneDNN 2.6 or newer", "-DHIOS_CPU=OFF", "Debian: libdnnl-dev"]),
    "protobuf": (["libprotobuf-dev"], ["protobuf", "-DHIOS_ONNX=OFF", "Debian: libprotobuf-dev libonnx-dev"]),
    "GoogleMock": (["libgmock-dev"], ["GoogleTest with GoogleMock", "-DHIOS_TESTS=OFF", "Debian: libgtest-dev libgmock-dev"]),
    "test cases": (["libonnx-testdata"], ["ONNX's test cases", "-DHIOS_TESTS=OFF", "Debian: libonnx-testdata"]),
}
# Packages without which HIOS is built all the same.
OPTIONAL = {"Cbc": (["coinor-libcbc-dev"], "Could NOT find Cbc"), "protoc": (["protobuf-compiler"], "-- Configuring done")}
# Debian 12's oneDNN asks for OpenCL, and Debian 13's does not.
if list(Path("/usr/lib").glob("*/cmake/dnnl/FindOpenCL.cmake")):
    HIDDEN["OpenCL"] = (["ocl-icd-opencl-dev"], ["OpenCL, which the system's oneDNN asks for", "Debian: ocl-icd-opencl-dev"])
else:
    OPTIONAL["OpenCL"] = (["ocl-icd-opencl-dev"], "-- Configuring done")
# Runs in the namespace: the files on standard input do not exist. A character device 0/0 is overlayfs's word for that.
HIDE = """set -e
mount -t tmpfs tmpfs "$1"; mkdir "$1/upper" "$1/work"
while read -r file; do mkdir -p "$1/upper/${file%/*}"; mknod "$1/upper/$file" c 0 0; done
mount -t overlay overlay -o "lowerdir=/usr,upperdir=$1/upper,workdir=$1/work" /usr
shift; exec "$@"
"""


def files_of(patterns):
    """The files of installed packages below /usr, without folders, relative to it."""
    listed = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Status} ${binary:Package}\\n", *patterns],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    packages = [line.split()[1] for line in listed if line.startswith("installed ")]
    files = subprocess.run(["dpkg-query", "--listfiles", *packages], check=True, capture_output=True, text=True).stdout
    return [line[len("/usr/"):] for line in files.split("\n")
            if line.startswith("/usr/") and (os.path.islink(line) or os.path.isfile(line))]


class HiddenTest(unittest.TestCase):
    def configured_without(self, patterns):
        """Configures for this machine without the packages; returns the status and the output, in words with single spaces."""
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        with tempfile.TemporaryDirectory() as folder:
            layer, build = Path(folder) / "layer", Path(folder) / "build"
            layer.mkdir()
            done = subprocess.run(
                ["unshare", *user, "--mount", "sh", "-c", HIDE, "hide", layer, "cmake", "-S", ROOT, "-B", build, "-G", "Ninja",
                 "-DHIOS_BENCH=OFF", "-DPython3_EXECUTABLE=/usr/bin/python3"],
                input="".join(f"{file}\n" for file in files_of(patterns)), capture_output=True, text=True, timeout=300,
                check=False, env={**os.environ, "LC_ALL": "C"})
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def test_a_package_that_is_missing_is_named_alone(self):
        for name, (patterns, words) in HIDDEN.items():
            with self.subTest(name):
                status, said = self.configured_without(patterns)
                self.assertEqual(status, 1, said)
                self.assertEqual(said.count("CMake Error"), 1, said)
                self.assertEqual(said.count("Debian: "), 1, said)
                for word in words:
                    self.assertIn(word, said)

    def test_solvers_and_tools_may_be_missing(self):
        for name, (patterns, words) in OPTIONAL.items():
            with self.subTest(name):
                status, said = self.configured_without(patterns)
                self.assertEqual(status, 0, said)
                self.assertIn(words, said)


if __name__ == "__main__":
    if not Path("/usr/bin/dpkg-query").exists():
        sys.exit("hidden_test.py hides packages of Debian, and this machine has none")
    unittest.main()

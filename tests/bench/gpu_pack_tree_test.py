"""scripts/pack_tree.py: the output of ldd and CTest, and the libraries that the machine provides."""

import unittest

import pack_tree

LDD = """\tlinux-vdso.so.1 (0x00007ffd)
\tlibmpi.so.40 => /somewhere/lib/libmpi.so.40 (0x00007f1)
\tlibcudnn.so.9 => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f2)
"""


def test(name, *command, environment=()):
    return {"name": name, "command": list(command), "properties": [{"name": "ENVIRONMENT", "value": list(environment)}]}


class LibrariesTest(unittest.TestCase):
    def test_ldd(self):
        needed = pack_tree.parse_ldd(LDD)
        self.assertEqual({name: path and str(path) for name, path in needed.items()},
                         {"libmpi.so.40": "/somewhere/lib/libmpi.so.40", "libcudnn.so.9": None})

    def test_libraries_of_the_system_stay_outside(self):
        for name in ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libcuda.so.1", "libcudnn.so.9",
                     "libcudnn_ops.so.9", "libcublasLt.so.13", "libnvidia-ml.so.1"):
            self.assertTrue(pack_tree.OUTSIDE.match(name), name)
        for name in ("libmpi.so.40", "libboost_program_options.so.1.74.0", "libgtest.so.1", "libcufft.so.12",
                     "libmca_common_cuda.so.40", "libz.so.1", "libdnnl.so.2"):
            self.assertFalse(pack_tree.OUTSIDE.match(name), name)


class TestRunsTest(unittest.TestCase):
    def test_a_program_counts_once_however_many_tests_it_has(self):
        listing = {"tests": [test("A.b", "/build/bin/hios_gpu_tests", "--gtest_filter=A.b"),
                             test("A.c", "/build/bin/hios_gpu_tests", "--gtest_filter=A.c"),
                             test("D.e", "/build/bin/hios_core_tests"), {"name": "no command"}]}
        self.assertEqual(pack_tree.test_runs(listing, ["hios_gpu_tests"]),
                         [{"program": "hios_gpu_tests", "ranks": 0, "arguments": [], "environment": {}}])

    def test_ranks_keep_their_arguments_and_environment(self):
        mpirun = ["/usr/bin/mpirun", "--bind-to", "none", "-np", "2", "/build/bin/hios_gpu_rank_tests", "--by", "ipc"]
        listing = {"tests": [test("hios_gpu_rank_tests.ranks_2", *mpirun,
                                  environment=["OMPI_MCA_btl=self,vader", "HIOS_PATH=ipc"])]}
        self.assertEqual(pack_tree.test_runs(listing, ["hios_gpu_rank_tests"]),
                         [{"program": "hios_gpu_rank_tests", "ranks": 2, "arguments": ["--by", "ipc"],
                           "environment": {"HIOS_PATH": "ipc"}}])


if __name__ == "__main__":
    unittest.main()

"""bench/gpu/installations.py: the folders of NVIDIA's libraries, and the environment of the programs."""

import ctypes
import os
import unittest
from pathlib import Path
from unittest import mock

import installations
import single_copy
from refusal import Refusal
from support import FolderTest


class PlaceTest(FolderTest):
    def put(self, name, *libraries):
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        for library in libraries:
            (folder / library).touch()
        return folder

    def folders(self, ldconfig=()):
        with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": ""}):
            return installations.library_folders([str(self.folder / "site")], list(ldconfig), self.folder)

    def test_pythons_packages_come_before_the_toolkit(self):
        wheels = self.put("site/nvidia/cudnn/lib", "libcudnn.so.9")
        toolkit = self.put("usr/local/cuda/lib64", "libcudnn.so.9", "libcublasLt.so.13")
        driver = self.put("usr/local/nvidia/lib64", "libcuda.so.1")
        found = installations.find_libraries(self.folders())
        self.assertEqual(found, {"libcudnn.so.9": wheels, "libcublasLt.so.13": toolkit, "libcuda.so.1": driver})

    def test_packages_for_another_cuda_are_passed_over(self):
        self.put("site/nvidia/cudnn/lib", "libcudnn.so.9")
        cublas = self.put("site/nvidia/cublas/lib", "libcublasLt.so.12")
        toolkit = self.put("usr/local/cuda/lib64", "libcudnn.so.9", "libcublasLt.so.13")
        self.assertEqual(self.folders(), [toolkit])
        (cublas / "libcublasLt.so.13").touch()
        self.assertEqual(installations.find_libraries(self.folders())["libcublasLt.so.13"], cublas)

    def test_libraries_of_the_loader_are_found(self):
        odd = self.put("odd", "libcudnn.so.9")
        self.assertEqual(self.folders([f"\tlibcudnn.so.9 (libc6,x86-64) => {odd}/libcudnn.so.9",
                                       "\tlibz.so.1 (libc6,x86-64) => /elsewhere/libz.so.1"]), [odd])

    def test_origins_are_words(self):
        installation = installations.Installation(self.folder, self.folder, False, None, {
            "a": Path("/opt/venv/lib/python3.12/site-packages/nvidia/cudnn/lib"), "b": Path("/usr/local/cuda-13.0/lib"),
            "c": Path("/usr/local/nvidia/lib64")})
        self.assertEqual(installation.origins(), {"a": "Python's packages", "b": "the toolkit's", "c": "the system's"})

    def test_nothing_is_invented(self):
        self.assertEqual(installations.find_libraries(self.folders()), {})

    def pack(self):
        self.put("pack/bin", "hios-run", "mpirun")
        self.put("pack/lib/openmpi", "mca_btl_smcuda.so")
        (self.folder / "pack/manifest.json").write_text('{"tests": []}')
        with mock.patch.object(single_copy, "possible", lambda: False):
            return installations.find_installation(self.folder / "pack")

    def test_a_pack_is_an_open_mpi_of_its_own(self):
        installation = self.pack()
        environment = installation.environment()
        root = str(self.folder / "pack")
        self.assertEqual((environment["OPAL_PREFIX"], installation.mpirun), (root, root + "/bin/mpirun"))
        self.assertEqual(environment["HIOS_BIN_DIR"], root + "/bin")
        self.assertEqual(environment["OMPI_MCA_btl_vader_single_copy_mechanism"], "none")
        self.assertTrue(installation.has_smcuda())
        self.assertTrue(os.access(self.folder / "pack/bin/hios-run", os.X_OK), "carried without its permissions")

    def test_a_checkout_wants_a_build(self):
        with self.assertRaisesRegex(Refusal, "preset cuda"):
            installations.find_installation(self.folder)
        self.put("build/cuda/bin", "hios-run")
        installation = installations.find_installation(self.folder)
        self.assertFalse(installation.packed)
        self.assertNotIn("OPAL_PREFIX", installation.environment())

    def test_pytorch_keeps_the_machines_environment(self):
        installation = self.pack()
        installation.libraries = {"libcuda.so.1": Path("/driver"), "libcudnn.so.9": Path("/ours")}
        with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": "/theirs"}):
            self.assertEqual(installation.torch_environment()["LD_LIBRARY_PATH"], "/theirs:/driver")

    def test_single_copies_are_tried_and_not_believed(self):
        word = ctypes.create_string_buffer(single_copy.WORD, len(single_copy.WORD))
        address = ctypes.addressof(word)
        self.assertEqual(single_copy.read(os.getpid(), address), 0)
        word[0] = b"x"
        self.assertEqual(single_copy.read(os.getpid(), address), 1, "another word lies there")
        self.assertEqual(single_copy.read(os.getpid(), 0), 1)
        with mock.patch.object(single_copy.subprocess, "run", side_effect=OSError):
            self.assertFalse(single_copy.possible())


if __name__ == "__main__":
    unittest.main()

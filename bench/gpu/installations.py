"""Finds our programs, their Open MPI, and NVIDIA's libraries on an unknown machine.

There are two kinds of installation: a tree of scripts/pack-gpu.sh, which is an Open MPI prefix of its own, and a
checkout with a build, whose mpirun is the machine's.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import single_copy
from refusal import Refusal

CUBLAS = "libcublasLt.so.13"
# Searched one by one, because each may come from another source: the driver, the toolkit, Python's packages.
LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1", "libcudnn.so.9", CUBLAS, "libnvrtc.so.13")
NEEDED = ("libcudnn.so.9", CUBLAS)
FALLBACK = "libstdc++.so.6"


def library_folders(path=None, ldconfig=None, root=Path("/")):
    """All folders that may hold NVIDIA's libraries, in order of preference: PyTorch's own, so that both sides of a
    comparison use the same cuDNN, unless they are for another CUDA; LD_LIBRARY_PATH; the loader's; the toolkit's; the
    driver's."""
    folders = []
    for entry in sys.path if path is None else path:
        packages = sorted((Path(entry) / "nvidia").glob("*/lib"))
        if not of_another_cuda(packages):
            folders += packages
    folders += [Path(word) for word in os.environ.get("LD_LIBRARY_PATH", "").split(":") if word]
    lines = loader_cache() if ldconfig is None else ldconfig
    folders += [Path(line.split(" => ")[1]).parent for line in lines if " => " in line and
                any(line.split()[0] == name for name in LIBRARIES)]
    for pattern in ("usr/local/cuda/lib64", "usr/local/cuda/lib", "usr/local/cuda-*/lib64", "usr/local/cuda-*/lib",
                    "usr/local/cuda*/targets/x86_64-linux/lib", "usr/lib/x86_64-linux-gnu", "usr/lib64",
                    "usr/local/nvidia/lib64", "usr/local/nvidia/lib", "usr/lib/wsl/lib"):
        folders += sorted(root.glob(pattern))
    unique = []
    for folder in folders:
        if folder not in unique and folder.is_dir():
            unique.append(folder)
    return unique


def of_another_cuda(packages):
    """True if these are the packages of a PyTorch whose CUDA the programs refuse: cuBLAS is there in other versions
    alone. The name of cuDNN's library does not tell."""
    versions = {library.name for folder in packages for library in folder.glob("libcublasLt.so.*")}
    return bool(versions) and CUBLAS not in versions


def loader_cache():
    ldconfig = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        return subprocess.run([ldconfig, "-p"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=30).stdout.splitlines()
    except (OSError, subprocess.TimeoutExpired):
        return []


def find_libraries(folders):
    """{name: folder} of the libraries that were found."""
    found = {}
    for name in LIBRARIES:
        for folder in folders:
            if (folder / name).exists():
                found[name] = folder
                break
    return found


@dataclass
class Installation:
    """`packed`: True for a pack. `programs`: their folder. `mpirun`: None if there is none."""

    root: Path
    programs: Path
    packed: bool
    mpirun: str | None
    libraries: dict = field(default_factory=dict)
    manifest: dict = field(default_factory=dict)
    single_copy: bool = False

    def results(self):
        return self.root / "bench" / "results"

    def origins(self):
        """The source of each library, as a text: results outlast the machine and its folders."""
        def whose(folder):
            if "site-packages" in folder.parts or "dist-packages" in folder.parts:
                return "Python's packages"
            return "the toolkit's" if any(part.startswith("cuda") for part in folder.parts) else "the system's"
        return {name: whose(folder) for name, folder in self.libraries.items()}

    def environment(self):
        """The environment of our programs. Python's programs keep the machine's, whose C++ library may be newer than ours."""
        environment = dict(os.environ)
        folders = list(dict.fromkeys(map(str, self.libraries.values())))
        fallback = self.root / "lib" / "fallback"
        if self.packed and fallback.is_dir() and not any(FALLBACK in line for line in loader_cache()):
            folders.append(str(fallback))
        folders += [word for word in environment.get("LD_LIBRARY_PATH", "").split(":") if word]
        environment["LD_LIBRARY_PATH"] = ":".join(dict.fromkeys(folders))
        if self.packed:
            environment["OPAL_PREFIX"] = str(self.root)
            environment["PATH"] = f"{self.root / 'bin'}:{environment.get('PATH', '/usr/bin:/bin')}"
        if self.mpirun:
            environment["HIOS_MPIEXEC"] = self.mpirun
        environment["HIOS_BIN_DIR"] = str(self.programs)
        environment.update(mpi_settings(self.single_copy))
        return environment

    def torch_environment(self):
        """The environment of PyTorch: the machine's, and the driver's folder if the loader does not find it."""
        environment = dict(os.environ)
        driver = self.libraries.get("libcuda.so.1")
        if driver:
            words = [word for word in environment.get("LD_LIBRARY_PATH", "").split(":") if word]
            environment["LD_LIBRARY_PATH"] = ":".join(dict.fromkeys([*words, str(driver)]))
        return environment

    def has_smcuda(self):
        """True if Open MPI has its shared memory for GPUs: always in a pack, elsewhere if it was built."""
        if self.packed:
            return (self.root / "lib/openmpi/mca_btl_smcuda.so").exists()
        info = shutil.which("ompi_info")
        if not info:
            return False
        return "smcuda" in subprocess.run([info, "--parsable"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                          text=True, env=self.environment()).stdout

    def mpi(self, ranks, btl="self,vader"):
        """The launcher's command for several ranks."""
        return [self.mpirun, "-np", str(ranks), "--bind-to", "none", "--oversubscribe", "--mca", "btl", btl]


def mpi_settings(can_single_copy):
    """Open MPI's settings for one host without a network, possibly as root, possibly in a container without CMA."""
    return {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_plm": "isolated", "OMPI_MCA_oob_tcp_if_include": "lo", "OMPI_MCA_btl_tcp_if_include": "lo",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "cma" if can_single_copy else "none",
        "OMPI_MCA_opal_warn_on_missing_libcuda": "0",  # set by a rehearsal
        "OMPI_MCA_pml": "ob1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PMIX_MCA_gds": "hash",  # PMIx's shared-memory store needs more of /dev/shm than some containers have
    }


def make_startable(folder):
    """Makes the programs executable: not every transfer of files keeps their permissions."""
    for file in folder.iterdir():
        if not os.access(file, os.X_OK):
            file.chmod(0o755)


def find_installation(root, programs=None):
    """Returns the installation. Raises Refusal if there are no programs."""
    manifest = root / "manifest.json"
    packed = manifest.exists()
    folder = programs.resolve() if programs else (root / "bin" if packed else root / "build/cuda/bin")
    if not (folder / "hios-run").exists():
        raise Refusal(f"no hios-run in {folder}: build preset cuda, or name the folder with --programs")
    if packed:
        make_startable(folder)
    mpirun = str(root / "bin/mpirun") if packed else shutil.which("mpirun")
    installation = Installation(root, folder, packed, mpirun, find_libraries(library_folders()),
                  json.loads(manifest.read_text()) if packed else {}, single_copy.possible())
    return installation

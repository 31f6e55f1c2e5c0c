"""HIOS for Spack, built from the checkout that this file belongs to:

    spack repo add CHECKOUT/packaging/spack_repo/hios
    spack install --test=root hios
    spack test run hios
"""

from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *

CHECKOUT = Path(__file__).resolve().parents[5]


class Hios(CMakePackage, CudaPackage):
    """One inference over many devices: measure, schedule, run."""

    git = CHECKOUT.as_uri()

    version("0.1.0", branch="main")

    variant("mpi", default=True, description="Ranks over MPI (without: one rank only)")
    variant("cpu", default=True, description="The CPU backend (oneDNN)")
    variant("onnx", default=True, description="Read ONNX files")
    variant("hwloc", default=True, description="Find what a machine has")
    variant("milp", default=True, description="Exact schedules by a solver of linear programs (Cbc)")
    variant("python", default=True, description="The command hios")

    generator("ninja")
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    conflicts("%gcc@:11", msg="HIOS needs GCC 12 or newer")
    conflicts("%clang@:14", msg="HIOS needs Clang 15 or newer")

    depends_on("cmake@3.25:", type="build")
    depends_on("nlohmann-json@3.11:")
    depends_on("boost@1.74: +program_options")
    depends_on("mpi", when="+mpi")
    depends_on("onednn@2.6: cpu_runtime=omp", when="+cpu")
    depends_on("onnx", when="+onnx")
    depends_on("protobuf", when="+onnx")
    depends_on("hwloc@2.3:", when="+hwloc")
    depends_on("cbc@2.10:", when="+milp")
    depends_on("cuda@13:", when="+cuda")
    depends_on("cudnn@9.8:", when="+cuda")
    depends_on("python@3.11:", type=("build", "run"), when="+python")
    depends_on("py-jinja2", type="run", when="+python")
    depends_on("py-pillow", type="run", when="+python")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs, for example cuda_arch=80,90")

    def cmake_args(self):
        options = ("mpi", "cpu", "onnx", "hwloc", "milp", "cuda")
        args = [self.define_from_variant(f"HIOS_{option.upper()}", option) for option in options]
        # The tests of CTest need what scripts/setup.sh installs; `spack test run` needs nothing.
        args += [self.define("HIOS_TESTS", False), self.define("HIOS_BENCH", False)]
        if self.spec.satisfies("~python"):
            args.append(self.define("CMAKE_DISABLE_FIND_PACKAGE_Python3", True))
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(self.spec.variants["cuda_arch"].value)))
        return args

    def test_two_ranks(self):
        """Two ranks give bit for bit the result of one."""
        which(join_path(self.prefix.share.hios, "two-ranks"), required=True)()

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_two_ranks(self):
        self.test_two_ranks()

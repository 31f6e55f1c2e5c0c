# The packages that the options ask for; all that are missing are reported at once. The solvers of linear programs are
# taken where they are found.
include(HiosMissing)
hios_check_compiler()

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 QUIET)
hios_need("${nlohmann_json_FOUND}" "nlohmann_json 3.11 or newer" DEBIAN nlohmann-json3-dev FEDORA json-devel CONDA nlohmann_json
  SPACK nlohmann-json)
if(NOT HIOS_PYTHON_MODULE)
  # Boost's own file, as CMake 3.30 and later want it.
  if(POLICY CMP0167)
    cmake_policy(SET CMP0167 NEW)
  endif()
  find_package(Boost 1.74 QUIET COMPONENTS program_options)
  # CMake 3.31 says that Boost is found where this part of it is not.
  if(NOT TARGET Boost::program_options)
    set(Boost_FOUND FALSE)
  endif()
  hios_need("${Boost_FOUND}" "Boost.Program_options 1.74 or newer" DEBIAN libboost-program-options-dev FEDORA boost-devel
    CONDA libboost-devel SPACK "boost+program_options")
endif()
if(HIOS_MPI)
  find_package(MPI QUIET COMPONENTS C)
  hios_need("${MPI_C_FOUND}" "MPI for C (Open MPI or MPICH)" WITHOUT -DHIOS_MPI=OFF DEBIAN "libopenmpi-dev openmpi-bin"
    FEDORA "openmpi-devel, then: module load mpi" CONDA openmpi SPACK openmpi)
  if(MPI_C_FOUND)
    # The calls that say whether it takes GPU memory: that of MPICH and Cray, and that of Open MPI.
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
    set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
    set(mpi_headers "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n")
    check_cxx_source_compiles("${mpi_headers} int main() { int yes = 0; return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &yes); }"
      HIOS_MPIX_GPU_QUERY)
    check_cxx_source_compiles("${mpi_headers} int main() { return MPIX_Query_cuda_support(); }" HIOS_MPIX_CUDA_QUERY)
    unset(CMAKE_REQUIRED_LIBRARIES)
    unset(CMAKE_REQUIRED_DEFINITIONS)
  endif()
endif()
if(HIOS_ONNX)
  include(HiosOnnx)
endif()
if(HIOS_HWLOC)
  find_package(Hwloc 2.3 QUIET MODULE)
  hios_need("${Hwloc_FOUND}" "hwloc 2.3 or newer" WITHOUT -DHIOS_HWLOC=OFF DEBIAN libhwloc-dev FEDORA hwloc-devel
    CONDA libhwloc SPACK hwloc)
endif()
if(HIOS_MILP AND HIOS_PYTHON_MODULE)
  include(HiosHighsWheel)
elseif(HIOS_MILP)
  find_package(Highs 1.7 MODULE)
  find_package(Cbc MODULE)
endif()
if(HIOS_CPU)
  include(HiosOneDnn)
  find_package(OpenMP QUIET COMPONENTS CXX)
  hios_need("${OpenMP_CXX_FOUND}" "OpenMP of ${CMAKE_CXX_COMPILER}" WITHOUT -DHIOS_CPU=OFF DEBIAN "libgomp1 (with g++), libomp-dev (with clang)"
    FEDORA "libgomp (with g++), libomp-devel (with clang)" CONDA _openmp_mutex)
endif()

if(HIOS_CUDA_TESTS AND HIOS_SANITIZE)
  message(FATAL_ERROR "HIOS_CUDA_TESTS is for builds without sanitizers")
endif()
if(HIOS_CUDA OR HIOS_CUDA_TESTS)
  find_package(CUDAToolkit 13.0 QUIET)
  hios_need("${CUDAToolkit_FOUND}" "CUDA 13 (nvcc in PATH)" WITHOUT "-DHIOS_CUDA=OFF -DHIOS_CUDA_TESTS=OFF"
    DEBIAN "cuda-toolkit-13-0 (NVIDIA's archive)" FEDORA "cuda-toolkit-13-0 (NVIDIA's archive)" CONDA cuda-toolkit SPACK cuda)
  find_package(CUDNN 9.8 QUIET)
  hios_need("${CUDNN_FOUND}" "cuDNN 9.8 or newer" WITHOUT "-DHIOS_CUDA=OFF -DHIOS_CUDA_TESTS=OFF"
    DEBIAN "cudnn9-cuda-13 (NVIDIA's archive)" FEDORA "cudnn9-cuda-13 (NVIDIA's archive)" CONDA cudnn SPACK cudnn)
endif()
# Debian's own Python, which has Jinja2 (and after scripts/setup.sh --bench Matplotlib), goes before others in PATH.
if(EXISTS /usr/bin/python3 AND NOT DEFINED Python3_EXECUTABLE)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
if(HIOS_TESTS)
  find_package(GTest QUIET)
  # Distributions have packages for its two halves.
  set(both FALSE)
  if(GTest_FOUND AND TARGET GTest::gmock)
    set(both TRUE)
  endif()
  hios_need("${both}" "GoogleTest with GoogleMock" WITHOUT -DHIOS_TESTS=OFF DEBIAN "libgtest-dev libgmock-dev"
    FEDORA "gtest-devel gmock-devel" CONDA gtest SPACK googletest)
  if(HIOS_ONNX)
    find_path(HIOS_ONNX_TESTDATA node/test_relu/model.onnx PATHS /usr/share/libonnx-testdata/data)
    hios_need("${HIOS_ONNX_TESTDATA}" "ONNX's test cases (-DHIOS_ONNX_TESTDATA=FOLDER, with node/test_relu/model.onnx)"
      WITHOUT -DHIOS_TESTS=OFF DEBIAN libonnx-testdata)
  endif()
  find_package(Python3 3.11 QUIET COMPONENTS Interpreter)
  hios_need("${Python3_FOUND}" "Python 3.11 or newer" WITHOUT -DHIOS_TESTS=OFF DEBIAN python3 UBUNTU "python3 (24.04 or newer)"
    FEDORA python3 CONDA python SPACK python)
endif()
hios_report_missing()

if(HIOS_CUDA OR HIOS_CUDA_TESTS)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Native code for A100, H100 and H200; the driver translates the last one for later GPUs.
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual CACHE STRING "GPUs to build for")
  endif()
  enable_language(CUDA)
endif()

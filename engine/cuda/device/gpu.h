#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"

namespace hios::cuda {

/// The GPU of this rank.
struct Gpu {
  int index = 0;
  std::string name;      ///< "NVIDIA H200"
  std::string identity;  ///< "GPU-3f…", unique, and the same for all ranks that share it
  std::string bus_id;    ///< in NVML's notation
  int major = 0, minor = 0;
  int multiprocessors = 0;
  Bytes memory_bytes = 0;
  Bytes cache_bytes = 0;  ///< second-level cache, which all multiprocessors share
  bool maps_host_memory = false;
};

/// Makes the GPU current for the calling thread, with a context. Throws InputError if a library has
/// another version than this build's (require_libraries), or the driver is missing or too old. Also
/// if there is no GPU, none of that index, or one for which this build has no code.
Gpu open_gpu(int index);

/// Returns the identities of the GPUs that this process sees, in their order; none where it cannot
/// ask. Makes no context.
std::vector<std::string> visible_gpus();
/// Returns their PCI addresses, as the driver writes them, in the same order.
std::vector<std::string> gpu_addresses();

/// The versions of the libraries that the loader found, in their own numbers: cuDNN 90100, cuBLASLt
/// 130000, and the CUDA that each was made for, 13000.
struct LibraryVersions {
  std::size_t cudnn = 0, cudnn_cuda = 0, cublaslt = 0, cublaslt_cuda = 0;
};
/// Throws InputError if a library has another major version than the headers of this build, or was
/// made for another CUDA: cuDNN 9 has the same file name for CUDA 12 and 13.
void require_libraries(const LibraryVersions& found);

/// Returns the same refusals for a status of the driver; for tests without a GPU.
InputError refusal_without_gpu(int status);
InputError refusal_of_index(int index, int count);

/// Describes the GPU for provenance: name, driver, CUDA and cuDNN, clocks and why they are
/// throttled.
Json describe(const Gpu& gpu);

}  // namespace hios::cuda

#pragma once

#include <cstddef>
#include <string>

#include "hios/base/error.h"
#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"

namespace hios::cuda {

/// What this rank's GPU is.
struct Gpu {
  int index = 0;
  std::string name;      ///< "NVIDIA H200"
  std::string identity;  ///< "GPU-3f…", unique and the same for all who share it
  std::string bus_id;    ///< as NVML wants it
  int major = 0, minor = 0;
  int multiprocessors = 0;
  Bytes memory_bytes = 0;
  Bytes cache_bytes = 0;  ///< of the second level, which all multiprocessors share
};

/// Makes the GPU the calling thread's, with a context. Throws InputError: libraries of another
/// version than this build's (require_libraries), no driver, one too old for this build, no GPU, no
/// GPU of that index, one that this build has no code for.
Gpu open_gpu(int index);

/// The libraries that the loader found, as they number themselves: cuDNN 90100, cuBLASLt 130000,
/// and the CUDA that each was made for, 13000.
struct LibraryVersions {
  std::size_t cudnn = 0, cudnn_cuda = 0, cublaslt = 0, cublaslt_cuda = 0;
};
/// Throws InputError where one has another major version than the headers of this build, or was
/// made for another CUDA: cuDNN 9 has the same file name for CUDA 12 and 13.
void require_libraries(const LibraryVersions& found);

/// The same refusals, from what the driver said; for tests without a GPU.
InputError refusal_without_gpu(int status);
InputError refusal_of_index(int index, int count);

/// For provenance: name, driver, CUDA and cuDNN, clocks and why they are held back.
Json describe(const Gpu& gpu);

/// "1.50 GiB": sizes in messages.
std::string size_text(Bytes size_bytes);

}  // namespace hios::cuda

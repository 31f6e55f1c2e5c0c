#pragma once

#include <cstddef>
#include <string>

#include "hios/base/error.h"
#include "hios/base/ids.h"
#include "hios/base/json_io.h"

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

/// Makes the GPU the calling thread's, with a context. Throws InputError:
/// no driver, one too old for this build, no GPU, no GPU of that index, one that this build has no
/// code for.
Gpu open_gpu(int index);

/// The same refusals, from what the driver said; for tests without a GPU.
InputError refusal_without_gpu(int status);
InputError refusal_of_index(int index, int count);

/// For provenance: name, driver, CUDA and cuDNN, clocks and why they are held back.
Json describe(const Gpu& gpu);

/// "1.50 GiB": sizes in messages.
std::string size_text(Bytes size_bytes);

}  // namespace hios::cuda

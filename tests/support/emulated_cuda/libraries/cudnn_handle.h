#pragma once

#include "support/emulated_cuda/cuda_runtime_api.h"

/// The target of cuDNN's handle.
struct EmulatedCudnn {
  cudaStream_t stream = nullptr;
};

#pragma once

#include "support/emulated_cuda/cuda_runtime_api.h"

/// What cuDNN's handle points to.
struct EmulatedCudnn {
  cudaStream_t stream = nullptr;
};

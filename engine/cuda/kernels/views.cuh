#pragma once

#include "engine/cuda/kernels/common.cuh"
#include "engine/cuda/kernels/layers.h"

namespace hios::cuda {

/// Returns the position of value number `index` of a view.
__device__ __forceinline__ int offset_of(const View& view, int index) {
  int offset = view.offset;
  for (int d = view.dimensions - 1; d > 0; --d) {
    const int rest = index / view.sizes[d];
    offset += (index - rest * view.sizes[d]) * view.strides[d];
    index = rest;
  }
  return offset + index * view.strides[0];
}

/// Returns the number of the running thread, of those in blocks of kThreads.
__device__ __forceinline__ int thread_index() {
  return static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
}

}  // namespace hios::cuda

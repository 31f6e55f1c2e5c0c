#pragma once

#include <initializer_list>

#include "engine/cuda/kernels/kernels.h"

/// What the kernels share: one value or four at a time, by the same code.
namespace hios::cuda {

template <int count>
struct Values {
  float v[count];
};

template <int count>
__device__ __forceinline__ Values<count> load(const float* from) {
  Values<count> result;
  if constexpr (count == 4) {
    const float4 four = __ldg(reinterpret_cast<const float4*>(from));
    result.v[0] = four.x;
    result.v[1] = four.y;
    result.v[2] = four.z;
    result.v[3] = four.w;
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) result.v[i] = __ldg(from + i);
  }
  return result;
}

template <int count>
__device__ __forceinline__ void store(float* to, const Values<count>& values) {
  if constexpr (count == 4) {
    *reinterpret_cast<float4*>(to) =
        make_float4(values.v[0], values.v[1], values.v[2], values.v[3]);
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) to[i] = values.v[i];
  }
}

template <int count>
__device__ __forceinline__ Values<count> filled(float value) {
  Values<count> result;
#pragma unroll
  for (int i = 0; i < count; ++i) result.v[i] = value;
  return result;
}

template <int count>
__device__ __forceinline__ void add(Values<count>& sum, const Values<count>& term) {
#pragma unroll
  for (int i = 0; i < count; ++i) sum.v[i] += term.v[i];
}

template <int count>
__device__ __forceinline__ void relu(Values<count>& values) {
#pragma unroll
  for (int i = 0; i < count; ++i) values.v[i] = fmaxf(values.v[i], 0.0f);
}

constexpr int kThreads = 128;

inline unsigned blocks_for(long long threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

template <class Kernel>
cudaError_t load_kernel(Kernel kernel) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel);
}
/// The first error of several.
inline cudaError_t first_error(std::initializer_list<cudaError_t> errors) {
  for (const cudaError_t error : errors) {
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// One a file, for load_kernels().
cudaError_t load_combine();
cudaError_t load_pooling();
cudaError_t load_depthwise();
cudaError_t load_convolution();
cudaError_t load_chill();

}  // namespace hios::cuda

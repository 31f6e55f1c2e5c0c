#pragma once

#include <initializer_list>

#include <cuda_fp16.h>

#include "engine/cuda/kernels/kernels.h"

/// What the kernels share: one value or four at a time, floats or halves, by the same code.
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
__device__ __forceinline__ Values<count> load(const __half* from) {
  Values<count> result;
  if constexpr (count == 4) {
    const uint2 eight_bytes = __ldg(reinterpret_cast<const uint2*>(from));
    __half four[4];
    memcpy(four, &eight_bytes, sizeof(four));
#pragma unroll
    for (int i = 0; i < 4; ++i) result.v[i] = __half2float(four[i]);
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) result.v[i] = __half2float(__ldg(from + i));
  }
  return result;
}

__device__ __forceinline__ void store_one(float* to, float value) { *to = value; }
__device__ __forceinline__ void store_one(__half* to, float value) { *to = __float2half_rn(value); }

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
__device__ __forceinline__ void store(__half* to, const Values<count>& values) {
  if constexpr (count == 4) {
    __half four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) four[i] = __float2half_rn(values.v[i]);
    uint2 eight_bytes;
    memcpy(&eight_bytes, four, sizeof(four));
    *reinterpret_cast<uint2*>(to) = eight_bytes;
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) store_one(to + i, values.v[i]);
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

/// Calls `launch` with a value of the element's type, whose type is what matters.
template <class Launch>
cudaError_t with_element(Element element, Launch launch) {
  return element == Element::kHalf ? launch(__half{}) : launch(float{});
}

/// Every launch goes through here: the one line that only a CUDA compiler reads, in whose place the
/// tests run a kernel's threads on the host (tests/support/emulated_cuda).
template <class... Parameters, class... Arguments>
cudaError_t queue_kernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                         const Arguments&... arguments) {
#ifdef __CUDACC__
  kernel<<<grid, block, 0, stream>>>(arguments...);
  return cudaGetLastError();
#else
  return emulated_launch(grid, block, stream, [&] { kernel(arguments...); });
#endif
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
cudaError_t load_cache_flush();

}  // namespace hios::cuda

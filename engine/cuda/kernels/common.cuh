#pragma once

#include <initializer_list>

#include <cuda_fp16.h>

#include "engine/cuda/kernels/kernels.h"

/// Code shared by the kernels: one value or four at a time, floats or halves, by the same code.
namespace hios::cuda {

template <int count>
struct Values {
  float v[count];
};

/// One value or four in their memory format: the result of a load, before it is widened.
template <class T, int count>
struct PackOf {
  static_assert(count == 1);
  using type = T;
};
template <>
struct PackOf<float, 4> {
  using type = float4;
};
template <>
struct PackOf<__half, 4> {
  using type = uint2;
};
template <class T, int count>
using Pack = typename PackOf<T, count>::type;

template <int count, class T>
__device__ __forceinline__ Pack<T, count> load_pack(const T* from) {
  return __ldg(reinterpret_cast<const Pack<T, count>*>(from));
}

__device__ __forceinline__ Values<1> widen(float value) { return {{value}}; }
__device__ __forceinline__ Values<1> widen(__half value) { return {{__half2float(value)}}; }
__device__ __forceinline__ Values<4> widen(const float4& four) {
  return {{four.x, four.y, four.z, four.w}};
}
__device__ __forceinline__ Values<4> widen(const uint2& eight_bytes) {
  __half four[4];
  memcpy(four, &eight_bytes, sizeof(four));
  Values<4> result;
#pragma unroll
  for (int i = 0; i < 4; ++i) result.v[i] = __half2float(four[i]);
  return result;
}

template <int count, class T>
__device__ __forceinline__ Values<count> load(const T* from) {
  return widen(load_pack<count>(from));
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
/// Minimum number of blocks of kThreads that share a multiprocessor. It is stated where the
/// compiler would otherwise use more registers and let fewer in.
constexpr int kLeastBlocks = 12;

inline unsigned blocks_for(long long threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

/// Calls `launch` with a value of the element's type; only the type matters.
template <class Launch>
cudaError_t with_element(Element element, Launch launch) {
  return element == Element::kHalf ? launch(__half{}) : launch(float{});
}

/// Queues a kernel; returns the launch's own status. The last error may be another's: a library's
/// call that succeeds may leave one. Every launch goes through here, and tests replace
/// cudaLaunchKernel to run a kernel's threads on the host (tests/support/emulated_cuda).
template <class... Parameters, class... Arguments>
cudaError_t queue_kernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                         const Arguments&... arguments) {
  const auto launch = [&](Parameters... values) {
    void* all[] = {&values...};
    return cudaLaunchKernel(kernel, grid, block, all, 0, stream);
  };
  return launch(arguments...);
}

template <class Kernel>
cudaError_t load_kernel(Kernel kernel) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel);
}
/// Returns the first error of several.
inline cudaError_t first_error(std::initializer_list<cudaError_t> errors) {
  for (const cudaError_t error : errors) {
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// One for each file, for load_kernels().
cudaError_t load_combine();
cudaError_t load_pooling();
cudaError_t load_depthwise();
cudaError_t load_convolution();
cudaError_t load_cache_flush();
cudaError_t load_pointwise();
cudaError_t load_moves();
cudaError_t load_reductions();
cudaError_t load_normalization();
cudaError_t load_resize();
cudaError_t load_transposed();
cudaError_t load_product();

}  // namespace hios::cuda

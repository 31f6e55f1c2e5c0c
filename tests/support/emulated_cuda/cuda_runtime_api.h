#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>

/// Replaces CUDA's header of this name, so that engine/cuda/kernels/*.cu and the code that binds
/// them compile for the host and run there, on any machine. Queued work runs at once; a block's
/// threads run one after another, each until it ends or reaches __syncthreads().
///
/// It shows whether indices, windows, tails, roundings, scratch and the order of sums are right. It
/// cannot show races (threads never overlap, nor do blocks), effects of the memory model, alignment
/// of stores (that of loads is checked), the order of streams and events, limits of registers and
/// shared memory, or anything of cuDNN and cuBLASLt.

using cudaError_t = int;
inline constexpr cudaError_t cudaSuccess = 0, cudaErrorMemoryAllocation = 2,
                             cudaErrorLaunchFailure = 719;
using cudaStream_t = struct EmulatedStream*;
using cudaEvent_t = struct EmulatedEvent*;
using cudaGraph_t = struct EmulatedGraph*;
using cudaGraphExec_t = struct EmulatedGraphExec*;

struct dim3 {
  dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z) {}
  unsigned x, y, z;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))

/// Indices of the running thread.
inline dim3 gridDim, blockDim, blockIdx, threadIdx;
void __syncthreads();
[[noreturn]] inline void __trap() { std::abort(); }
/// A GPU refuses addresses that are not aligned to the value's size; the host would accept them.
template <class T>
T __ldg(const T* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(T) != 0) std::abort();
  return *from;
}
template <class T>
T __ldcg(const T* from) {
  return *from;
}
using std::max;
using std::min;

/// Runs all threads of all blocks. Fails if some threads of a block reach a barrier and others do
/// not.
cudaError_t emulated_launch(dim3 grid, dim3 block, cudaStream_t stream,
                            const std::function<void()>& kernel);

struct cudaFuncAttributes {};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, Kernel) {
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "an emulated failure"; }
inline const char* cudaGetErrorName(cudaError_t) { return "emulated"; }

// Memory: the host's, aligned as CUDA's.
inline cudaError_t cudaMalloc(void** data, std::size_t size_bytes) {
  *data = std::aligned_alloc(256, (size_bytes + 255) / 256 * 256);
  return *data != nullptr || size_bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void* data) {
  std::free(data);
  return cudaSuccess;
}
inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocMapped = 2;
inline cudaError_t cudaHostAlloc(void** data, std::size_t size, unsigned) {
  return cudaMalloc(data, size);
}
inline cudaError_t cudaHostGetDevicePointer(void** mapped, void* host, unsigned) {
  *mapped = host;
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* data) { return cudaFree(data); }
inline cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
  *left = *all = 0;
  return cudaSuccess;
}
enum cudaMemcpyKind { cudaMemcpyDefault };
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size_bytes,
                                   cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, size_bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size_bytes, cudaStream_t) {
  std::memset(to, value, size_bytes);
  return cudaSuccess;
}

// Streams, events and graphs: nothing waits, as nothing is ever under way.
inline constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2,
                          cudaEventDefault = 0;
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned) { return cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

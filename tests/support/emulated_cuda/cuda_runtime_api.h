#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>
#include <tuple>
#include <utility>

/// Replaces CUDA's header of this name, so that all of engine/cuda compiles for the host and runs
/// there, on any machine: the runtime (runtime/), our kernels (runtime/launch.cpp), cuDNN and
/// cuBLASLt (libraries/). runtime/settings.h says how an emulated device is set up.
///
/// It shows whether calls are legal and in an order that CUDA promises to keep: queues run as late
/// or in as random an order as they may. It shows whether indices, windows, tails, roundings,
/// scratch, alignments and the order of sums are right. It cannot show races inside a block between
/// two barriers, effects of the memory model, limits of registers and shared memory, which engines
/// the libraries of NVIDIA offer and how exact they are, or any time.

enum cudaError : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorDeviceUninitialized = 201,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureUnmatched = 903,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorCapturedEvent = 907
};
using cudaError_t = cudaError;
using cudaStream_t = struct EmulatedStream*;
using cudaEvent_t = struct EmulatedEvent*;
using cudaGraph_t = struct EmulatedGraph*;
using cudaGraphExec_t = struct EmulatedGraphExec*;

#define CUDART_VERSION 13000

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

// The language of kernels.
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))

/// Indices of the running thread.
inline dim3 gridDim, blockDim, blockIdx, threadIdx;
/// A barrier of the block's threads. Each place in a source is one, which a test can take away
/// (runtime/barriers.h).
void __syncthreads(std::source_location place = std::source_location::current());
/// Ends the kernel with a fault of the device.
[[noreturn]] void emulated_fault(cudaError_t error);
[[noreturn]] inline void __trap() { emulated_fault(cudaErrorLaunchFailure); }
/// A GPU refuses addresses that are not aligned to the value's size; the host would accept them.
template <class T>
T __ldg(const T* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(T) != 0) {
    emulated_fault(cudaErrorMisalignedAddress);
  }
  return *from;
}
template <class T>
T __ldcg(const T* from) {
  return __ldg(from);
}
using std::max;
using std::min;

/// Queues a kernel; without a stream, runs it at once. Blocks and threads run in the order that the
/// settings name, each thread until it ends or reaches a barrier. It is a fault if some threads of
/// a block reach a barrier and others do not.
cudaError_t emulated_launch(dim3 grid, dim3 block, cudaStream_t stream,
                            std::function<void()> kernel);

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t, cudaStream_t stream) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return emulated_launch(
        grid, block, stream,
        [kernel, values = std::tuple<Parameters...>(*static_cast<Parameters*>(arguments[i])...)] {
          std::apply(kernel, values);
        });
  }
  (std::index_sequence_for<Parameters...>());
}

struct cudaFuncAttributes {};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, Kernel) {
  return cudaSuccess;
}

// Errors and the device.
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem;
  int major, minor, multiProcessorCount, l2CacheSize, canMapHostMemory;
};
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device);
cudaError_t cudaDriverGetVersion(int* version);

// Memory.
inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocMapped = 2;
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
cudaError_t cudaMalloc(void** data, std::size_t size_bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaHostAlloc(void** data, std::size_t size_bytes, unsigned flags);
cudaError_t cudaHostGetDevicePointer(void** mapped, void* host, unsigned flags);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size_bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size_bytes, cudaStream_t stream);

// Streams and events.
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0, cudaEventDisableTiming = 2,
                          cudaEventInterprocess = 4;
inline constexpr unsigned cudaEventRecordDefault = 0, cudaEventRecordExternal = 1;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to);

// Recording.
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

// Sharing with other processes.
struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaIpcEventHandle_t {
  char reserved[64];
};
inline constexpr unsigned cudaIpcMemLazyEnablePeerAccess = 1;
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data);
cudaError_t cudaIpcOpenMemHandle(void** data, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void* data);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

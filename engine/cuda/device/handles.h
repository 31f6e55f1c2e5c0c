#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include "mpi/accelerator.h"

/// Owners of the handles of the CUDA libraries, and the conversion of their errors to ours.
namespace hios::cuda {

/// Clears the last error. The runtime keeps an error until it is queried, also of calls inside the
/// libraries; a reported one must not be mistaken for that of the next launch.
inline void forget_last_error() noexcept { (void)cudaGetLastError(); }

inline void check(cudaError_t status, std::string_view call, std::string_view doing) {
  if (status == cudaSuccess) return;
  forget_last_error();
  const std::string text = "CUDA, " + std::string(doing) + ": " + cudaGetErrorString(status) +
                           " (" + cudaGetErrorName(status) + " of " + std::string(call) + ")";
  if (status == cudaErrorMemoryAllocation) throw mpi::DeviceMemoryError(text);
  throw mpi::DeviceError(text);
}
inline void check(cudnnStatus_t status, std::string_view call, std::string_view doing) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  forget_last_error();
  std::array<char, 256> reason{};
  cudnnGetLastErrorString(reason.data(), reason.size());
  throw mpi::DeviceError("cuDNN, " + std::string(doing) + ": " + cudnnGetErrorString(status) +
                         " (of " + std::string(call) + ")" + (reason[0] == '\0' ? "" : ": ") +
                         printable(reason.data(), 200));
}
inline void check(cublasStatus_t status, std::string_view call, std::string_view doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  forget_last_error();
  throw mpi::DeviceError("cuBLASLt, " + std::string(doing) + ": " +
                         cublasLtGetStatusString(status) + " (of " + std::string(call) + ")");
}

/// HIOS_CUDA(cudaMalloc(…), "what we were doing"): any call of the three libraries. Throws
/// DeviceError with the library's message, which includes the name of the function without its
/// arguments.
#define HIOS_CUDA(call, doing) ::hios::cuda::check((call), ::hios::cuda::name_of_call(#call), doing)

constexpr std::string_view name_of_call(std::string_view call) {
  return call.substr(0, call.find('('));
}

/// Ignores an error, for destructors. The call that caused it has reported it, or the process is
/// ending and the driver is gone.
inline void swallow(cudaError_t) noexcept { forget_last_error(); }
inline void swallow(cudnnStatus_t) noexcept { forget_last_error(); }
inline void swallow(cublasStatus_t) noexcept { forget_last_error(); }

/// The owner of a handle that is a pointer; `destroy` releases it.
template <class Handle, auto destroy>
class Unique {
 public:
  Unique() = default;
  explicit Unique(Handle handle) : handle_(handle) {}
  Unique(Unique&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Unique& operator=(Unique&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Unique() {
    if (handle_ != nullptr) swallow(destroy(handle_));
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Handle handle_ = nullptr;
};

using Stream = Unique<cudaStream_t, cudaStreamDestroy>;
using Event = Unique<cudaEvent_t, cudaEventDestroy>;
using Graph = Unique<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Unique<cudaGraphExec_t, cudaGraphExecDestroy>;
using CudnnHandle = Unique<cudnnHandle_t, cudnnDestroy>;
using TensorDescriptor = Unique<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;
using FilterDescriptor = Unique<cudnnFilterDescriptor_t, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor =
    Unique<cudnnConvolutionDescriptor_t, cudnnDestroyConvolutionDescriptor>;
using ActivationDescriptor = Unique<cudnnActivationDescriptor_t, cudnnDestroyActivationDescriptor>;
using LtHandle = Unique<cublasLtHandle_t, cublasLtDestroy>;
using LtMatmulDescriptor = Unique<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using LtLayout = Unique<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using LtPreference = Unique<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

/// Calls `create(&handle, arguments…)` and owns the result.
template <class Owner, class Create, class... Arguments>
Owner make(std::string_view doing, Create create, Arguments... arguments) {
  decltype(std::declval<Owner>().get()) handle = nullptr;
  check(create(&handle, arguments...), "a constructor", doing);
  return Owner(handle);
}

/// Makes a stream that does not wait for the default stream; or an event without timing, which
/// costs less.
inline Stream make_stream() {
  return make<Stream>("making a stream", cudaStreamCreateWithFlags,
                      unsigned{cudaStreamNonBlocking});
}
inline Event make_order_event() {
  return make<Event>("making an event", cudaEventCreateWithFlags, unsigned{cudaEventDisableTiming});
}
inline Event make_timed_event() {
  return make<Event>("making an event", cudaEventCreateWithFlags, unsigned{cudaEventDefault});
}

}  // namespace hios::cuda

#include "engine/cuda/device/memory.h"

#include <algorithm>
#include <string>

#include "engine/cuda/device/gpu.h"
#include "engine/cuda/device/handles.h"
#include "hios/base/size_text.h"

namespace hios::cuda {
namespace {

/// CUDA cuts small blocks out of larger ones of this size and shares only the latter. A shared
/// block is a multiple of it, so that other processes see nothing else.
#ifndef HIOS_SHARED_GRAIN  // a test's device has guards at the end of each block, as it was asked for
#define HIOS_SHARED_GRAIN (Bytes{2} << 20)
#endif
constexpr Bytes kSharedGrain = HIOS_SHARED_GRAIN;

Bytes rounded(Bytes size_bytes, Bytes grain) {
  return std::max((size_bytes + grain - 1) / grain, Bytes{1}) * grain;
}

[[noreturn]] void refuse(cudaError_t status, Bytes asked, std::string_view what) {
  (void)cudaGetLastError();  // reported here; the context remains usable
  std::string text = "no GPU memory for " + std::string(what) + ": " + size_text(asked) + " asked";
  if (status == cudaErrorMemoryAllocation) {
    const Bytes left = free_memory();
    text += ", " + size_text(left) + " free";
    if (asked > left) text += ", " + size_text(asked - left) + " missing";
  } else {
    text += std::string(" (") + cudaGetErrorString(status) + ")";
  }
  throw RunError(text);
}

}  // namespace

SharedBlocks::InBlock SharedBlocks::find(const std::byte* address) const {
  auto* const wanted = const_cast<std::byte*>(address);
  auto above = sizes_.upper_bound(wanted);
  if (above != sizes_.begin()) {
    const auto& [block, size_bytes] = *std::prev(above);
    const auto offset = static_cast<Bytes>(wanted - block);
    if (offset < size_bytes) return {block, offset};
  }
  throw RunError(
      "CUDA: memory that another rank was to be shown is not one of this rank's buffers");
}

DeviceBlock::DeviceBlock(Bytes size_bytes, std::string_view what, SharedBlocks* shared)
    : size_bytes_(size_bytes), shared_(shared) {
  const Bytes asked = rounded(size_bytes, shared != nullptr ? kSharedGrain : 1);
  void* data = nullptr;
  if (const cudaError_t status = cudaMalloc(&data, asked); status != cudaSuccess) {
    refuse(status, asked, what);
  }
  data_ = static_cast<std::byte*>(data);
  if (shared_ != nullptr) shared_->add(data_, asked);
}

DeviceBlock::~DeviceBlock() {
  if (shared_ != nullptr) shared_->remove(data_);
  swallow(cudaFree(data_));
}

PinnedBlock::PinnedBlock(Bytes size_bytes, std::string_view what, bool mapped) {
  void* data = nullptr;
  if (const cudaError_t status = cudaHostAlloc(&data, std::max(size_bytes, Bytes{1}),
                                               mapped ? cudaHostAllocMapped : cudaHostAllocDefault);
      status != cudaSuccess) {
    (void)cudaGetLastError();
    throw RunError("no pinned host memory for " + std::string(what) + ": " + size_text(size_bytes) +
                   " asked (" + cudaGetErrorString(status) +
                   "); raise the limit of locked memory (ulimit -l)");
  }
  data_ = static_cast<std::byte*>(data);
}

std::byte* PinnedBlock::on_device() const {
  void* mapped = nullptr;
  HIOS_CUDA(cudaHostGetDevicePointer(&mapped, data_, 0), "mapping host memory");
  return static_cast<std::byte*>(mapped);
}

PinnedBlock::~PinnedBlock() { swallow(cudaFreeHost(data_)); }

Bytes free_memory() {
  std::size_t left = 0, all = 0;
  HIOS_CUDA(cudaMemGetInfo(&left, &all), "asking for free memory");
  return left;
}

}  // namespace hios::cuda

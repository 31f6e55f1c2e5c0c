// Allocation, copies and fills. Memory that is freed waits for all queues, as CUDA does.
#include "support/emulated_cuda/runtime/memory.h"

#include <cstdlib>
#include <memory>

#include "support/emulated_cuda/runtime/streams.h"

using namespace hios::cuda_emulation;

namespace {

constexpr std::size_t kHostAlignment = 256;

/// Copies between memories that the device reaches; `staged` are the bytes of a pageable source.
void copy_bytes(void* to, const void* from, std::size_t size_bytes,
                const std::shared_ptr<std::byte[]>& staged) {
  require_on_device(to, size_bytes, 1);
  if (!staged) require_on_device(from, size_bytes, 1);
  std::memmove(to, staged ? staged.get() : from, size_bytes);
}

}  // namespace

cudaError_t cudaMalloc(void** data, std::size_t size_bytes) {
  const std::unique_lock held(Device::get().lock());
  if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) return error;
  *data = size_bytes == 0 ? nullptr : take_block(size_bytes, /*hidden=*/false);
  return answer(*data != nullptr || size_bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* data) {
  std::unique_lock held(Device::get().lock());
  if (data == nullptr) return answer(cudaSuccess);
  if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) return error;
  Device::get().drain_all(held);
  give_block(data);
  return answer(cudaSuccess);
}

cudaError_t cudaHostAlloc(void** data, std::size_t size_bytes, unsigned) {
  const std::unique_lock held(Device::get().lock());
  if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) return error;
  if (!settings().pinned) return answer(cudaErrorMemoryAllocation);
  *data = nullptr;
  // The size is not rounded, so that the address sanitizer knows where it ends.
  if (posix_memalign(data, kHostAlignment, size_bytes) != 0) {
    return answer(cudaErrorMemoryAllocation);
  }
  std::memset(*data, 0xff, size_bytes);
  add_range(*data, size_bytes, MemoryKind::kPinned);
  return answer(cudaSuccess);
}

cudaError_t cudaHostGetDevicePointer(void** mapped, void* host, unsigned) {
  const std::unique_lock held(Device::get().lock());
  if (kind_of(host, 1) != MemoryKind::kPinned) return answer(cudaErrorInvalidValue);
  *mapped = host;
  return answer(cudaSuccess);
}

cudaError_t cudaFreeHost(void* data) {
  std::unique_lock held(Device::get().lock());
  if (data == nullptr) return answer(cudaSuccess);
  if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) return error;
  Device::get().drain_all(held);
  if (remove_range(data) == 0) return answer(cudaErrorInvalidValue);
  std::free(data);
  return answer(cudaSuccess);
}

cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
  const std::unique_lock held(Device::get().lock());
  *left = memory_left();
  *all = settings().memory_bytes;
  return answer(cudaSuccess);
}

// A source that is pageable is read before the call returns; for a target that is, the call waits.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size_bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  std::unique_lock held(Device::get().lock());
  const bool from_pageable = kind_of(from, size_bytes) == MemoryKind::kPageable;
  const bool to_pageable = kind_of(to, size_bytes) == MemoryKind::kPageable;
  if ((from_pageable || to_pageable) && is_capturing(stream)) return invalidate(stream);
  if (to_pageable) {
    if (stream != nullptr) Device::get().drain(held, queue_of(stream));
    if (kind_of(from, size_bytes) == MemoryKind::kOutside) return answer(cudaErrorInvalidValue);
    if (Device::get().sticky() == cudaSuccess) std::memmove(to, from, size_bytes);
    return answer(cudaSuccess);
  }
  std::shared_ptr<std::byte[]> staged;
  if (from_pageable) {
    staged = std::make_shared<std::byte[]>(size_bytes);
    std::memcpy(staged.get(), from, size_bytes);
  }
  return enqueue(stream, {"copy " + std::to_string(size_bytes),
                          [=] { copy_bytes(to, from, size_bytes, staged); }});
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size_bytes, cudaStream_t stream) {
  const std::unique_lock held(Device::get().lock());
  return enqueue(stream, {"fill " + std::to_string(size_bytes), [=] {
                            require_on_device(to, size_bytes, 1);
                            std::memset(to, value, size_bytes);
                          }});
}

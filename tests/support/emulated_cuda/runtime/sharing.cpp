// Blocks and events of other processes. A handle says where the block lies in its process's file;
// mapping one's own is refused, as CUDA refuses it.
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>

#include "support/emulated_cuda/runtime/handles.h"
#include "support/emulated_cuda/runtime/machine.h"
#include "support/emulated_cuda/runtime/memory.h"
#include "support/emulated_cuda/runtime/streams.h"

using namespace hios::cuda_emulation;

namespace {

template <class Handle>
Handle handle_of(Exported exported) {
  static_assert(sizeof(Exported) <= sizeof(Handle));
  exported.gpu = current_gpu();
  Handle handle{};
  std::memcpy(&handle, &exported, sizeof(exported));
  return handle;
}

template <class Handle>
Exported exported_of(const Handle& handle) {
  Exported exported;
  std::memcpy(static_cast<void*>(&exported), &handle, sizeof(exported));
  return exported;
}

/// Maps what a handle names; null if it names nothing that this process can map: it must see the
/// GPU.
void* map(const Exported& exported) {
  if (exported.size_bytes == 0 || exported.process == getpid()) return nullptr;
  if (!sees_gpu(exported.gpu)) return nullptr;
  return map_exported(exported);
}

}  // namespace

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data) {
  const std::unique_lock held(Device::get().lock());
  if (!settings().ipc) return answer(cudaErrorNotSupported);
  const Exported exported = export_block(data);
  if (exported.size_bytes == 0) return answer(cudaErrorInvalidValue);
  *handle = handle_of<cudaIpcMemHandle_t>(exported);
  return answer(cudaSuccess);
}

cudaError_t cudaIpcOpenMemHandle(void** data, cudaIpcMemHandle_t handle, unsigned) {
  const std::unique_lock held(Device::get().lock());
  const Exported exported = exported_of(handle);
  *data = map(exported);
  if (*data == nullptr) return answer(cudaErrorInvalidResourceHandle);
  add_range(*data, exported.size_bytes, MemoryKind::kMapped);
  return answer(cudaSuccess);
}

cudaError_t cudaIpcCloseMemHandle(void* data) {
  std::unique_lock held(Device::get().lock());
  Device::get().drain_all(held);
  const std::size_t size_bytes = remove_range(data);
  if (size_bytes == 0) return answer(cudaErrorInvalidValue);
  unmap_exported(data, size_bytes);
  return answer(cudaSuccess);
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  const std::unique_lock held(Device::get().lock());
  if (!settings().ipc) return answer(cudaErrorNotSupported);
  if (event->shared_page == nullptr) return answer(cudaErrorInvalidResourceHandle);
  *handle = handle_of<cudaIpcEventHandle_t>(export_block(event->shared_page));
  return answer(cudaSuccess);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  const std::unique_lock held(Device::get().lock());
  const Exported exported = exported_of(handle);
  void* const page = map(exported);
  if (page == nullptr) return answer(cudaErrorInvalidResourceHandle);
  auto made = std::make_unique<EmulatedEvent>();
  made->flags = cudaEventDisableTiming | cudaEventInterprocess;
  made->state = {static_cast<EventState*>(page),
                 [size = exported.size_bytes](EventState* state) { unmap_exported(state, size); }};
  *event = made.release();
  return answer(cudaSuccess);
}

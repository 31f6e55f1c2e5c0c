#include "engine/cuda/device/device.h"

#include <charconv>
#include <utility>

#include "engine/cuda/device/nccl.h"

namespace hios::cuda {
namespace {

class CudaEvent final : public mpi::DeviceEvent {
 public:
  explicit CudaEvent(Event event) : event_(std::move(event)) {}
  bool done() override {
    const cudaError_t status = cudaEventQuery(event_.get());
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();  // not an error, and must not be mistaken for a later call's
      return false;
    }
    check(status, "cudaEventQuery", "asking whether a transfer has ended");
    return true;
  }
  cudaEvent_t get() const { return event_.get(); }

  mpi::Queue queue = mpi::Queue::kWork;  ///< of its last record
  std::size_t work = 0;                  ///< the last work there before that record

 private:
  Event event_;
};

CudaEvent& cuda_event(mpi::DeviceEvent& event) { return static_cast<CudaEvent&>(event); }
cudaEvent_t handle_of(mpi::DeviceEvent& event) { return cuda_event(event).get(); }

/// Memory within a peer's block; keeps the whole block mapped.
class MappedMemory final : public mpi::DeviceMemory {
 public:
  MappedMemory(std::shared_ptr<CudaDevice::Mapping> mapping, std::byte* data)
      : mapping_(std::move(mapping)), data_(data) {}
  std::byte* data() override { return data_; }

 private:
  std::shared_ptr<CudaDevice::Mapping> mapping_;
  std::byte* data_;
};

/// Parses "HANDLE+OFFSET".
std::pair<std::string, Bytes> parse_exported(const std::string& exported) {
  const std::size_t plus = exported.find('+');
  Bytes offset = 0;
  if (plus != std::string::npos) {
    const char* const end = exported.data() + exported.size();
    const auto [stopped, error] = std::from_chars(exported.data() + plus + 1, end, offset);
    if (error == std::errc() && stopped == end) return {exported.substr(0, plus), offset};
  }
  throw RunError("CUDA: " + quote(exported) + " names no memory of another rank");
}

}  // namespace

class CudaDevice::Mapping {
 public:
  explicit Mapping(const std::string& handle_text) {
    cudaIpcMemHandle_t handle;
    from_hex(handle_text, &handle, sizeof(handle));
    HIOS_CUDA(cudaIpcOpenMemHandle(&base_, handle, cudaIpcMemLazyEnablePeerAccess),
              "mapping another rank's GPU memory");
  }
  ~Mapping() { swallow(cudaIpcCloseMemHandle(base_)); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::byte* base() const { return static_cast<std::byte*>(base_); }

 private:
  void* base_ = nullptr;
};

std::unique_ptr<mpi::DeviceMemory> CudaDevice::make_pinned(Bytes size_bytes,
                                                           const std::string& what) {
  return std::make_unique<PinnedBlock>(size_bytes, what);
}

std::unique_ptr<mpi::DeviceMemory> CudaDevice::make_memory(Bytes size_bytes,
                                                           const std::string& what) {
  return std::make_unique<DeviceBlock>(size_bytes, what, &shared_);
}

std::unique_ptr<mpi::DeviceEvent> CudaDevice::make_event(bool shared) {
  const unsigned flags =
      shared ? cudaEventDisableTiming | cudaEventInterprocess : cudaEventDisableTiming;
  return std::make_unique<CudaEvent>(
      make<Event>("making an event", cudaEventCreateWithFlags, flags));
}

void CudaDevice::record(mpi::DeviceEvent& event, mpi::Queue queue) {
  cuda_event(event).queue = queue;
  cuda_event(event).work = streams_.last_work(queue);
  HIOS_CUDA(cudaEventRecord(handle_of(event), streams_.queue(queue)), "ordering a transfer");
}

void CudaDevice::wait(mpi::DeviceEvent& event, mpi::Queue queue) {
  if (queue == mpi::Queue::kWork) {
    streams_.note_joined(cuda_event(event).queue, cuda_event(event).work);
  } else {
    streams_.note_work(queue);
  }
  HIOS_CUDA(cudaStreamWaitEvent(streams_.queue(queue), handle_of(event), 0), "ordering a transfer");
}

void CudaDevice::copy(std::byte* to, const std::byte* from, Bytes size_bytes, mpi::Queue queue) {
  streams_.note_work(queue);
  HIOS_CUDA(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, streams_.queue(queue)),
            "copying a tensor");
}

void CudaDevice::fill(std::byte* to, std::byte value, Bytes size_bytes, mpi::Queue queue) {
  streams_.note_work(queue);
  HIOS_CUDA(cudaMemsetAsync(to, std::to_integer<int>(value), size_bytes, streams_.queue(queue)),
            "overwriting parameters");
}

std::string CudaDevice::export_memory(const std::byte* address) {
  const SharedBlocks::InBlock in_block = shared_.find(address);
  cudaIpcMemHandle_t handle;
  HIOS_CUDA(cudaIpcGetMemHandle(&handle, in_block.block), "sharing GPU memory with another rank");
  return to_hex(&handle, sizeof(handle)) + "+" + std::to_string(in_block.offset);
}

std::string CudaDevice::export_event(mpi::DeviceEvent& event) {
  cudaIpcEventHandle_t handle;
  HIOS_CUDA(cudaIpcGetEventHandle(&handle, handle_of(event)), "sharing an event with another rank");
  return to_hex(&handle, sizeof(handle));
}

std::unique_ptr<mpi::DeviceMemory> CudaDevice::import_memory(const std::string& exported) {
  const auto [handle, offset] = parse_exported(exported);
  std::weak_ptr<Mapping>& known = mapped_[handle];
  std::shared_ptr<Mapping> mapping = known.lock();
  if (!mapping) known = mapping = std::make_shared<Mapping>(handle);
  std::byte* const data = mapping->base() + offset;
  return std::make_unique<MappedMemory>(std::move(mapping), data);
}

std::unique_ptr<mpi::DeviceEvent> CudaDevice::import_event(const std::string& exported) {
  cudaIpcEventHandle_t handle;
  from_hex(exported, &handle, sizeof(handle));
  return std::make_unique<CudaEvent>(
      make<Event>("opening another rank's event", cudaIpcOpenEventHandle, handle));
}

void CudaDevice::write(std::byte* to, const std::byte* from_host, Bytes size_bytes) {
  synchronize();
  streams_.copy(to, from_host, size_bytes);
}

void CudaDevice::read(std::byte* to_host, const std::byte* from, Bytes size_bytes) {
  synchronize();
  streams_.copy(to_host, from, size_bytes);
}

std::string CudaDevice::group_library() { return nccl_version(); }

std::string CudaDevice::name_group() { return name_nccl_group(); }

std::unique_ptr<mpi::DeviceGroup> CudaDevice::join_group(const std::string& name,
                                                         std::size_t member, std::size_t members) {
  return join_nccl_group(name, member, members, streams_);
}

std::string to_hex(const void* bytes, std::size_t count) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
  }
  return text;
}

void from_hex(const std::string& text, void* bytes, std::size_t count) {
  bool right = text.size() == 2 * count;
  for (std::size_t i = 0; right && i < count; ++i) {
    auto* const byte = static_cast<unsigned char*>(bytes) + i;
    const char* const digits = text.data() + 2 * i;
    const auto [stopped, error] = std::from_chars(digits, digits + 2, *byte, 16);
    right = error == std::errc() && stopped == digits + 2;
  }
  if (!right) {
    throw RunError("CUDA: " + quote(text) + " is not what " + std::to_string(count) +
                   " bytes look like");
  }
}

}  // namespace hios::cuda

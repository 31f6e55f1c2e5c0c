#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "engine/cuda/device/gpu.h"
#include "engine/cuda/device/memory.h"
#include "engine/cuda/device/streams.h"
#include "mpi/accelerator.h"
#include "mpi/device_group.h"

namespace hios::cuda {

/// The GPU as transports use it. All references outlive it and the objects that it makes.
class CudaDevice final : public mpi::Accelerator, public mpi::GroupingDevice {
 public:
  CudaDevice(const Gpu& gpu, Streams& streams, SharedBlocks& shared)
      : gpu_(gpu), streams_(streams), shared_(shared) {}

  const std::string& identity() const override { return gpu_.identity; }

  std::unique_ptr<mpi::DeviceMemory> make_pinned(Bytes size_bytes,
                                                 const std::string& what) override;
  std::unique_ptr<mpi::DeviceMemory> make_memory(Bytes size_bytes,
                                                 const std::string& what) override;

  mpi::Queue in_queue(Rank peer) override { return streams_.in_queue(peer); }
  mpi::Queue load_queue(std::size_t lane) override { return streams_.load_queue(lane); }
  std::unique_ptr<mpi::DeviceEvent> make_event(bool shared) override;
  void record(mpi::DeviceEvent& event, mpi::Queue queue) override;
  void wait(mpi::DeviceEvent& event, mpi::Queue queue) override;
  void copy(std::byte* to, const std::byte* from, Bytes size_bytes, mpi::Queue queue) override;
  void fill(std::byte* to, std::byte value, Bytes size_bytes, mpi::Queue queue) override;

  std::string export_memory(const std::byte* address) override;
  std::string export_event(mpi::DeviceEvent& event) override;
  std::unique_ptr<mpi::DeviceMemory> import_memory(const std::string& exported) override;
  std::unique_ptr<mpi::DeviceEvent> import_event(const std::string& exported) override;

  void synchronize() override { streams_.synchronize(); }
  void write(std::byte* to, const std::byte* from_host, Bytes size_bytes) override;
  void read(std::byte* to_host, const std::byte* from, Bytes size_bytes) override;

  std::string group_library() override;
  std::string name_group() override;
  std::unique_ptr<mpi::DeviceGroup> join_group(const std::string& name, std::size_t member,
                                               std::size_t members) override;

  /// A peer's block, mapped here; unmapped with its last user.
  class Mapping;

 private:
  const Gpu& gpu_;
  Streams& streams_;
  SharedBlocks& shared_;
  // by exported handle: CUDA maps a block once, and many buffers lie in it
  std::map<std::string, std::weak_ptr<Mapping>> mapped_;
};

/// Writes bytes as text without line breaks, and reads them. from_hex throws RunError if the text
/// is not such a text, or not of that many bytes.
std::string to_hex(const void* bytes, std::size_t count);
void from_hex(const std::string& text, void* bytes, std::size_t count);

}  // namespace hios::cuda

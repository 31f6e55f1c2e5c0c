#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>

#include "engine/backend/backend.h"
#include "mpi/accelerator.h"

/// Memory of the GPU, and host memory that it copies from and to, with their owners.
namespace hios::cuda {

/// The blocks of this process that other processes may map. CUDA shares whole blocks, so an address
/// is exported as a block and an offset into it. Outlives the blocks.
class SharedBlocks {
 public:
  struct InBlock {
    std::byte* block;
    Bytes offset;
  };
  void add(std::byte* block, Bytes size_bytes) { sizes_[block] = size_bytes; }
  void remove(std::byte* block) { sizes_.erase(block); }
  /// Returns the block of an address. Throws RunError if the address lies in none.
  InBlock find(const std::byte* address) const;

 private:
  std::map<std::byte*, Bytes> sizes_;
};

/// A block of cudaMalloc, both a Buffer of the engine and DeviceMemory of a transport.
class DeviceBlock final : public Buffer, public mpi::DeviceMemory {
 public:
  /// Allocates; registers the block with `shared` during its lifetime, if given. Throws RunError
  /// that names the size, the purpose `what` and the free memory.
  DeviceBlock(Bytes size_bytes, std::string_view what, SharedBlocks* shared = nullptr);
  ~DeviceBlock() override;
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;

  std::byte* data() override { return data_; }
  Bytes size_bytes() const override { return size_bytes_; }

 private:
  std::byte* data_ = nullptr;
  Bytes size_bytes_;
  SharedBlocks* shared_;
};

/// Pinned host memory, which the GPU copies from and to directly.
class PinnedBlock final : public mpi::DeviceMemory {
 public:
  /// `mapped`: kernels read it, too. Throws RunError that names size, purpose and remedy.
  PinnedBlock(Bytes size_bytes, std::string_view what, bool mapped = false);
  ~PinnedBlock() override;
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;

  std::byte* data() override { return data_; }
  /// Returns the address by which kernels read it. REQUIRES: mapped.
  std::byte* on_device() const;

 private:
  std::byte* data_ = nullptr;
};

/// Returns the bytes that cudaMalloc could still give.
Bytes free_memory();

}  // namespace hios::cuda

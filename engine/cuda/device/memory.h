#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>

#include "engine/backend/backend.h"
#include "mpi/accelerator.h"

/// Memory of the GPU and what the GPU copies to and from, owned.
namespace hios::cuda {

/// The blocks of this process that other processes may be shown: CUDA shares whole blocks, so an
/// address is told as a block and a distance into it. Outlives the blocks.
class SharedBlocks {
 public:
  struct InBlock {
    std::byte* block;
    Bytes offset;
  };
  void add(std::byte* block, Bytes size_bytes) { sizes_[block] = size_bytes; }
  void remove(std::byte* block) { sizes_.erase(block); }
  /// Throws RunError: the address lies in none.
  InBlock find(const std::byte* address) const;

 private:
  std::map<std::byte*, Bytes> sizes_;
};

/// cudaMalloc. Used as a Buffer of the engine and as DeviceMemory of a transport alike.
class DeviceBlock final : public Buffer, public mpi::DeviceMemory {
 public:
  /// Known to `shared` while it lives, if given. Throws RunError that says how much was asked for
  /// what, and how much there is.
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

/// Host memory that the GPU copies from and to without a detour.
class PinnedBlock final : public mpi::DeviceMemory {
 public:
  PinnedBlock(Bytes size_bytes, std::string_view what);
  ~PinnedBlock() override;
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;

  std::byte* data() override { return data_; }

 private:
  std::byte* data_ = nullptr;
};

/// What cudaMalloc could still give.
Bytes free_memory();

}  // namespace hios::cuda

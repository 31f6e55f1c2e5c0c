#pragma once

#include <cstddef>
#include <cstdint>

/// Memory that the device knows. REQUIRES, of all functions: the device's lock is held.
namespace hios::cuda_emulation {

/// The owner of a range of memory, as the device sees it.
enum class MemoryKind { kPageable, kDevice, kPinned, kMapped, kOutside };

/// Returns the kind of the memory that holds all of the range. kOutside: it begins in memory that
/// the device knows, and ends beyond it.
MemoryKind kind_of(const void* data, std::size_t size_bytes);

/// Throws Fault if a kernel could not use all of the range by this alignment.
void require_on_device(const void* data, std::size_t size_bytes, std::size_t alignment);

/// Takes a block from the device's memory, or returns null if it is full. A `hidden` block is not
/// counted.
void* take_block(std::size_t size_bytes, bool hidden);
void give_block(void* data);
/// Returns the bytes that are left.
std::size_t memory_left();

/// Add and remove memory of hosts and of other processes. remove_range returns its size, 0 if it is
/// unknown.
void add_range(void* data, std::size_t size_bytes, MemoryKind kind);
std::size_t remove_range(void* data);

/// All that another process needs to map a block.
struct Exported {
  std::int64_t process = 0;
  int file = -1;
  int gpu = 0;  ///< of its owner
  std::uint64_t inode = 0, offset = 0, size_bytes = 0;
};
/// Describes the block that begins there; its size is 0 if none does.
Exported export_block(const void* data);
/// Maps it; returns null if that is impossible.
void* map_exported(const Exported& exported);
void unmap_exported(void* mapped, std::size_t size_bytes);

}  // namespace hios::cuda_emulation

#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

/// Memory of this backend, with one owner.
namespace hios::cpu {

struct FreeBytes {
  std::shared_ptr<std::byte> slab = {};  ///< the memory that the bytes are part of; null: none
  void operator()(std::byte* p) const {
    if (!slab) std::free(p);
  }
};
/// Memory that begins on a cache line.
using AlignedBytes = std::unique_ptr<std::byte[], FreeBytes>;

/// Allocates zeroed memory, so that its pages are touched here and not in a run. Blocks of 64 KiB
/// begin on a page, so that a disk can fill them without a copy. Large blocks ask for huge pages:
/// an inference reads all weights once, and their page walks would show. At most an eighth is added
/// to a size for that. Throws std::bad_alloc.
AlignedBytes aligned_bytes(std::size_t size);

/// Blocks that lie together in huge pages, though each is smaller than one: a request to a disk is
/// then one stretch of memory, and takes a fraction of the time. A slab is freed with the last of
/// its blocks. One thread only.
class Slabs {
 public:
  /// Returns as many zeroed bytes as aligned_bytes() does, aligned likewise.
  AlignedBytes take(std::size_t size);

 private:
  std::shared_ptr<std::byte> slab_;
  std::size_t used_ = 0;
};

/// Throws unless there is memory for the code that oneDNN generates for an operator. oneDNN itself
/// does not check that it got any, and would end the process by SIGSEGV. std::bad_alloc: none is
/// left; InputError: the system allows no code that was generated. Takes some microseconds.
void require_code_memory();

/// Working memory of one stream. Its operators run one after another, so they share one block of
/// the largest size needed, which stays in cache between them. Operators reserve their size at bind
/// and ask for the address when they run, since a later bind may move the block. An operator's data
/// do not survive it.
class Scratch {
 public:
  void reserve(std::size_t size_bytes) {
    if (size_bytes <= size_bytes_) return;
    block_ = aligned_bytes(size_bytes);
    size_bytes_ = size_bytes;
  }
  std::byte* data() const { return block_.get(); }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  AlignedBytes block_;
  std::size_t size_bytes_ = 0;
};

}  // namespace hios::cpu

#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

/// Memory of this backend, owned.
namespace hios::cpu {

struct FreeBytes {
  void operator()(std::byte* p) const { std::free(p); }
};
/// Memory that begins on a cache line, owned.
using AlignedBytes = std::unique_ptr<std::byte[], FreeBytes>;

/// Zeroed, so that its pages are touched here and not in a run. Large blocks ask for huge pages:
/// weights are read once in an inference, and their page walks would show. Throws std::bad_alloc.
AlignedBytes aligned_bytes(std::size_t size);

/// Working memory of one stream. Its operators run one after the other, so they share one block, as
/// large as the neediest wants, which stays in cache between them. Operators say at bind what they
/// need and ask where it lies when they run, for a later bind may move it. Nothing in it survives
/// an operator.
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

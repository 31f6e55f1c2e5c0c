#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hios/base/ids.h"

namespace hios {

/// Reads of files that the system makes while its callers do something else: a queue of Linux
/// (io_uring), which needs no thread for each read under way. For one thread at a time.
class ReadQueue {
 public:
  /// Returns a queue for so many reads at the same time; null where the system has none or forbids
  /// it, as many containers do. REQUIRES: most > 0.
  static std::unique_ptr<ReadQueue> open(unsigned most);
  /// Waits for the reads under way: the system writes to their memory until they end.
  ~ReadQueue();
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  /// Adds a read from `offset` on into places one after the other. It starts with the next call of
  /// start() or wait() at the latest. REQUIRES: fewer than most() are under way; the array and the
  /// memory stay until the read has ended.
  void add(int descriptor, std::span<const iovec> places, Bytes offset, std::uint64_t tag);
  /// Starts what was added. Throws RunError where the system fails.
  void start();

  /// A read that has ended: its bytes, which may be fewer than there is room for, or -errno.
  struct Ended {
    std::uint64_t tag = 0;
    ssize_t result = 0;
  };
  /// Waits for the end of any read. Throws RunError where the system fails. REQUIRES: one is under
  /// way.
  Ended wait();

  unsigned most() const { return most_; }
  unsigned under_way() const { return under_way_; }

 private:
  struct Rings;
  explicit ReadQueue(std::unique_ptr<Rings> rings, unsigned most);
  bool works();
  void enter(unsigned awaited);

  std::unique_ptr<Rings> rings_;
  unsigned most_;
  unsigned added_ = 0;  // of those under way, the ones that the system does not know yet
  unsigned under_way_ = 0;
};

}  // namespace hios

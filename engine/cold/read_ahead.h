#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "hios/base/files/direct_file.h"
#include "hios/base/ids.h"

namespace hios {

/// A stretch of a file.
struct Stretch {
  Bytes offset = 0;
  Bytes size_bytes = 0;
};

/// Reads the stretches of a file in their order, ahead of one consumer: a few threads each read a
/// chunk into a buffer of their own, so that the disk always has requests. Stretches that lie close
/// to each other in the file are read as one. Nothing is allocated after the constructor.
class ReadAhead {
 public:
  /// How the disk is asked: smaller chunks and fewer of them read slower on the disks that were
  /// tried.
  struct Options {
    Bytes chunk_bytes = Bytes{4} << 20;  ///< of a power of two of pages
    std::size_t depth = 4;               ///< chunks that are read at the same time
  };

  /// `file` outlives this. Throws RunError where the system starts no thread or memory is short.
  ReadAhead(const DirectFile& file, std::span<const Stretch> stretches, const Options& options);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Starts to read all stretches. REQUIRES: all were copied since the last begin(), or none was
  /// begun.
  void begin();
  /// Copies bytes of the file, once they were read. Throws what reading them did. REQUIRES: called
  /// by one thread, in the order of the stretches, for all their bytes.
  void copy(std::byte* to, Bytes offset, Bytes size_bytes);

  /// Returns the memory that a reader's buffers take.
  static Bytes buffer_bytes(const Options& options) { return options.chunk_bytes * options.depth; }

 private:
  struct Chunk {
    Bytes offset = 0;  // a multiple of the alignment
    Bytes needed = 0;  // its bytes that belong to stretches, from `offset` on
  };
  struct FreeBuffer {
    void operator()(std::byte* buffer) const;
  };
  /// One thread with its buffer, which reads every depth-th chunk. `turn` is even while the thread
  /// may fill the buffer, odd while the consumer may use it.
  struct Slot {
    std::unique_ptr<std::byte[], FreeBuffer> buffer;
    std::atomic<std::uint64_t> turn{0};
    std::exception_ptr failure;
    std::thread thread;
  };

  void serve(Slot& slot, std::size_t first);
  bool wait_for_turn(Slot& slot, std::uint64_t turn) const;
  void await_chunk();
  void release_chunk();
  void stop();

  const DirectFile& file_;
  const Options options_;
  std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<std::uint64_t> iteration_{0};
  std::atomic<bool> stopped_{false};
  // The consumer's.
  std::size_t chunk_ = 0;
  bool awaited_ = false;
};

}  // namespace hios

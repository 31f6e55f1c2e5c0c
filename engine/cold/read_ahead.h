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
  /// The memory that it is copied to, if it is known; outlives the reader.
  std::byte* to = nullptr;
};

/// Reads the stretches of a file in their order, ahead of one consumer: a few threads each read a
/// chunk into a buffer of their own, so that the disk always has requests. Stretches that lie close
/// to each other in the file are read as one. Whole pages of a stretch that lie in its memory as
/// they do in the file are read straight to it: on one core, a copy would take its time from the
/// operators. Nothing is allocated after the constructor, unless the file cannot be read.
class ReadAhead {
 public:
  /// How the disk is asked: smaller chunks and fewer of them read slower on the disks that were
  /// tried.
  struct Options {
    Bytes chunk_bytes = Bytes{4} << 20;  ///< of a power of two of pages
    std::size_t depth = 4;               ///< chunks that are read at the same time
    std::vector<int> cores = {};         ///< see Loader
  };

  /// `file` outlives this. Throws RunError where the system starts no thread or memory is short.
  ReadAhead(const DirectFile& file, std::span<const Stretch> stretches, const Options& options);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Starts to read all stretches; from now on their memory is written. REQUIRES: all were copied
  /// since the last begin().
  void begin();
  /// Copies bytes of the file, once they were read, but for those that are there already. Throws
  /// what reading them did. REQUIRES: called by one thread, in the order of the stretches, for all
  /// their bytes, with the memory of each where it has one.
  void copy(std::byte* to, Bytes offset, Bytes size_bytes);

  /// Returns the memory that a reader's buffers take.
  static Bytes buffer_bytes(const Options& options) { return options.chunk_bytes * options.depth; }

 private:
  struct Chunk {
    Bytes offset = 0;         // a multiple of the alignment
    Bytes needed = 0;         // its bytes that belong to stretches, from `offset` on
    std::byte* to = nullptr;  // the memory of the first `straight` of them; the others are buffered
    Bytes straight = 0;       // a multiple of the alignment
    Bytes room = 0;           // the most bytes that it can have
    Bytes end() const { return offset + needed; }
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

  void plan(std::span<const Stretch> stretches);
  void plan_straight(Bytes begin, Bytes end, std::byte* to);
  void plan_buffered(Bytes begin, Bytes end);
  Bytes next_size();
  void serve(Slot& slot, std::size_t first);
  void read(Slot& slot, const Chunk& chunk) const;
  bool wait_for_turn(Slot& slot, std::uint64_t turn) const;
  void await_chunk();
  void release_chunk();
  void stop();

  const DirectFile& file_;
  const Options options_;
  Bytes size_ = 0;  // of the next chunk that is planned
  std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<std::uint64_t> iteration_{0};
  std::atomic<bool> stopped_{false};
  // The consumer's.
  std::size_t chunk_ = 0;
  bool awaited_ = false;
};

}  // namespace hios

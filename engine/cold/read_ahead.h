#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/cold/chunk_readers.h"
#include "hios/base/files/direct_file.h"
#include "hios/base/files/read_queue.h"
#include "hios/base/ids.h"

namespace hios {

/// A stretch of a file.
struct Stretch {
  Bytes offset = 0;
  Bytes size_bytes = 0;
  /// The memory that it is copied to, if it is known; outlives the reader.
  std::byte* to = nullptr;
};

/// Reads the stretches of a file in their order, ahead of one consumer, so that the disk always has
/// requests. Stretches that lie close to each other in the file are read as one. Whole pages of a
/// stretch that lie in its memory as they do in the file are read straight to it: on one core, a
/// copy would take its time from the operators. Nothing is allocated after the constructor, unless
/// the file cannot be read.
class ReadAhead {
 public:
  /// How the disk is asked.
  struct Options {
    Bytes chunk_bytes = Bytes{4} << 20;  ///< of a power of two of pages
    std::size_t depth = 4;               ///< chunks that are read at the same time
    std::vector<int> cores = {};         ///< see Loader; for threads
    /// The system's queue, of `depth` reads or more; null: a thread reads each of the chunks.
    std::unique_ptr<ReadQueue> queue = nullptr;
  };
  /// Returns what reads fastest while a core computes: the system's queue where it has one and the
  /// file is read directly. On one core, threads wait for it after each chunk, and the disk is
  /// idle.
  static Options best_options(const DirectFile& file, const std::vector<int>& cores);

  /// `file` outlives this. Throws RunError where the system starts no thread or memory is short.
  ReadAhead(const DirectFile& file, std::span<const Stretch> stretches, Options options);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Starts to read all stretches; from now on their memory is written. REQUIRES: all were copied
  /// since the last begin().
  void begin();
  /// Copies bytes of the file, once they were read, but for those that are there already. Throws
  /// what reading them did. REQUIRES: called by one thread, the one that called begin(), in the
  /// order of the stretches, for all their bytes, with the memory of each where it has one.
  void copy(std::byte* to, Bytes offset, Bytes size_bytes);

  /// Returns the most memory that the buffers of best_options() take.
  static Bytes buffer_bytes();

 private:
  void plan(std::span<const Stretch> stretches);
  void plan_straight(Bytes begin, Bytes end, std::byte* to);
  void plan_buffered(Bytes begin, Bytes end);
  Bytes next_size();
  void release_chunk();

  const Bytes chunk_bytes_;
  Bytes size_ = 0;  // of the next chunk that is planned
  std::vector<FileChunk> chunks_;
  std::unique_ptr<ChunkReader> reader_;
  // The consumer's.
  std::size_t chunk_ = 0;
  const std::byte* buffer_ = nullptr;  // of the chunk, once it is there
  bool awaited_ = false;
};

}  // namespace hios

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hios/base/files/direct_file.h"
#include "hios/base/files/read_queue.h"
#include "hios/base/ids.h"

namespace hios {

/// Bytes of a file that are read by one request.
struct FileChunk {
  Bytes offset = 0;         ///< a multiple of the alignment
  Bytes needed = 0;         ///< its bytes that belong to stretches, from `offset` on
  std::byte* to = nullptr;  ///< the memory of the first `straight` of them; the others are buffered
  Bytes straight = 0;       ///< a multiple of the alignment
  Bytes room = 0;           ///< the most bytes that it can have
  Bytes end() const { return offset + needed; }
};

/// Whoever reads the chunks of a file in their order, some of them ahead of one consumer, which
/// makes all calls.
class ChunkReader {
 public:
  virtual ~ChunkReader() = default;
  /// Starts with the first chunk. REQUIRES: all were released since the last begin().
  virtual void begin() = 0;
  /// Waits until the chunk was read, and returns the buffer of its bytes that are not straight.
  /// Throws what reading it did. REQUIRES: all chunks before it were released.
  virtual const std::byte* await(std::size_t chunk) = 0;
  /// Gives the buffer of a chunk back. REQUIRES: it was awaited, and no later one was.
  virtual void release(std::size_t chunk) = 0;
};

/// The buffers of a reader, one for each chunk that it reads at the same time.
struct ChunkBuffers {
  Bytes size_bytes = 0;  ///< a multiple of the alignment, the most that is buffered of a chunk
  std::size_t number = 0;
};

/// Reads by a thread for each buffer, so that the system needs no queue of reads. `cores`: those
/// that the threads may use; empty: the caller's. The file and the chunks outlive the reader.
/// Throws RunError where the system starts no thread or memory is short.
std::unique_ptr<ChunkReader> read_by_threads(const DirectFile& file,
                                             std::span<const FileChunk> chunks,
                                             const ChunkBuffers& buffers,
                                             const std::vector<int>& cores);

/// Reads by the system's queue: the consumer starts the reads when it gives a buffer back, and no
/// other thread needs a core. Likewise. REQUIRES: buffers.number <= queue.most().
std::unique_ptr<ChunkReader> read_by_queue(const DirectFile& file,
                                           std::span<const FileChunk> chunks,
                                           const ChunkBuffers& buffers,
                                           std::unique_ptr<ReadQueue> queue);

}  // namespace hios

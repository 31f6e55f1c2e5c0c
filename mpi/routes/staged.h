#pragma once

#include <vector>

#include "hios/base/ids.h"

namespace hios::mpi {

/// A chunk of a message that goes through pinned host memory. Both sides cut it alike, in order,
/// into at least one chunk.
struct Chunk {
  Bytes begin = 0;
  Bytes size_bytes = 0;
};
std::vector<Chunk> staging_chunks(Bytes size_bytes);

}  // namespace hios::mpi

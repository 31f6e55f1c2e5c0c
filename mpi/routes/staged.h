#pragma once

#include <vector>

#include "hios/base/ids.h"

namespace hios::mpi {

/// How a message of that size is cut where it goes through pinned host memory: equal on both sides,
/// in order, and at least one chunk.
struct Chunk {
  Bytes begin = 0;
  Bytes size_bytes = 0;
};
std::vector<Chunk> staging_chunks(Bytes size_bytes);

}  // namespace hios::mpi

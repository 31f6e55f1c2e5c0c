#pragma once

#include <cstddef>
#include <optional>

#include "engine/backend/backend.h"
#include "engine/measure/protocol.h"
#include "hios/profile/profile.h"
#include "mpi/transport.h"

namespace hios {

/// Two ranks of one host, and memory that both see.
struct SharingPair {
  Rank from, to;
  std::byte* arena = nullptr;  ///< of at least `largest` bytes; null on ranks that take no part
  double signal_ms = 0;        ///< the time of a short message
};

/// Measures TransferCurve::shared, before operators scale it (shared_share.h), at every size of
/// transfer_sizes(largest): `signal_ms`, and the
/// difference between the times in which one rank writes a tensor and the other reads it for the
/// first time, and in which the reader does both in memory of its own. In a run, too, the writer
/// takes the tensor's lines from the cache of the last one's reader. Both are as fast as they can
/// be: an operator that computes more with what it reads and writes loses less. Each is the median
/// of the fastest quarter of `protocol.iterations` rounds. Host memory only. Collective: all ranks
/// call it, and get the same result; empty where `protocol.stop` ended it.
std::optional<CurvePoints> shared_times(mpi::Transport& transport, Backend& backend,
                                        const Protocol& protocol, DisturbanceReader& disturbance,
                                        const SharingPair& pair, Bytes largest);

}  // namespace hios

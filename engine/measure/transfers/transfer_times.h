#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/measure/protocol.h"
#include "hios/profile/profile.h"

namespace hios {

inline constexpr Bytes kLargestMessage = Bytes{1} << 24;

/// Returns the sizes of measured transfers: 1 KB to the largest (16 MB) by powers of two.
std::vector<Bytes> transfer_sizes(Bytes largest = kLargestMessage);

/// Measures the time of a tensor from one rank to another that waits for it, at every size. It is
/// half a round trip, so equal for both directions: the median of the fastest quarter of
/// `protocol.iterations` round trips. The sender has just written the tensor, as in a run.
/// Devices that were idle are warmed up for `protocol.warmup_s` before. The receiver's first read
/// of it is slower than of its own memory; that counts for the operator that reads it, not for the
/// transfer. A message to an asynchronous device has arrived when the device has it. Collective:
/// all ranks call it, and get the same result; empty where `protocol.stop` ended it.
std::optional<TransferCurve> transfer_times(mpi::Transport& transport, Backend& backend,
                                            const Protocol& protocol,
                                            DisturbanceReader& disturbance, Rank from, Rank to,
                                            Bytes largest = kLargestMessage);

}  // namespace hios

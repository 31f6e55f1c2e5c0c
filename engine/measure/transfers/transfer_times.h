#pragma once

#include <utility>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/measure/protocol.h"
#include "hios/profile/profile.h"

namespace hios {

inline constexpr Bytes kLargestMessage = Bytes{1} << 24;

/// The sizes that transfers are measured at: 1 KB to the largest (16 MB) by powers of two.
std::vector<Bytes> transfer_sizes(Bytes largest = kLargestMessage);

/// What a tensor takes from one rank to another that waits for it, at every size: half a round
/// trip, so equal for both directions; the median of the fastest quarter of `protocol.iterations`
/// round trips. The sender has just written the tensor, as in a run; that the receiver's first read
/// of it is slower than of memory of its own is part of the operator that reads, not of this. A
/// message to an asynchronous device has arrived when the device has it.
/// Collective: all ranks call it, and get the same; nothing where `protocol.stop` ended it.
std::optional<TransferCurve> transfer_times(mpi::Transport& transport, Backend& backend,
                                            const Protocol& protocol,
                                            DisturbanceReader& disturbance, Rank from, Rank to,
                                            Bytes largest = kLargestMessage);

}  // namespace hios

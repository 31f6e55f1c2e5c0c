#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "mpi/accelerator.h"
#include "mpi/pair_rounds.h"
#include "mpi/routes/route_table.h"

namespace hios::mpi {

/// The result of trying a route between two ranks.
struct ProbeResult {
  std::string failure;     ///< the reason; empty: it works
  bool timed_out = false;  ///< a rank waited in vain for as long as it may
};

/// Tries a route between several pairs of ranks at once: the two ranks of each exchange 4 KB and
/// 1 MB there and back, and each checks the bytes that arrive. Returns the results by pair, the
/// same on all ranks. Collective: the other ranks take part in the agreements. `device` is this
/// rank's. A failing pair blocks no rank: it is given up after `patience`, and the others go on.
/// Memory in which its messages may still arrive is kept until the process ends.
/// `shared`: of the table that is being made (RouteTable::shared). REQUIRES: no rank is in two of
/// the pairs.
std::vector<ProbeResult> probe_route(Transport& transport, Accelerator* device, const Route& route,
                                     std::span<const RankPair> pairs, const SharedByRoutes& shared,
                                     std::chrono::milliseconds patience);

/// Returns the first tag of a pair that no probe uses (TagBook); a failed probe may have left
/// messages in flight.
int first_tag_after_probes();

}  // namespace hios::mpi

#pragma once

#include "engine/backend/backend.h"
#include "hios/graph/fusion/coarsen.h"
#include "mpi/transport.h"

namespace hios::job {

/// What a profile says that a device computes by (Profile::algorithms).
struct KnownAlgorithms {
  Json algorithms = Json::object();
  std::string file = {};  ///< where that was read: for messages only
};

/// Lets all ranks with the same backend and arithmetic, on the same kind of GPU, compute by the
/// same algorithms, so that N of them give the bits of one: the first of them chooses for all
/// operators that its backend supports, `known` first, and the others adopt it. Returns what this
/// rank computes by, empty where its backend has nothing to choose. Collective: what some rank's
/// backend does not know ends all with the same InputError.
/// REQUIRES: nothing is bound yet.
Json agree_on_algorithms(mpi::Transport& transport, Backend& backend, const CoarseGraph& coarse,
                         const Model& model, const KnownAlgorithms& known, Choosing how);

}  // namespace hios::job

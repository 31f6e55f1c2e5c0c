#pragma once

#include <string>

#include "engine/backend/backend.h"
#include "hios/base/json/owned_json.h"
#include "hios/graph/fusion/coarsen.h"
#include "mpi/transport.h"

namespace hios::job {

/// The algorithms of a profile's device (Profile::algorithms).
struct KnownAlgorithms {
  OwnedJson algorithms = {};
  std::string file = {};  ///< the profile's file, for messages only
};

/// Lets all ranks with the same backend and arithmetic, on the same kind of GPU, compute by the
/// same algorithms, so that N of them give the bits of one. The first of them chooses for all
/// operators that its backend supports, `known` first, and the others adopt its choice. Returns
/// this rank's algorithms, empty where its backend has no choice. Collective: an algorithm that
/// some rank's backend does not know ends all ranks with the same InputError. REQUIRES: nothing is
/// bound yet.
Json agree_on_algorithms(mpi::Transport& transport, Backend& backend, const CoarseGraph& coarse,
                         const Model& model, const KnownAlgorithms& known, Choosing how);

}  // namespace hios::job

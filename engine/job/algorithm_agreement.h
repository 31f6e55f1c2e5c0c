#pragma once

#include "engine/backend/backend.h"
#include "hios/graph/coarsen.h"
#include "mpi/transport.h"

namespace hios::job {

/// Lets all ranks with the same backend and arithmetic, on the same kind of GPU, compute by the
/// same algorithms, so that N of them give the bits of one: the first of them chooses for all
/// operators that its backend supports, `known` (a profile's) first, and the others adopt it.
/// Returns what this rank computes by, empty where its backend has nothing to choose. Collective.
/// REQUIRES: nothing is bound yet.
Json agree_on_algorithms(mpi::Transport& transport, Backend& backend, const CoarseGraph& coarse,
                         const Model& model, const Json& known);

}  // namespace hios::job

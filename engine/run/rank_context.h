#pragma once

#include <cstddef>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/model/model.h"
#include "mpi/transport.h"

namespace hios {

/// A network and the rank that computes it: everything that binds, runs or measures operators on
/// one rank. References only, so a context is copied freely; what it refers to outlives all copies.
struct RankContext {
  const CoarseGraph& coarse;
  const Model& model;
  Backend& backend;
  mpi::Transport& transport;  ///< the transport of tensors
  TensorSource& source;       ///< the source of weights and inputs
  /// The memory that the rank shares with others, RankPlan::shared_bytes of the plan that is run;
  /// null: none.
  std::byte* shared_arena = nullptr;

  const Graph& graph() const { return coarse.graph; }
};

}  // namespace hios

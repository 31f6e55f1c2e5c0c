#pragma once

#include <nlohmann/json.hpp>

#include "engine/cuda/backend.h"
#include "engine/reference/backend.h"
#include "support/networks/rank_networks.h"
#include "support/programs/mpi_main.h"

namespace hios::test {

/// Returns a job whose ranks have two emulated GPUs in turn.
inline RankJob emulated_job(const mpi::Route* route) {
  return {.transport = job(),
          .make_backend =
              [](bool graphs, const Json& algorithms) {
                BackendOptions options;
                options.device_index = static_cast<int>(job().rank().index() % 2);
                options.graphs = graphs;
                options.algorithms = algorithms;
                return cuda::make_backend(options);
              },
          .make_reference = [] { return reference::make_backend({}); },
          .route = route};
}

}  // namespace hios::test

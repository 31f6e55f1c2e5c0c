#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/cuda/backend.h"
#include "engine/reference/backend.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/networks/rank_networks.h"
#include "support/programs/mpi_main.h"

namespace hios::test {

inline constexpr const char* kEmulatedRoutes[] = {"ipc", "staged", "cuda-aware", "nccl"};

/// Returns a route's name as names of tests have it.
inline std::string word_of_route(std::string route) {
  std::replace(route.begin(), route.end(), '-', '_');
  return route;
}

/// Returns a job whose ranks have the emulated GPUs in turn.
inline RankJob emulated_job(const mpi::Route* route) {
  return {.transport = job(),
          .make_backend =
              [](bool graphs, const Json& algorithms) {
                BackendOptions options;
                const auto devices = static_cast<std::size_t>(cuda_emulation::settings().devices);
                options.device_index = static_cast<int>(job().rank().index() % devices);
                options.graphs = graphs;
                options.algorithms = algorithms;
                return cuda::make_backend(options);
              },
          .make_reference = [] { return reference::make_backend({}); },
          .route = route};
}

}  // namespace hios::test

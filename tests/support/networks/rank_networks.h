#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "engine/backend/backend.h"
#include "hios/model/model.h"
#include "mpi/routes/route.h"
#include "support/networks/small_network.h"

/// Networks on the ranks of a job, each with a device, tensors between them by one route. The same
/// functions test the CUDA backend (tests/engine/cuda, processes that share a GPU) and the executor
/// on fake devices (tests/engine, threads): only the RankJob differs.
namespace hios::test {

/// The transport, backends and route of a rank.
struct RankJob {
  mpi::Transport& transport;  ///< the plain one, between hosts
  /// An asynchronous backend on this rank's device, recording or not, that computes by these
  /// algorithms. Its free_memory() must answer.
  std::function<std::unique_ptr<Backend>(bool graphs, const Json& algorithms)> make_backend;
  /// The oracle that results are compared with, within a tolerance.
  std::function<std::unique_ptr<Backend>()> make_reference;
  const mpi::Route* route = nullptr;  ///< the route that all tensors must take; null: any
};

/// Runs a schedule of hios-lp and a random one with many transfers, each with recordings and
/// without, for several iterations, with all tensors kept or not. EXPECTs that every tensor that is
/// not overwritten has the bits of one rank and of operators run alone, and agrees with the
/// reference. Throws InputError, on all ranks, where the route is not available. Collective.
void expect_as_one_rank(const RankJob& job, const Model& model);
void expect_as_one_rank(const RankJob& job, const SmallNetwork& network);

/// EXPECTs that so many iterations take no further memory of the device or the host. Collective;
/// throws as above.
void expect_no_growth(const RankJob& job, const SmallNetwork& network, int iterations);

}  // namespace hios::test

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/backend/backend.h"
#include "mpi/routes/route.h"

/// Networks on the ranks of a job, each with a device, tensors between them by one route. The same
/// bodies judge the CUDA backend (tests/engine/cuda, processes that share a GPU) and the executor
/// on fake devices (tests/engine, threads): only what a rank brings along differs.
namespace hios::test {

/// What a rank brings along.
struct RankJob {
  mpi::Transport& transport;  ///< the plain one, by which ranks talk
  /// An asynchronous backend on this rank's device, recording or not, that computes by these
  /// algorithms. Its free_memory() must answer.
  std::function<std::unique_ptr<Backend>(bool graphs, const Json& algorithms)> make_backend;
  /// The oracle that results are compared with, within a tolerance.
  std::function<std::unique_ptr<Backend>()> make_reference;
  const mpi::Route* route = nullptr;  ///< that all tensors must take; null: any
};

struct SmallNetwork {
  std::string_view name;
  std::int64_t size;  ///< height and width
};

/// A schedule of hios-lp and a random one with many transfers, each with recordings and without:
/// every tensor that is left after an iteration has the bits that one rank computes, operators
/// alone included, and is as the reference says; several iterations, all tensors kept or not.
/// Failures are EXPECTs. Throws InputError, on all ranks, where the route is not to be had.
/// Collective.
void expect_as_one_rank(const RankJob& job, const SmallNetwork& network);

/// So many iterations leave as much device memory free as there was, and take no more of the
/// host's. Collective; failures and throws as above.
void expect_no_growth(const RankJob& job, const SmallNetwork& network, int iterations);

}  // namespace hios::test

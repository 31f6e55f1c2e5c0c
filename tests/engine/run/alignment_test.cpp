// The addresses that operators are bound to begin on cache lines, also where they read ranges of
// tensors, except where inputs are divided (Backend::bind).
#include <gtest/gtest.h>

#include "engine/job/divided_job.h"
#include "engine/job/verification.h"
#include "engine/run/bound_plan.h"
#include "mpi/messages/serial.h"
#include "support/fakes/addresses_backend.h"
#include "support/networks/random_cuts.h"
#include "support/networks/random_network.h"

namespace hios {
namespace {

using test::AddressesBackend;

/// Binds the plans of all ranks of a random schedule, and each operator alone. Returns the number
/// of tensors that do not begin at a multiple of so many bytes.
std::size_t misaligned_tensors(const Network& network, std::uintptr_t bytes, std::uint64_t seed) {
  const auto transport = mpi::make_serial_transport();
  const std::size_t ranks = 1 + seed % 3;
  const Schedule schedule = test::random_schedule(network.coarse.graph, ranks, 2, seed);
  std::size_t count = 0;
  for (std::size_t rank = 0; rank <= ranks; ++rank) {
    AddressesBackend backend;
    backend.arithmetic = test::arithmetic_of(network.coarse);
    test::FakeSource source;
    if (rank == ranks) {
      const std::vector<int> threads(network.coarse.graph.size(), 1);
      const job::OneRankRun alone(network.coarse, network.model, backend, threads, source, "");
    } else {
      const RankPlan plan = plan_rank(network.coarse, schedule, Rank(rank));
      StepProgress progress(plan, network.coarse.graph, nullptr);
      const BoundPlan bound({network.coarse, network.model, backend, *transport, source}, plan,
                            {progress});
    }
    count += backend.misaligned(bytes);
  }
  return count;
}

TEST(Alignment, TensorsOfCutNetworksBeginOnCacheLines) {
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "alignment");
    const Model model = test::random_layers(10, random);
    FusionRules rules;
    rules.cuts = test::random_cuts(model, random);
    for (const Precision precision : {Precision::kFp32, Precision::kFp16}) {
      EXPECT_EQ(misaligned_tensors(Network(model, element_bytes(precision), rules), 64, seed), 0u);
    }
    cut += rules.cuts.size();
  }
  EXPECT_GT(cut, 100u);
}

TEST(Alignment, BatchesBeginAtAnyElement) {
  const SizedNetworks networks = job::all_sizes();
  std::size_t off_lines = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "alignment");
    const Network divided = networks.divide(test::random_batches(networks.graphs(), random));
    EXPECT_EQ(misaligned_tensors(divided, divided.coarse.element_bytes, seed), 0u);
    off_lines += misaligned_tensors(divided, 64, seed);
  }
  EXPECT_GT(off_lines, 0u) << "then the promise could be one of cache lines";
}

}  // namespace
}  // namespace hios

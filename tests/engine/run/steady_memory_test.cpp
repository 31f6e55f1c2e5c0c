// A job that runs for long holds no more memory at its end than at its start: 10,000 iterations of
// an executor under a real mpirun. A program of its own, because every operator new of the process
// is counted. (For hours: bench/soak.)
#include <gtest/gtest.h>

#include <cstdio>

#include "engine/backends.h"
#include "engine/run/executor.h"
#include "engine/run/pipeline.h"
#include "support/networks/random_network.h"
#include "support/programs/count_allocations.h"
#include "support/programs/free_memory.h"
#include "support/programs/mpi_main.h"

namespace hios {
namespace {

using test::job;

TEST(SteadyMemory, TenThousandIterationsOverMpi) {
  const test::RandomNetwork network = test::random_network(8, 4);
  const Schedule schedule = test::random_schedule(network.coarse.graph, job().size(), 1, 7);
  const RankPlan plan = plan_rank(network.coarse, schedule, job().rank());
  const auto backend = find_backend("reference").make({1, {}});
  SeededSource source(1);
  Executor executor({network.coarse, network.model, *backend, job(), source}, plan);
  const auto iterate = [&](int count) {
    for (int i = 0; i < count; ++i) {
      // A rank that only sends would run ahead, and MPI would buffer its messages.
      if (i % 10 == 0) job().barrier();
      executor.run_once();
    }
  };
  iterate(1000);  // MPI allocates its own memory in these
  const Bytes before = test::anonymous_bytes();
  const std::ptrdiff_t live = test::live_allocations;
  iterate(10'000);
  const std::ptrdiff_t left = test::live_allocations - live;
  const Bytes after = test::anonymous_bytes();
  if (job().rank() == Rank(0)) {
    std::printf("  memory: %.1f MB before, %.1f MB after\n", static_cast<double>(before) / 1e6,
                static_cast<double>(after) / 1e6);
  }
  EXPECT_EQ(left, 0);
  // Less than 100 bytes an iteration; the system itself counts pages late.
  EXPECT_LT(after, before + 1'000'000);
  executor.close();
}

// The first rank is much faster than the last, and its messages are so small that MPI would buffer
// them.
TEST(SteadyMemory, TenThousandInferencesInFlightBeforeASlowRank) {
  const test::RandomNetwork network = test::random_network(8, 4);
  const auto order = network.coarse.graph.topological();
  Schedule schedule;
  schedule.devices.resize(job().size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t rank = i == 0 ? 0 : job().size() - 1;
    schedule.devices[rank].push_back({{{order[i]}}});
  }
  const RankPlan plan =
      plan_rank(network.coarse, schedule, job().rank(), {.in_flight = 2, .inputs = 3});
  const auto backend = find_backend("reference").make({1, {}});
  SeededSource source(1);
  Pipeline pipeline({network.coarse, network.model, *backend, job(), source}, plan);
  std::vector<InferenceTimes> some(1000), many(10'000);
  job().barrier();
  pipeline.run(some);  // MPI allocates its own memory in these
  job().barrier();
  const Bytes before = test::anonymous_bytes();
  const std::ptrdiff_t live = test::live_allocations;
  pipeline.run(many);
  const std::ptrdiff_t left = test::live_allocations - live;
  const Bytes after = test::anonymous_bytes();
  EXPECT_EQ(left, 0);
  EXPECT_LT(after, before + 1'000'000);
  EXPECT_EQ(pipeline.unlike(), 0u);
  pipeline.close();
}

}  // namespace
}  // namespace hios

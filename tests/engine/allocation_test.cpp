// The timed loop allocates nothing of ours: this program counts every operator new of
// the process while executors run, and so stands alone.
#include <gtest/gtest.h>

#include <barrier>

#include "engine/executor.h"
#include "hios/models/models.h"
#include "support/count_allocations.h"
#include "support/random_network.h"
#include "support/thread_transport.h"

namespace hios {
namespace {

using test::allocations;
using test::counting;

// Allocations of all ranks together in three iterations.
std::size_t allocations_of(const Model& model, const CoarseGraph& coarse, const Schedule& schedule,
                           std::string_view backend_name, int threads) {
  const std::size_t ranks = schedule.devices.size();
  std::barrier together(static_cast<std::ptrdiff_t>(ranks));
  allocations = 0;
  test::run_ranks(ranks, [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(coarse, schedule, transport.rank());
    const auto backend = find_backend(backend_name).make({threads, {}});
    SeededSource source(1);
    Executor executor(coarse, model, plan, *backend, transport, source);
    executor.record_stages(true);
    executor.run_once();  // not counted: what a library does on its first call
    together.arrive_and_wait();
    counting = true;
    together.arrive_and_wait();
    for (int i = 0; i < 3; ++i) executor.run_once();
    together.arrive_and_wait();
    counting = false;
    together.arrive_and_wait();
  });
  return allocations;
}

TEST(Allocation, TheCounterCounts) {
  allocations = 0;
  counting = true;
  const auto before = std::make_unique<int>(1);
  const std::vector<double> more(100);
  counting = false;
  EXPECT_EQ(allocations, 2u);
}

TEST(Allocation, NoneInTheTimedLoopWithTheReferenceBackend) {
  const Model model = models::squeezenet(1, 64, 64);
  const CoarseGraph coarse = coarsen(model);
  for (const std::size_t ranks : {1, 2, 3}) {
    const Schedule schedule = test::random_schedule(coarse.graph, ranks, 2, 7);
    EXPECT_EQ(allocations_of(model, coarse, schedule, "reference", 2), 0u) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace hios

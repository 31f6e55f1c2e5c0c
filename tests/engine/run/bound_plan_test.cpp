#include "engine/run/bound_plan.h"

#include <gtest/gtest.h>

#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

// Messages of two inferences between the same ranks may be under way together.
TEST(BoundPlan, BuffersHaveTagsAndMemoryOfTheirOwn) {
  const test::RandomNetwork network = test::random_network(20, 2);
  const Schedule schedule = test::random_schedule(network.coarse.graph, 2, 1, 2);
  test::run_ranks(2, [&](mpi::Transport& transport) {
    const RankPlan plan =
        plan_rank(network.coarse, schedule, transport.rank(), {.in_flight = 2, .inputs = 2});
    test::FakeBackend backend;
    test::FakeSource source;
    StepProgress progress(plan, network.coarse.graph, nullptr);
    const BoundPlan bound({network.coarse, network.model, backend, transport, source}, plan,
                          {progress});
    ASSERT_GT(plan.sends.size() + plan.receives.size(), 0u);
    for (const auto messages : {&BoundPlan::sends, &BoundPlan::receives}) {
      const auto first = (bound.*messages)(0), second = (bound.*messages)(1);
      ASSERT_EQ(first.size(), second.size());
      for (std::size_t i = 0; i < first.size(); ++i) {
        EXPECT_EQ(second[i].tag, first[i].tag + plan.tags);
        EXPECT_NE(second[i].data, first[i].data);
      }
    }
  });
}

}  // namespace
}  // namespace hios

#include "engine/run/inference_data.h"

#include <gtest/gtest.h>

#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

TEST(InferenceData, CountsOutputsThatDifferFromTheLastOfTheirInput) {
  const test::RandomNetwork network = test::random_network(6, 1);
  const Graph& graph = network.coarse.graph;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const RankPlan plan =
        plan_rank(network.coarse, test::random_schedule(graph, 1, 1, 1), Rank(0), {.inputs = 2});
    test::FakeBackend backend;
    test::FakeSource source;
    const RankContext rank{network.coarse, network.model, backend, transport, source};
    StepProgress progress(plan, graph, nullptr);
    const BoundPlan bound(rank, plan, {progress});
    InferenceData data(rank, bound);
    data.begin();
    std::byte& first = *bound.tensor(plan.outputs.front());
    const auto give = [&](std::size_t inference, int value) {
      first = std::byte(value);
      data.keep_outputs(inference, 0);
      return data.unlike();
    };
    EXPECT_EQ(give(0, 1), 0u);
    EXPECT_FALSE(data.ran(1));
    EXPECT_EQ(give(1, 2), 0u) << "another input";
    EXPECT_TRUE(data.ran(1));
    EXPECT_EQ(give(2, 1), 0u);
    EXPECT_EQ(give(3, 1), 1u);
    EXPECT_EQ(give(5, 1), 1u) << "like the last";
    data.begin();
    EXPECT_FALSE(data.ran(1));
    EXPECT_EQ(give(7, 3), 0u) << "the first of this run";
  });
}

}  // namespace
}  // namespace hios

#include "engine/run/plan/memory_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/job/divided_job.h"
#include "hios/base/error.h"
#include "hios/model/networks/networks.h"
#include "support/fakes/fake_backend.h"

namespace hios {
namespace {

TEST(MemoryEstimate, CountsTensorsInputAndTheWeightsOfLocalOperators) {
  const Model model = models::squeezenet(1, 64, 64);
  const CoarseGraph coarse = coarsen(model);
  const auto order = coarse.graph.topological();
  Schedule schedule;
  schedule.devices = {one_operator_stages({order.begin(), order.begin() + 5}),
                      one_operator_stages({order.begin() + 5, order.end()}),
                      {}};
  Bytes weights = 0;
  for (std::size_t i = 0; i < 5; ++i) weights += coarse.graph.op(order[i]).parameter_bytes;
  ASSERT_GT(weights, 0u);
  const RankPlan plan = plan_rank(coarse, schedule, Rank(0));
  const MemoryEstimate need = estimate_memory(coarse, model, plan);
  EXPECT_EQ(need.tensors, plan.arena_bytes);
  EXPECT_EQ(need.input, 64u * 64 * 3 * sizeof(float));
  EXPECT_EQ(need.parameters, weights);
  EXPECT_EQ(need.total(), need.tensors + need.input + need.parameters);
  EXPECT_EQ(estimate_memory(coarse, model, plan_rank(coarse, schedule, Rank(2))).total(), 0u);
}

TEST(MemoryEstimate, CountsTheInputsOfManyInferencesAndTheirOutputs) {
  const Model model = models::squeezenet(1, 64, 64);
  const CoarseGraph coarse = coarsen(model);
  const auto order = coarse.graph.topological();
  const Schedule schedule{{one_operator_stages({order.begin(), order.end()})}};
  const RankPlan plan = plan_rank(coarse, schedule, Rank(0), {.inputs = 3});
  ASSERT_FALSE(plan.outputs.empty());
  Bytes outputs = 0;
  for (const OpId op : plan.outputs) outputs += plan.slot(op).size_bytes();
  const MemoryEstimate need = estimate_memory(coarse, model, plan);
  EXPECT_EQ(need.input, (1u + 3) * 64 * 64 * 3 * sizeof(float)) << "the plan's own and three";
  EXPECT_EQ(need.tensors, plan.arena_bytes + 3 * outputs);
}

TEST(MemoryEstimate, CountsTheWeightsOfBatchesOfOneSizeOnce) {
  const SizedNetworks networks = job::all_sizes();
  const Graph& whole = networks.whole().coarse.graph;
  Bytes weights = 0;
  for (const Operator& op : whole.operators()) weights += op.parameter_bytes;
  const Network network = networks.divide(even_batches(whole, job::kInputs, 3));
  const auto order = network.coarse.graph.topological();
  const Schedule schedule{{one_operator_stages({order.begin(), order.end()})}};
  const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
  EXPECT_EQ(estimate_memory(network.coarse, network.model, plan).parameters, weights);
}

TEST(MemoryEstimate, BatchesThatRunOneAfterTheOtherUseTheSameBytes) {
  const SizedNetworks networks = job::all_sizes();
  const Graph& whole = networks.whole().coarse.graph;
  const auto arena_bytes = [&](std::int64_t batches) {
    const Network network = networks.divide(even_batches(whole, job::kInputs, batches));
    const auto in_order = network.coarse.graph.topological();
    std::vector<OpId> order(in_order.begin(), in_order.end());
    std::ranges::stable_sort(order, {},
                             [&](OpId op) { return network.coarse.graph.batch(op).inputs.begin; });
    const Schedule schedule{{one_operator_stages(std::move(order))}};
    return plan_rank(network.coarse, schedule, Rank(0)).arena_bytes;
  };
  EXPECT_LT(2 * arena_bytes(6), arena_bytes(1));
  EXPECT_LT(arena_bytes(6), arena_bytes(2));
}

TEST(MemoryEstimate, ABackendsCountReplacesTheNetworks) {
  class Counting final : public test::FakeBackend {
   public:
    std::optional<HeldMemory> held_memory() const override {
      return HeldMemory{.weights = 30, .scratch = 4};
    }
  };
  const MemoryEstimate planned{.tensors = 5, .input = 6, .parameters = 20};
  EXPECT_EQ(held_memory(planned, test::FakeBackend()).total(), planned.total());
  EXPECT_EQ(held_memory(planned, Counting()).total(), 5u + 6 + 30 + 4);
}

TEST(MemoryEstimate, ARefusalListsTheMissingMemory) {
  const MemoryEstimate need{.tensors = 50'000'000, .input = 1'000'000, .parameters = 24'000'000};
  require_device_memory(need, 75'000'000, "rank 1");
  try {
    require_device_memory(need, 74'500'000, "rank 1");
    FAIL() << "it was accepted";
  } catch (const InputError& error) {
    const std::string text = error.what();
    for (const char* part : {"rank 1", "50.0 MB for tensors", "24.0 MB for weights",
                             "1.0 MB for the input", "74.5 MB are free", "0.5 MB are missing"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << ": " << text;
    }
  }
}

}  // namespace
}  // namespace hios

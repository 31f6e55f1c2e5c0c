#include "engine/run/plan/host_need.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/run/plan/memory_estimate.h"
#include "hios/model/networks/networks.h"
#include "support/fakes/fake_async_backend.h"
#include "support/fakes/fake_backend.h"
#include "support/transports/fake_job.h"

namespace hios {
namespace {

/// An input, a convolution, and an element-wise layer after it.
Model wide_model(std::int64_t extent) {
  ModelBuilder b("wide", {1, 2, extent, extent});
  b.relu("after", b.conv("first", b.input(), {8, {3, 3}, {1, 1}, {1, 1}}));
  return std::move(b).build();
}

RankPlan whole(const CoarseGraph& coarse, const PlanOptions& options = {}) {
  const auto order = coarse.graph.topological();
  Schedule schedule;
  schedule.devices.push_back(one_operator_stages({order.begin(), order.end()}));
  return plan_rank(coarse, schedule, Rank(0), options);
}

TEST(HostNeed, IsTheEstimateWithTheCopiesOfOutputs) {
  const Model model = models::squeezenet(1, 64, 64);
  const CoarseGraph coarse = coarsen(model);
  const RankPlan plan = whole(coarse);
  test::FakeBackend backend;
  const Bytes estimate = estimate_memory(coarse, model, plan).total();
  const HostNeed need = host_need(coarse, model, plan, backend, {});
  EXPECT_EQ(need.size_bytes, estimate + 1000 * sizeof(float));
  EXPECT_EQ(host_need(coarse, model, plan, backend, {.keeps_outputs = false}).size_bytes, estimate);
}

TEST(HostNeed, CountsTheDrawingOfALargeInput) {
  const Model model = wide_model(64);
  const CoarseGraph coarse = coarsen(model);
  const RankPlan plan = whole(coarse);
  test::FakeBackend backend;
  const Bytes input = 2 * 64 * 64 * sizeof(float), least = plan.arena_bytes + input;
  const HostSteps drawn{.keeps_outputs = false};
  EXPECT_EQ(host_need(coarse, model, plan, backend, drawn).size_bytes, least + 3 * input);
  const HostSteps given{.draws_input = false, .keeps_outputs = false};
  EXPECT_EQ(host_need(coarse, model, plan, backend, given).size_bytes, least + input);
}

TEST(HostNeed, VerificationKeepsAllOutputsOnEachSide) {
  const Model model = models::squeezenet(1, 64, 64);
  const CoarseGraph coarse = coarsen(model);
  const RankPlan plan = whole(coarse);
  test::FakeBackend backend;
  Bytes outputs = 0;
  for (std::size_t v = 0; v < coarse.graph.size(); ++v)
    outputs += model.tensor(coarse.layers(OpId(v)).output).shape.size_bytes(sizeof(float));
  const auto size = [&](const HostSteps& steps) {
    return host_need(coarse, model, plan, backend, steps).size_bytes;
  };
  const Bytes before = size({});
  EXPECT_EQ(size({.by_reference = true}), before + outputs);
  EXPECT_EQ(size({.by_reference = true, .on_one_rank = true}), before + 2 * outputs);
  EXPECT_EQ(size({.verifies_all = true, .by_reference = true}),
            before + plan.all_tensors_bytes + outputs);
}

TEST(HostNeed, NamesTheLargestTensors) {
  const Model model = wide_model(64);
  const CoarseGraph coarse = coarsen(model);
  test::FakeBackend backend;
  const HostNeed need = host_need(coarse, model, whole(coarse), backend, {});
  ASSERT_EQ(need.largest.size(), kNamedTensors);
  EXPECT_EQ(need.largest[0].shape, "1x8x64x64");
  EXPECT_TRUE(need.largest[0].name.ends_with("'s output")) << need.largest[0].name;
  EXPECT_EQ(need.largest[1].name, "the input");
  EXPECT_EQ(need.largest[1].size_bytes, 2u * 64 * 64 * sizeof(float));
  EXPECT_TRUE(need.largest[2].name.ends_with("'s weights")) << need.largest[2].name;
}

TEST(HostNeed, NamesEachTensorOnce) {
  std::vector<NeededTensor> tensors = {
      {"b", "", 5}, {"a", "", 9}, {"b", "", 7}, {"none", "", 0}, {"a", "", 9}};
  keep_largest(tensors);
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_EQ(tensors[1].size_bytes, 7u);
}

TEST(HostNeed, CountsBuffersAndInputsInFlight) {
  const Model model = wide_model(16);
  const CoarseGraph coarse = coarsen(model);
  test::FakeBackend backend;
  const RankPlan plan = whole(coarse, {.in_flight = 2, .inputs = 100});
  const HostNeed need = host_need(coarse, model, plan, backend, {});
  EXPECT_GT(need.size_bytes, estimate_memory(coarse, model, plan).total());
  EXPECT_EQ(need.largest[0].name, "101 inputs");
}

TEST(HostNeed, TensorsOfADeviceAreNotOnTheHost) {
  const Model model = wide_model(64);
  const CoarseGraph coarse = coarsen(model);
  const RankPlan plan = whole(coarse);
  test::run_fake_job({.backends = {"fake-device"}}, [&](mpi::Transport&) {
    const auto device = test::fake_backends()[1].make({});
    const HostNeed need = host_need(coarse, model, plan, *device, {.keeps_outputs = false});
    EXPECT_EQ(need.size_bytes, 3u * 2 * 64 * 64 * sizeof(float)) << "the input, while it is drawn";
    ASSERT_EQ(need.largest.size(), 2u);
    EXPECT_TRUE(need.largest[0].name.ends_with("'s output")) << "its copy";
    EXPECT_EQ(need.largest[1].name, "the input");
    const HostNeed verified =
        host_need(coarse, model, plan, *device, {.by_reference = true, .on_one_rank = true});
    EXPECT_LT(verified.size_bytes, plan.all_tensors_bytes * 3) << "by the reference alone";
    EXPECT_GE(verified.size_bytes, need.size_bytes);
  });
}

TEST(HostNeed, ARankWithoutOperatorsNeedsNothing) {
  const Model model = wide_model(16);
  const CoarseGraph coarse = coarsen(model);
  const auto order = coarse.graph.topological();
  Schedule schedule;
  schedule.devices = {one_operator_stages({order.begin(), order.end()}), {}};
  test::FakeBackend backend;
  EXPECT_EQ(host_need(coarse, model, plan_rank(coarse, schedule, Rank(1)), backend, {}).size_bytes,
            0u);
}

}  // namespace
}  // namespace hios

// Plans whose ranks share memory: a tensor that travels lies there, and nobody copies it.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/run/plan/plan.h"
#include "hios/base/numbers/random.h"
#include "hios/model/networks/networks.h"
#include "support/networks/random_cuts.h"
#include "support/networks/random_network.h"
#include "support/oracles/plan_checker.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

/// A chain whose operators are on two ranks in turn, 6400 bytes each; the last is the output.
CoarseGraph zigzag(std::size_t length) {
  std::vector<Operator> operators(length);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < length; ++i) {
    operators[i].name = "v" + std::to_string(i);
    operators[i].memory_bytes = 6400;
    if (i > 0) edges.push_back({OpId(i - 1), OpId(i), 6400, {}});
  }
  CoarseGraph coarse;
  coarse.graph = Graph("zigzag", std::move(operators), std::move(edges));
  return coarse;
}

Schedule in_turn(std::size_t length) {
  Schedule schedule;
  schedule.devices.resize(2);
  for (std::size_t i = 0; i < length; ++i) schedule.devices[i % 2].push_back({{{OpId(i)}}});
  return schedule;
}

std::vector<RankPlan> plans_of(const CoarseGraph& coarse, const Schedule& schedule,
                               const PlanOptions& options) {
  std::vector<RankPlan> plans;
  for (std::size_t rank = 0; rank < schedule.devices.size(); ++rank) {
    plans.push_back(plan_rank(coarse, schedule, Rank(rank), options));
  }
  return plans;
}

TEST(SharedPlans, ATensorThatTravelsIsSharedAndItsMessageHasNoBytes) {
  const CoarseGraph coarse = zigzag(6);
  const auto plans = plans_of(coarse, in_turn(6), {.sharers = {0, 0}});
  for (const RankPlan& plan : plans) {
    EXPECT_EQ(plan.shared_bytes, 2 * 6400u) << "two at a time: the next is known to be the last";
    for (const Slot& slot : plan.slots) EXPECT_EQ(slot.shared, slot.op != OpId(5));
    for (const PlannedMessage& send : plan.sends) EXPECT_TRUE(send.shared);
    EXPECT_EQ(plan.tensor_bytes(), plan.arena_bytes + 6400) << "half of the shared arena each";
  }
  EXPECT_EQ(plans[0].arena_bytes, 0u);
  EXPECT_EQ(plans[1].arena_bytes, 6400u) << "the output stays where it was computed";
  EXPECT_EQ(plans[0].slot(OpId(2)).offset, plans[1].slot(OpId(2)).offset);
  EXPECT_EQ(findings_in(coarse, plans), std::vector<std::string>{});
}

TEST(SharedPlans, WithoutProofTensorsShareNoBytes) {
  // Rank 1 reads v0 and v1 at the end of its work, of which rank 0 knows nothing.
  CoarseGraph coarse;
  std::vector<Operator> operators(4);
  for (std::size_t i = 0; i < 4; ++i) {
    operators[i].name = "v" + std::to_string(i);
    operators[i].memory_bytes = 6400;
  }
  coarse.graph = Graph("late", std::move(operators),
                       {{OpId(0), OpId(2), 6400, {}}, {OpId(1), OpId(3), 6400, {}}});
  const Schedule schedule{{{{{{OpId(0)}}}, {{{OpId(1)}}}}, {{{{OpId(2)}}}, {{{OpId(3)}}}}}};
  const auto plans = plans_of(coarse, schedule, {.sharers = {0, 0}});
  EXPECT_EQ(plans[0].shared_bytes, 2 * 6400u);
  EXPECT_EQ(findings_in(coarse, plans), std::vector<std::string>{});
}

TEST(SharedPlans, OtherHostsGetCopies) {
  const CoarseGraph coarse = zigzag(6);
  const auto plans = plans_of(coarse, in_turn(6), {.sharers = {0, 1}});
  for (const RankPlan& plan : plans) {
    EXPECT_EQ(plan.shared_bytes, 0u);
    for (const PlannedMessage& send : plan.sends) EXPECT_FALSE(send.shared);
  }
}

TEST(SharedPlans, RandomSchedulesOfRandomNetworks) {
  Bytes shared = 0, kept = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(tries(200)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(5 + seed % 40, seed);
    const std::size_t ranks = 2 + seed % 4;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 1 + seed % 3, seed);
    PlanOptions options;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      options.sharers.push_back(seed % 2 == 0 ? 0 : rank / 2 * 2);
    }
    const auto plans = plans_of(network.coarse, schedule, options);
    for (const RankPlan& plan : plans) {
      EXPECT_EQ(findings_in(network.coarse, plan), std::vector<std::string>{});
    }
    EXPECT_EQ(findings_in(network.coarse, plans), std::vector<std::string>{});
    shared += plans.front().shared_bytes;
    options.keep_all = true;
    kept += plans_of(network.coarse, schedule, options).front().shared_bytes;
  }
  EXPECT_LT(static_cast<double>(shared), 0.8 * static_cast<double>(kept))
      << "hardly anything is reused";
}

TEST(SharedPlans, RowsOfCutNetworksLieNextToEachOtherWhoeverComputesThem) {
  std::size_t joined = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(tries(40)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "shared rows");
    const Model model = models::find("squeezenet")->build(1, 95, 95);
    const Network network = cut_network(model, random_cuts(model, random));
    const std::size_t ranks = 2 + seed % 3;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 2, seed);
    const auto plans =
        plans_of(network.coarse, schedule, {.sharers = std::vector<std::size_t>(ranks, 0)});
    for (const RankPlan& plan : plans) {
      EXPECT_EQ(findings_in(network.coarse, plan), std::vector<std::string>{});
      for (const PlannedMessage& receive : plan.receives) {
        EXPECT_TRUE(receive.shared);
        const Slot& slot = plan.slot(receive.op);
        const auto& sender = plans[receive.peer.index()].slot(receive.op);
        EXPECT_EQ(slot.offset, sender.offset_of(static_cast<std::int64_t>(slot.bytes.begin)));
        joined += network.coarse.place_of(receive.op).begin > 0 ? 1 : 0;
      }
    }
    EXPECT_EQ(findings_in(network.coarse, plans), std::vector<std::string>{});
  }
  EXPECT_GT(joined, 0u);
}

// The random tests rely on a checker that finds errors.
TEST(PlanChecker, FindsSharedTensorsThatHaveTheSameBytes) {
  const CoarseGraph coarse = zigzag(6);
  auto plans = plans_of(coarse, in_turn(6), {.sharers = {0, 0}});
  for (RankPlan& plan : plans) {
    for (Slot& slot : plan.slots) slot.offset = slot.shared ? 0 : slot.offset;
  }
  EXPECT_NE(findings_in(coarse, plans), std::vector<std::string>{});
}

}  // namespace
}  // namespace hios::test

#include "engine/run/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/backend/arena.h"
#include "hios/base/numbers/random.h"
#include "support/networks/random_network.h"
#include "support/oracles/plan_checker.h"

namespace hios {
namespace {

using test::findings_in;
using test::random_network;
using test::random_schedule;
using test::RandomNetwork;
using Lines = std::vector<std::string>;

// Operators "a", "b", … with outputs of the given sizes and edges between them by index.
CoarseGraph graph_of(const std::vector<Bytes>& sizes,
                     const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  std::vector<Operator> operators;
  for (const Bytes size : sizes) {
    Operator op;
    op.name = std::string(1, static_cast<char>('a' + operators.size()));
    op.memory_bytes = size;
    operators.push_back(op);
  }
  std::vector<Edge> list;
  for (const auto& [from, to] : edges) list.push_back({OpId(from), OpId(to), sizes[from], {}});
  CoarseGraph coarse;
  coarse.graph = Graph("hand-made", std::move(operators), std::move(list));
  return coarse;
}

Stage stage(const std::vector<std::vector<std::size_t>>& groups) {
  Stage result;
  for (const auto& ops : groups) {
    Group group;
    for (const std::size_t op : ops) group.push_back(OpId(op));
    result.groups.push_back(group);
  }
  return result;
}

// The steps in short: "r:a" (await receive), "w:a" (await send), "0" (stage), "s:a>1" (send).
std::string steps_of(const CoarseGraph& coarse, const RankPlan& plan) {
  std::string text;
  const auto name = [&](const PlannedMessage& message) { return coarse.graph.op(message.op).name; };
  for (const Step& step : plan.steps) {
    if (!text.empty()) text += ' ';
    if (const auto* s = std::get_if<AwaitReceive>(&step))
      text += "r:" + name(plan.receives[s->receive]);
    if (const auto* s = std::get_if<AwaitSend>(&step)) text += "w:" + name(plan.sends[s->send]);
    if (const auto* s = std::get_if<Compute>(&step)) text += std::to_string(s->stage);
    if (const auto* s = std::get_if<StartSend>(&step)) {
      const PlannedMessage& send = plan.sends[s->send];
      text += "s:" + name(send) + ">" + std::to_string(send.peer.index());
    }
  }
  return text;
}

TEST(Arena, GivesAGapToTheTensorThatFitsBest) {
  // Three long-lived tensors leave no gap; later tensors reuse the slots of those whose lives
  // ended.
  const std::vector<Lifetime> lives = {
      {640, 0, 1}, {128, 0, 9}, {320, 0, 1}, {300, 2, 3}, {640, 2, 3}};
  const ArenaLayout layout = place_in_arena(lives);
  EXPECT_EQ(layout.peak_bytes, 640u + 320u + 128u);
  EXPECT_EQ(layout.offsets[4], layout.offsets[0]);
  EXPECT_EQ(layout.offsets[3], layout.offsets[2]);
}

TEST(Arena, OverlappingLifetimesNeverShareBytes) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<Lifetime> lives;
    for (std::size_t i = 0; i < 40; ++i) {
      const std::size_t first = random.below(30);
      lives.push_back({1 + random.below(5000), first, first + random.below(6)});
    }
    const ArenaLayout layout = place_in_arena(lives);
    for (std::size_t i = 0; i < lives.size(); ++i) {
      EXPECT_EQ(layout.offsets[i] % kArenaAlignment, 0u);
      EXPECT_LE(layout.offsets[i] + lives[i].size_bytes, layout.peak_bytes);
      for (std::size_t j = 0; j < i; ++j) {
        if (lives[i].first > lives[j].last || lives[j].first > lives[i].last) continue;
        EXPECT_TRUE(layout.offsets[i] >= layout.offsets[j] + lives[j].size_bytes ||
                    layout.offsets[j] >= layout.offsets[i] + lives[i].size_bytes)
            << i << " and " << j;
      }
    }
  }
}

TEST(Arena, IsEmptyWithoutTensors) { EXPECT_EQ(place_in_arena({}).peak_bytes, 0u); }

/// Devices whose messages have turns (mpi::DeviceGroup) would otherwise wait for each other.
TEST(Plan, OrdersMessagesAlikeAtBothEndsAndAfterTheirInputs) {
  constexpr std::size_t kRanks = 3;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(40, seed);
    const Schedule schedule = random_schedule(network.coarse.graph, kRanks, 2, seed);
    std::map<std::tuple<OpId, std::size_t, std::size_t>, std::size_t> sent, received;
    for (std::size_t r = 0; r < kRanks; ++r) {
      const RankPlan plan = plan_rank(network.coarse, schedule, Rank(r));
      std::size_t awaited = 0;
      for (const Step& step : plan.steps) {
        if (const auto* const receive = std::get_if<AwaitReceive>(&step)) {
          const PlannedMessage& message = plan.receives[receive->receive];
          received[{message.op, message.peer.index(), r}] = message.order;
          awaited = std::max(awaited, message.order);
        } else if (const auto* const send = std::get_if<StartSend>(&step)) {
          const PlannedMessage& message = plan.sends[send->send];
          sent[{message.op, r, message.peer.index()}] = message.order;
          EXPECT_GT(message.order, awaited);
        }
      }
    }
    EXPECT_EQ(sent, received);
  }
}

TEST(Plan, AChainNeedsTwoSlots) {
  const CoarseGraph coarse = graph_of({640, 640, 640, 640, 640}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  Schedule one_by_one;
  one_by_one.devices = {{stage({{0}}), stage({{1}}), stage({{2}}), stage({{3}}), stage({{4}})}};
  Schedule one_group;
  one_group.devices = {{stage({{0, 1, 2, 3, 4}})}};
  for (const Schedule& schedule : {one_by_one, one_group}) {
    const RankPlan plan = plan_rank(coarse, schedule, Rank(0));
    EXPECT_EQ(plan.arena_bytes, 2 * 640u);
    EXPECT_EQ(plan.all_tensors_bytes, 5 * 640u);
    EXPECT_EQ(plan.outputs, std::vector<OpId>{OpId(4)});
    EXPECT_EQ(findings_in(coarse, plan), Lines{});
  }
  EXPECT_EQ(plan_rank(coarse, one_by_one, Rank(0), {.keep_all = true}).arena_bytes, 5 * 640u);
}

TEST(Plan, GroupsOfAStageShareNothing) {
  // b and c, each with a temporary of its own, run at the same time.
  const CoarseGraph coarse =
      graph_of({64, 64, 64, 64, 64, 64}, {{0, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 5}});
  Schedule schedule;
  schedule.devices = {{stage({{0}}), stage({{1, 3}, {2, 4}}), stage({{5}})}};
  const RankPlan plan = plan_rank(coarse, schedule, Rank(0));
  EXPECT_EQ(plan.arena_bytes, 5 * 64u);
  EXPECT_EQ(findings_in(coarse, plan), Lines{});
}

TEST(Plan, ATensorTravelsOnceToEachRankThatNeedsIt) {
  // a on rank 0 is read twice on rank 1, also by one operator twice, and once on rank 2.
  const CoarseGraph coarse = graph_of({64, 64, 64, 64}, {{0, 1}, {0, 1}, {0, 2}, {0, 3}});
  Schedule schedule;
  schedule.devices = {{stage({{0}})}, {stage({{2}}), stage({{1}})}, {stage({{3}})}};
  const RankPlan sender = plan_rank(coarse, schedule, Rank(0));
  EXPECT_EQ(steps_of(coarse, sender), "0 s:a>1 s:a>2");
  const RankPlan receiver = plan_rank(coarse, schedule, Rank(1));
  EXPECT_EQ(steps_of(coarse, receiver), "r:a 0 1");
  ASSERT_EQ(receiver.receives.size(), 1u);
  EXPECT_EQ(receiver.receives[0].peer, Rank(0));
  EXPECT_EQ(receiver.receives[0].tag, sender.sends[0].tag);
  EXPECT_EQ(receiver.receives[0].size_bytes(), 64u);
}

TEST(Plan, WhoNeedsItFirstGetsItFirst) {
  // c on rank 1 waits for a only after b; d on rank 2 waits for a at once.
  const CoarseGraph coarse = graph_of({64, 64, 64, 64, 64}, {{0, 2}, {1, 2}, {0, 3}, {4, 2}});
  Schedule schedule;
  schedule.devices = {{stage({{0}})}, {stage({{1}}), stage({{4}}), stage({{2}})}, {stage({{3}})}};
  EXPECT_EQ(steps_of(coarse, plan_rank(coarse, schedule, Rank(0))), "0 s:a>2 s:a>1");
  schedule.transfers = {{OpId(0), DeviceId(1)}, {OpId(0), DeviceId(2)}};
  EXPECT_EQ(steps_of(coarse, plan_rank(coarse, schedule, Rank(0))), "0 s:a>1 s:a>2")
      << "unless the schedule lists transfers in another order";
}

TEST(Plan, WhoNeedsItFirstIsCountedAlongAllThatARankWaitsFor) {
  // b, the first of rank 1, also waits for the last of four on rank 3; c is the second of rank 2.
  const CoarseGraph coarse = graph_of(std::vector<Bytes>(8, 64), {{0, 1}, {7, 1}, {0, 2}});
  Schedule schedule;
  schedule.devices = {{stage({{0}})},
                      {stage({{1}})},
                      {stage({{3}}), stage({{2}})},
                      {stage({{4}}), stage({{5}}), stage({{6}}), stage({{7}})}};
  EXPECT_EQ(steps_of(coarse, plan_rank(coarse, schedule, Rank(0))), "0 s:a>2 s:a>1");
}

TEST(Plan, TheStageThatReadsTheReceiversAnswerReusesTheSlot) {
  // Rank 1 reads a for b, whose consumer is c, and again later for d. f takes the same slot as c.
  const CoarseGraph coarse =
      graph_of({6400, 64, 6400, 64, 64, 6400}, {{0, 1}, {1, 2}, {0, 3}, {2, 4}, {4, 5}});
  Schedule schedule;
  schedule.devices = {{stage({{0}}), stage({{2}}), stage({{4}}), stage({{5}})},
                      {stage({{1}}), stage({{3}})}};
  const RankPlan plan = plan_rank(coarse, schedule, Rank(0));
  EXPECT_EQ(plan.slot(OpId(2)).offset, plan.slot(OpId(0)).offset);
  EXPECT_EQ(plan.slot(OpId(5)).offset, plan.slot(OpId(0)).offset);
  EXPECT_EQ(steps_of(coarse, plan), "0 s:a>1 r:b w:a 1 2 3") << "a's send is awaited once";
}

TEST(Plan, ATensorNextToASentOneAwaitsNothing) {
  const CoarseGraph coarse = graph_of({128, 64, 64}, {{0, 2}});
  Schedule schedule;
  schedule.devices = {{stage({{0}}), stage({{1}})}, {stage({{2}})}};
  const RankPlan plan = plan_rank(coarse, schedule, Rank(0));
  ASSERT_EQ(plan.slot(OpId(1)).offset, plan.slot(OpId(0)).offset + 128);
  EXPECT_EQ(steps_of(coarse, plan), "0 s:a>1 1");
}

TEST(Plan, ASentSlotIsReusedOnceTheReceiverMustHaveIt) {
  // a → b crosses to rank 1 and back (c); only when c's input has come is a known to have arrived.
  // d and e run before that and may not use a's slot; f and g may.
  const CoarseGraph coarse =
      graph_of({6400, 64, 64, 6400, 64, 6400, 64}, {{0, 1}, {1, 2}, {3, 4}, {2, 5}, {5, 6}});
  Schedule schedule;
  schedule.devices = {
      {stage({{0}}), stage({{3}}), stage({{4}}), stage({{2}}), stage({{5}}), stage({{6}})},
      {stage({{1}})}};
  const RankPlan plan = plan_rank(coarse, schedule, Rank(0));
  const RankPlan peer = plan_rank(coarse, schedule, Rank(1));
  EXPECT_NE(plan.slot(OpId(3)).offset, plan.slot(OpId(0)).offset);
  EXPECT_LT(plan.arena_bytes, 3 * 6400u) << "f found no slot to reuse";
  EXPECT_EQ(findings_in(coarse, plan), Lines{});
  EXPECT_EQ(findings_in(coarse, {plan, peer}), Lines{});
}

TEST(Plan, ARankWithoutOperatorsHasAnEmptyPlan) {
  const CoarseGraph coarse = graph_of({64}, {});
  Schedule schedule;
  schedule.devices = {{stage({{0}})}, {}};
  const RankPlan plan = plan_rank(coarse, schedule, Rank(1));
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_TRUE(plan.slots.empty());
  EXPECT_EQ(plan.arena_bytes, 0u);
}

TEST(Plan, RandomSchedulesOfRandomNetworks) {
  Bytes arena = 0, all = 0;
  std::size_t await_sends = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(5 + seed % 40, seed);
    const std::size_t ranks = 1 + seed % 4;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 1 + seed % 3, seed);
    const bool keep_all = seed % 5 == 0;
    std::vector<RankPlan> plans;
    for (std::size_t r = 0; r < ranks; ++r) {
      plans.push_back(plan_rank(network.coarse, schedule, Rank(r), {.keep_all = keep_all}));
      EXPECT_EQ(findings_in(network.coarse, plans.back(), keep_all), Lines{});
      EXPECT_LE(plans.back().arena_bytes, plans.back().all_tensors_bytes);
      if (keep_all) continue;
      for (const Step& step : plans.back().steps) {
        await_sends += std::holds_alternative<AwaitSend>(step) ? 1 : 0;
      }
      arena += plans.back().arena_bytes;
      all += plans.back().all_tensors_bytes;
    }
    EXPECT_EQ(findings_in(network.coarse, plans), Lines{});
  }
  EXPECT_LT(static_cast<double>(arena), 0.8 * static_cast<double>(all))
      << "hardly anything is reused";
  EXPECT_GT(await_sends, 100u) << "hardly any slot of a sent tensor is reused";
}

TEST(Plan, SequentialRunsNeedLittleMoreThanTheLiveTensors) {
  Bytes arena = 0, least = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(60, seed);
    const auto order = network.coarse.graph.topological();
    const Schedule schedule{{one_operator_stages({order.begin(), order.end()})}};
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
    EXPECT_GE(plan.arena_bytes, test::least_arena_bytes(network.coarse, plan));
    arena += plan.arena_bytes;
    least += test::least_arena_bytes(network.coarse, plan);
  }
  EXPECT_LT(static_cast<double>(arena), 1.2 * static_cast<double>(least));
  RecordProperty("arena_over_least",
                 std::to_string(static_cast<double>(arena) / static_cast<double>(least)));
}

// The random tests rely on a checker that finds errors.
TEST(PlanChecker, FindsBadPlans) {
  const RandomNetwork network = random_network(30, 1);
  const Schedule schedule = random_schedule(network.coarse.graph, 2, 2, 1);
  const RankPlan good = plan_rank(network.coarse, schedule, Rank(0));
  const RankPlan peer = plan_rank(network.coarse, schedule, Rank(1));
  ASSERT_EQ(findings_in(network.coarse, good), Lines{});
  ASSERT_FALSE(good.receives.empty());
  ASSERT_FALSE(good.sends.empty());

  RankPlan heap = good;
  for (Slot& slot : heap.slots) slot.offset = 0;
  EXPECT_NE(findings_in(network.coarse, heap), Lines{});

  const auto without = [&](auto drop) {
    RankPlan plan = good;
    std::erase_if(plan.steps, drop);
    return plan;
  };
  const RankPlan deaf =
      without([](const Step& step) { return std::holds_alternative<AwaitReceive>(step); });
  EXPECT_NE(findings_in(network.coarse, deaf), Lines{});
  const RankPlan mute =
      without([](const Step& step) { return std::holds_alternative<StartSend>(step); });
  EXPECT_NE(findings_in(network.coarse, mute), Lines{});
  EXPECT_NE(findings_in(network.coarse, {mute, peer}), Lines{});
}

}  // namespace
}  // namespace hios

#include "engine/run/clocks/run_clocks.h"

#include <gtest/gtest.h>

#include <mutex>

#include "engine/run/executor.h"
#include "hios/schedule/assignment.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::FakeBackend;
using test::FakeSource;
using test::random_network;
using test::random_schedule;
using test::RandomNetwork;
using test::run_ranks;

TEST(RunClocks, StageClocksFollowEachOther) {
  const RandomNetwork network = random_network(25, 5);
  const Schedule schedule = random_schedule(network.coarse.graph, 2, 2, 5);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    FakeBackend backend;
    FakeSource source;
    Executor executor({network.coarse, network.model, backend, transport, source}, plan);
    executor.record_stages(true);
    transport.barrier();
    const double total = executor.run_once();
    ASSERT_EQ(executor.clocks().stages.size(), plan.stages.size());
    double before = 0;
    for (const StageTimes& clock : executor.clocks().stages) {
      EXPECT_LE(before, clock.awaited_ms);
      EXPECT_LE(clock.awaited_ms, clock.start_ms);
      EXPECT_LT(clock.start_ms, clock.end_ms);
      before = clock.end_ms;
    }
    EXPECT_LE(before, total);
    EXPECT_GT(executor.overhead_ms(), 0);
    EXPECT_LT(executor.overhead_ms(), total);
  };
  run_ranks(2, body);
}

TEST(RunClocks, MessageClocksLieBetweenProducerAndConsumers) {
  const RandomNetwork network = random_network(40, 5);
  const Schedule schedule = random_schedule(network.coarse.graph, 2, 2, 5);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    ASSERT_FALSE(plan.sends.empty() && plan.receives.empty());
    FakeBackend backend;
    FakeSource source;
    Executor executor({network.coarse, network.model, backend, transport, source}, plan);
    for (const bool recorded : {true, false, true}) {
      executor.record_stages(recorded);
      transport.barrier();
      const double total = executor.run_once();
      if (!recorded) continue;
      const RunClocks& clocks = executor.clocks();
      ASSERT_EQ(clocks.sends.size(), plan.sends.size());
      ASSERT_EQ(clocks.receives.size(), plan.receives.size());
      for (std::size_t i = 0; i < plan.sends.size(); ++i) {
        EXPECT_LE(clocks.stages[plan.sends[i].stage].end_ms, clocks.sends[i].start_ms);
        EXPECT_LE(clocks.sends[i].start_ms, clocks.sends[i].end_ms);
        EXPECT_LE(clocks.sends[i].end_ms, total);
      }
      for (std::size_t i = 0; i < plan.receives.size(); ++i) {
        EXPECT_LE(0, clocks.receives[i].start_ms);
        EXPECT_LE(clocks.receives[i].start_ms, clocks.receives[i].end_ms);
        EXPECT_LE(clocks.receives[i].end_ms, clocks.stages[plan.receives[i].stage].start_ms);
      }
    }
  };
  run_ranks(2, body);
}

TEST(RunClocks, ClocksOfRanksJoinToOneTimeline) {
  const RandomNetwork network = random_network(40, 5);
  const Schedule schedule = random_schedule(network.coarse.graph, 3, 2, 5);
  std::vector<RankTimeline> parts(3);
  std::size_t receives = 0;
  std::mutex mutex;
  run_ranks(3, [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    FakeBackend backend;
    FakeSource source;
    Executor executor({network.coarse, network.model, backend, transport, source}, plan);
    executor.record_stages(true);
    transport.barrier();
    executor.run_once();
    const std::lock_guard lock(mutex);
    parts[transport.rank().index()] = executor.timeline();
    receives += plan.receives.size();
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      const StageTimes& stage = executor.clocks().stages[s];
      EXPECT_LE(stage.ready_ms, stage.start_ms);
    }
  });
  const Timeline timeline = join(parts);
  EXPECT_EQ(timeline.transfers.size(), receives);
  const Assignment assignment(network.coarse.graph.size(), schedule);
  double last = 0;
  for (const TransferTimes& transfer : timeline.transfers) {
    EXPECT_EQ(transfer.from, assignment[transfer.producer].device);
    EXPECT_NE(transfer.from, transfer.to);
    EXPECT_GT(transfer.size_bytes, 0u);
    EXPECT_GE(transfer.start_ms, last);
    last = transfer.start_ms;
  }
  for (std::size_t d = 0; d < 3; ++d) {
    ASSERT_EQ(timeline.stages[d].size(), schedule.devices[d].size());
    for (const StageTimes& stage : timeline.stages[d]) {
      EXPECT_LE(stage.end_ms, timeline.latency_ms);
    }
  }
}

TEST(RunClocks, AStageIsReadyWithTheLastOfItsTensors) {
  RankPlan plan;
  plan.receives.resize(3);
  plan.steps = {AwaitReceive{0, 1}, AwaitReceive{1, 1}, AwaitReceive{2, 2}};
  RunClocks clocks{std::vector<StageTimes>(3), {}, {{1, 4}, {2, 2}, {5, 6}}};
  clocks.stages[0].ready_ms = 9;  // of the iteration before
  note_ready_stages(plan, clocks);
  EXPECT_EQ(clocks.stages[0].ready_ms, 0);
  EXPECT_EQ(clocks.stages[1].ready_ms, 4);
  EXPECT_EQ(clocks.stages[2].ready_ms, 6);
}

// Each rank counts from its own start, so a tensor may seem to arrive before it was sent.
TEST(RunClocks, NoTransferEndsBeforeItStarts) {
  RankTimeline sender, receiver;
  sender.sends = {{OpId(0), DeviceId(0), DeviceId(1), 5, 6, 64}};
  receiver.receives = {{OpId(0), DeviceId(0), DeviceId(1), 3, 4, 64}};
  const Timeline timeline = join({sender, receiver});
  ASSERT_EQ(timeline.transfers.size(), 1u);
  EXPECT_EQ(timeline.transfers[0].start_ms, 5);
  EXPECT_EQ(timeline.transfers[0].end_ms, 5);
}

}  // namespace
}  // namespace hios

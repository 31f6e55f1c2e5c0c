#include "engine/run/clocks/step_progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/run/executor.h"
#include "mpi/session/heartbeat_transport.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using flight::EventKind;

/// The records of the ranks that run a random schedule `iterations` times.
std::vector<flight::Flight> records_of(const test::RandomNetwork& network, const Schedule& schedule,
                                       int iterations) {
  std::vector<flight::Flight> records(schedule.devices.size());
  test::run_ranks(records.size(), [&](mpi::Transport& transport) {
    flight::Recorder recorder;
    mpi::HeartbeatTransport noted(transport, &recorder);
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    test::FakeBackend backend;
    test::FakeSource source;
    Executor executor({network.coarse, network.model, backend, noted, source}, plan);
    for (int i = 0; i < iterations; ++i) executor.run_once();
    records[transport.rank().index()] = recorder.read();
  });
  return records;
}

std::size_t count(const flight::Flight& record, EventKind kind, std::uint64_t iteration) {
  return static_cast<std::size_t>(
      std::count_if(record.events.begin(), record.events.end(), [&](const flight::Event& event) {
        return event.kind == kind && event.iteration == iteration;
      }));
}

TEST(StepProgress, NotesEveryStepAndOperator) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const test::RandomNetwork network = test::random_network(12, seed);
    const Schedule schedule = test::random_schedule(network.coarse.graph, 2, 2, seed);
    const auto records = records_of(network, schedule, 2);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", rank " + std::to_string(rank));
      const RankPlan plan = plan_rank(network.coarse, schedule, Rank(rank));
      const flight::Flight& record = records[rank];
      for (const std::uint64_t iteration : {0, 1}) {
        std::size_t operators = 0;
        for (const Stage& stage : plan.stages)
          for (const Group& group : stage.groups) operators += group.size();
        EXPECT_EQ(count(record, EventKind::kOperator, iteration), operators);
        EXPECT_EQ(count(record, EventKind::kOperatorEnd, iteration), operators);
        EXPECT_EQ(count(record, EventKind::kStage, iteration), plan.stages.size());
        EXPECT_EQ(count(record, EventKind::kSend, iteration), plan.sends.size());
        EXPECT_EQ(count(record, EventKind::kIterationEnd, iteration), 1u);
      }
      for (const flight::Event& event : record.events) {
        if (event.kind != EventKind::kSend) continue;
        EXPECT_EQ(event.peer, 1 - rank);
        EXPECT_GT(event.bytes, 0u);
        EXPECT_NE(event.text.find("sending " + event.op), std::string::npos) << event.text;
      }
      EXPECT_EQ(flight::standing_text(record), "after iteration 1");
    }
  }
}

TEST(StepProgress, DistinguishesStepsWithoutARecord) {
  const test::RandomNetwork network = test::random_network(6, 1);
  const Schedule schedule = test::random_schedule(network.coarse.graph, 1, 1, 1);
  const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
  StepProgress progress(plan, network.coarse.graph, nullptr);
  EXPECT_EQ(progress.position(), StepProgress::kBetween);
  for (int iteration = 0; iteration < 2; ++iteration) {
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
      const std::uint64_t before = progress.count();
      progress.enter_step(step);
      EXPECT_GT(progress.count(), before);
      EXPECT_EQ(progress.position(), 1 + step);
    }
    progress.enter_end_of_messages();
    EXPECT_EQ(progress.position(), progress.end_of_messages());
    progress.enter_end_on_device();
    EXPECT_EQ(progress.position(), progress.end_on_device());
    progress.end_iteration();
    EXPECT_EQ(progress.position(), StepProgress::kBetween);
  }
}

// The copies of a network take inferences by turns.
TEST(StepProgress, NumbersIterationsByTheirStep) {
  const test::RandomNetwork network = test::random_network(6, 1);
  const RankPlan plan =
      plan_rank(network.coarse, test::random_schedule(network.coarse.graph, 1, 1, 1), Rank(0));
  StepProgress progress(plan, network.coarse.graph, nullptr);
  progress.number_iterations(1, 3);
  for (const std::uint64_t number : {1, 4, 7}) {
    EXPECT_EQ(progress.iteration(), number);
    progress.end_iteration();
  }
}

}  // namespace
}  // namespace hios

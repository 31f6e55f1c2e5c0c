// Ranks that run each stage as soon as it can: the bits of one operator at a time, stages that
// overtake, and the text for a watchdog.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/run/executor.h"
#include "hios/flight/recorder.h"
#include "hios/graph/fusion/coarsen.h"
#include "mpi/session/heartbeat_transport.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/as_alone.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

void expect_as_alone_in_any_order(std::uint64_t seed, std::size_t operators, double max_delay_ms) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const test::RandomNetwork network = test::random_network(operators, seed, seed % 3 == 0 ? 2 : 4);
  const std::size_t ranks = 1 + seed % 4;
  const Schedule schedule = test::random_schedule(network.coarse.graph, ranks, 1 + seed % 3, seed);
  const PlanOptions options{.keep_all = seed % 8 == 7, .any_order = true};
  const auto expected = test::computed_alone(network);
  test::ThreadOptions threads;
  threads.seed = seed;
  threads.max_delay_ms = max_delay_ms;
  test::run_ranks(
      ranks,
      [&](mpi::Transport& transport) {
        test::expect_as_alone(transport, network, schedule, options, seed, expected);
      },
      threads);
}

TEST(ReadyExecutor, RandomSchedulesGiveWhatOneOperatorAtATimeGives) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    expect_as_alone_in_any_order(seed, 5 + seed % 30, 0);
}

TEST(ReadyExecutor, LateMessagesChangeNothing) {
  for (std::uint64_t seed = 100; seed < 116; ++seed) expect_as_alone_in_any_order(seed, 20, 0.3);
}

/// Waits for a condition; fails if it never holds.
void await(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return ADD_FAILURE() << "it never came";
    std::this_thread::yield();
  }
}

/// On rank 0: a, b which also reads r of rank 1, d, e which reads d, and f which reads b and e.
class Overtaken : public testing::Test {
 protected:
  Overtaken() {
    ModelBuilder builder("overtaken", {1, 4, 4, 4});
    const TensorId a = builder.relu("a", builder.input()), r = builder.relu("r", builder.input());
    const TensorId b = builder.sum("b", {a, r});
    const TensorId d = builder.relu("d", builder.input()), e = builder.relu("e", d);
    const TensorId f = builder.sum("f", {b, e});
    Model model = std::move(builder).build();
    CoarseGraph coarse = coarsen(model);
    for (const TensorId tensor : {a, b, d, e, f}) ops_.push_back(*coarse.producer(tensor));
    const OpId remote = *coarse.producer(r);
    network_.emplace(test::RandomNetwork{std::move(model), std::move(coarse)});
    schedule_.devices = {one_operator_stages(ops_), one_operator_stages({remote})};
  }

  const CoarseGraph& coarse() const { return network_->coarse; }
  RankPlan plan(const PlanOptions& options) const {
    return plan_rank(coarse(), schedule_, Rank(0), options);
  }
  static bool share_bytes(const RankPlan& plan, OpId a, OpId b) {
    return plan.slot(a).shares_bytes_with(plan.slot(b));
  }
  std::vector<std::string> names(const std::vector<std::size_t>& stages) const {
    std::vector<std::string> list;
    for (const std::size_t s : stages) list.push_back(coarse().graph.op(ops_[s]).name);
    return list;
  }

  struct Ran {
    std::vector<std::string> operators;  ///< of rank 0, in their order
    bool as_expected = false;            ///< the output has the bits of one operator at a time
    RunClocks clocks;
    RankTimeline timeline;
    flight::Flight record;
  };

  /// Runs rank 0 by the plan. Rank 1 makes the tensor that b waits for once `release` holds.
  Ran run(const RankPlan& plan, const std::function<bool(const Executor&)>& release) {
    Ran ran;
    std::atomic<const Executor*> first = nullptr;
    const auto body = [&](mpi::Transport& real) {
      const bool is_first = real.rank() == Rank(0);
      flight::Recorder recorder;
      mpi::HeartbeatTransport transport(real, &recorder);
      test::FakeBackend backend;
      test::FakeSource source;
      const RankPlan other = plan_rank(coarse(), schedule_, Rank(1), {.any_order = true});
      if (!is_first) {
        backend.on_run = [&](const std::string&) {
          await([&] { return first.load() != nullptr && release(*first.load()); });
        };
      }
      Executor executor({coarse(), network_->model, backend, transport, source},
                        is_first ? plan : other);
      if (is_first) first = &executor;
      executor.record_stages(true);
      executor.run_once();
      if (is_first) {
        ran.operators = backend.ran;
        ran.clocks = executor.clocks();
        ran.timeline = executor.timeline();
        ran.record = recorder.read();
        const auto expected = test::computed_alone(*network_)[ops_.back().index()];
        ran.as_expected = executor.output(ops_.back()) ==
                          test::as_floats(expected, test::arithmetic_of(coarse()));
      }
      real.barrier();
    };
    test::run_ranks(2, body);
    return ran;
  }

  std::vector<OpId> ops_;  // of rank 0, by stage
  std::optional<test::RandomNetwork> network_;
  Schedule schedule_;
};

constexpr const char* kOneOther = "; 1 other stage waits";

/// Returns true if a rank says that it waits, and that one other stage does.
bool waits_with_one_other(const Executor& executor) {
  return executor.current_step().ends_with(kOneOther);
}

TEST_F(Overtaken, StagesRunBeforeAnEarlierOneThatWaits) {
  const Ran ran = run(plan({.any_order = true}), waits_with_one_other);
  EXPECT_EQ(ran.operators, names({0, 2, 3, 1, 4}));
  EXPECT_TRUE(ran.as_expected);
  const auto& stages = ran.clocks.stages;
  EXPECT_LE(stages[0].end_ms, stages[2].start_ms);
  EXPECT_LE(stages[3].end_ms, stages[1].awaited_ms);
  EXPECT_LE(stages[1].awaited_ms, stages[1].ready_ms);
  EXPECT_LE(stages[1].ready_ms, stages[1].start_ms);
  EXPECT_EQ(stages[2].awaited_ms, stages[2].start_ms) << "it waited for nothing";
  ASSERT_EQ(ran.timeline.receives.size(), 1u);
  EXPECT_EQ(ran.timeline.receives[0].start_ms, stages[1].awaited_ms);
  EXPECT_EQ(ran.timeline.receives[0].end_ms, stages[1].ready_ms);
  std::vector<std::string> recorded;
  for (const flight::Event& event : ran.record.events) {
    if (event.kind == flight::EventKind::kOperator) recorded.push_back(event.op);
  }
  EXPECT_EQ(recorded, ran.operators);
}

TEST_F(Overtaken, AWatchdogReadsWhatTheEarliestStageWaitsFor) {
  std::string text;
  run(plan({.any_order = true}), [&](const Executor& executor) {
    text = executor.current_step();
    return text.ends_with(kOneOther);
  });
  EXPECT_EQ(text, "waiting for " + coarse().graph.op(OpId(plan({}).receives[0].op)).name +
                      " from rank 1 (256 bytes), which stage 1 needs: " + names({1})[0] +
                      "; 1 other stage waits");
}

// The slots of the plan's own order, in another order, are too few.
TEST_F(Overtaken, SlotsAreSharedOnlyWhereEdgesProveIt) {
  RankPlan in_order = plan({});
  ASSERT_TRUE(share_bytes(in_order, ops_[0], ops_[2])) << "d does not take the bytes of a";
  in_order.any_order = true;
  EXPECT_FALSE(run(in_order, waits_with_one_other).as_expected);
  const RankPlan any = plan({.any_order = true});
  EXPECT_FALSE(share_bytes(any, ops_[0], ops_[2]));
  EXPECT_FALSE(share_bytes(any, ops_[1], ops_[2]));
  EXPECT_TRUE(share_bytes(any, ops_[4], ops_[0]) || share_bytes(any, ops_[4], ops_[2]))
      << "f, which follows the readers of a and d, takes the bytes of one of them";
}

TEST(ReadyExecutor, TheCountOfProgressGrowsInAnyOrder) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const test::RandomNetwork network = test::random_network(20, seed);
    const Schedule schedule = test::random_schedule(network.coarse.graph, 3, 2, seed);
    test::run_ranks(3, [&](mpi::Transport& transport) {
      const RankPlan plan =
          plan_rank(network.coarse, schedule, transport.rank(), {.any_order = true});
      test::FakeBackend backend;
      test::FakeSource source;
      Executor executor({network.coarse, network.model, backend, transport, source}, plan);
      std::uint64_t last = executor.progress();
      backend.on_run = [&](const std::string& name) {
        const std::string step = executor.current_step();
        EXPECT_NE(step.find(name), std::string::npos) << step;
        EXPECT_GE(executor.progress(), last);
        last = executor.progress();
      };
      for (int i = 0; i < 3; ++i) {
        executor.run_once();
        EXPECT_GT(executor.progress(), last);
      }
      transport.barrier();
    });
  }
}

// A rank does not wait for a message that travels while it computes.
TEST(ReadyExecutor, WaitsAndStagesOfARankAddUpToItsTime) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const test::RandomNetwork network = test::random_network(20, seed);
    const Schedule schedule = test::random_schedule(network.coarse.graph, 3, 2, seed);
    test::ThreadOptions threads;
    threads.seed = seed;
    threads.max_delay_ms = 0.3;
    test::run_ranks(
        3,
        [&](mpi::Transport& transport) {
          const RankPlan plan =
              plan_rank(network.coarse, schedule, transport.rank(), {.any_order = true});
          test::FakeBackend backend;
          test::FakeSource source;
          Executor executor({network.coarse, network.model, backend, transport, source}, plan);
          executor.record_stages(true);
          executor.run_once();
          const RankTimeline timeline = executor.timeline();
          double sum_ms = 0, last_ms = 0;
          for (const StageTimes& stage : timeline.stages) {
            EXPECT_LE(stage.ready_ms, stage.start_ms);
            sum_ms += stage.end_ms - stage.start_ms;
            last_ms = std::max(last_ms, stage.end_ms);
          }
          for (const TransferTimes& receive : timeline.receives) {
            EXPECT_LE(receive.start_ms, receive.end_ms);
            sum_ms += receive.end_ms - receive.start_ms;
          }
          EXPECT_LE(sum_ms, last_ms + 1e-6);
          transport.barrier();
        },
        threads);
  }
}

TEST(ReadyExecutor, IsForOneInferenceAtATime) {
  const test::RandomNetwork network = test::random_network(5, 1);
  const Schedule schedule = test::random_schedule(network.coarse.graph, 1, 1, 1);
  EXPECT_THROW(plan_rank(network.coarse, schedule, Rank(0), {.in_flight = 2, .any_order = true}),
               std::logic_error);
}

}  // namespace
}  // namespace hios

#include "engine/run/executor.h"
#include "engine/run/message_watch.h"

#include <gtest/gtest.h>

#include <mutex>

#include "engine/job/verification.h"
#include "hios/base/error.h"
#include "hios/schedule/assignment.h"
#include "support/fake_backend.h"
#include "support/random_network.h"
#include "support/thread_transport.h"

namespace hios {
namespace {

using test::FakeBackend;
using test::FakeSource;
using test::random_network;
using test::random_schedule;
using test::RandomNetwork;
using test::run_ranks;

Schedule sequential(const Graph& graph) {
  const auto order = graph.topological();
  return {{one_operator_stages({order.begin(), order.end()})}};
}

test::ThreadOptions delays(std::uint64_t seed, double max_delay_ms) {
  test::ThreadOptions options;
  options.seed = seed;
  options.max_delay_ms = max_delay_ms;
  return options;
}

// `expected`: a tensor of the graph, whose elements may be halves.
bool equal(const std::vector<float>& values, const std::vector<std::byte>& expected,
           const CoarseGraph& coarse) {
  return job::compare(values, test::as_floats(expected, test::arithmetic_of(coarse)), {}).bitwise;
}

// Runs a schedule on ranks as threads and compares what is there at the end, in every iteration,
// with each operator evaluated alone.
void expect_as_alone(const RandomNetwork& network, const Schedule& schedule,
                     const PlanOptions& options, const test::ThreadOptions& threads) {
  FakeBackend oracle;
  oracle.arithmetic = test::arithmetic_of(network.coarse);
  FakeSource source;
  const auto expected = test::evaluate_alone(network.coarse, network.model, oracle, source);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank(), options);
    FakeBackend backend(2, threads.seed + transport.rank().index());
    backend.arithmetic = test::arithmetic_of(network.coarse);
    FakeSource mine;
    Executor executor(network.coarse, network.model, plan, backend, transport, mine);
    for (int iteration = 0; iteration < 3; ++iteration) {
      backend.poison_tensors();
      transport.barrier();
      executor.run_once();
      for (const Slot& slot : plan.slots) {
        if (!options.keep_all && !network.coarse.graph.out_edges(slot.op).empty()) continue;
        EXPECT_TRUE(equal(executor.output(slot.op), expected[slot.op.index()], network.coarse))
            << network.coarse.graph.op(slot.op).name << " on rank " << transport.rank().index()
            << " in iteration " << iteration;
      }
    }
  };
  run_ranks(schedule.devices.size(), body, threads);
}

TEST(Executor, RandomSchedulesGiveWhatOneOperatorAtATimeGives) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(5 + seed % 30, seed, seed % 3 == 0 ? 2 : 4);
    const std::size_t ranks = 1 + seed % 4;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 1 + seed % 3, seed);
    expect_as_alone(network, schedule, {.keep_all = seed % 4 == 3}, delays(seed, 0));
  }
}

TEST(Executor, LateMessagesChangeNothing) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(20, seed);
    const Schedule schedule = random_schedule(network.coarse.graph, 3, 2, seed);
    expect_as_alone(network, schedule, {}, delays(seed, 0.5));
  }
}

TEST(Executor, ARankWithoutWorkTakesPart) {
  const RandomNetwork network = random_network(6, 1);
  Schedule schedule = sequential(network.coarse.graph);
  schedule.devices.resize(3);
  expect_as_alone(network, schedule, {}, {});
}

TEST(Executor, BindsEachGroupOnItsCoreShare) {
  const RandomNetwork network = random_network(20, 3);
  const Schedule schedule = random_schedule(network.coarse.graph, 1, 3, 3);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
    FakeBackend backend(2);
    FakeSource source;
    const Executor executor(network.coarse, network.model, plan, backend, transport, source);
    std::size_t next = 0;
    for (const Stage& stage : schedule.devices[0]) {
      const std::vector<CoreShare> expected = core_shares(stage.groups.size(), 2);
      for (std::size_t g = 0; g < stage.groups.size(); ++g) {
        for (const OpId op : stage.groups[g]) {
          EXPECT_EQ(backend.bound[next].first, network.coarse.graph.op(op).name);
          EXPECT_EQ(backend.bound[next++].second, expected[g]);
        }
      }
    }
    EXPECT_EQ(next, backend.bound.size());
  };
  run_ranks(1, body);
}

TEST(Executor, AnOperatorThatTheBackendRefusesIsBadInput) {
  const RandomNetwork network = random_network(6, 1);
  const Schedule schedule = sequential(network.coarse.graph);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
    FakeBackend backend;
    backend.refused = "op_4";
    FakeSource source;
    try {
      Executor executor(network.coarse, network.model, plan, backend, transport, source);
      FAIL() << "it was accepted";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("op_4"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("told to refuse"), std::string::npos);
    }
  };
  run_ranks(1, body);
}

TEST(Executor, AFailureNamesRankHostAndOperator) {
  const RandomNetwork network = random_network(6, 1);
  const Schedule schedule = sequential(network.coarse.graph);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
    FakeBackend backend;
    backend.failing = "op_4";
    FakeSource source;
    Executor executor(network.coarse, network.model, plan, backend, transport, source);
    try {
      executor.run_once();
      FAIL() << "it ran";
    } catch (const RunError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("rank 0 on " + transport.host()), std::string::npos) << text;
      EXPECT_NE(text.find("op_4"), std::string::npos) << text;
      EXPECT_NE(text.find("arithmetic"), std::string::npos) << text;
    }
  };
  run_ranks(1, body);
}

TEST(Executor, TellsWhichStepRunsAndThatItMoves) {
  const RandomNetwork network = random_network(6, 1);
  const Schedule schedule = sequential(network.coarse.graph);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
    FakeBackend backend;
    FakeSource source;
    Executor executor(network.coarse, network.model, plan, backend, transport, source);
    std::uint64_t last = executor.progress();
    backend.on_run = [&](const std::string& name) {
      EXPECT_GT(executor.progress(), last);
      last = executor.progress();
      const std::string step = executor.current_step();
      EXPECT_TRUE(step.starts_with("stage ") && step.ends_with(": " + name)) << step;
    };
    for (int i = 0; i < 2; ++i) {
      executor.run_once();
      EXPECT_EQ(executor.current_step(), "between two iterations, where ranks wait for each other");
    }
    EXPECT_EQ(backend.ran.size(), 2 * network.coarse.graph.size());
  };
  run_ranks(1, body);
}

TEST(Executor, StageClocksFollowEachOther) {
  const RandomNetwork network = random_network(25, 5);
  const Schedule schedule = random_schedule(network.coarse.graph, 2, 2, 5);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    FakeBackend backend;
    FakeSource source;
    Executor executor(network.coarse, network.model, plan, backend, transport, source);
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

TEST(Executor, MessageClocksLieBetweenMakingAndUse) {
  const RandomNetwork network = random_network(40, 5);
  const Schedule schedule = random_schedule(network.coarse.graph, 2, 2, 5);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    ASSERT_FALSE(plan.sends.empty() && plan.receives.empty());
    FakeBackend backend;
    FakeSource source;
    Executor executor(network.coarse, network.model, plan, backend, transport, source);
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

TEST(Executor, PartsOfRanksJoinToOneTimeline) {
  const RandomNetwork network = random_network(40, 5);
  const Schedule schedule = random_schedule(network.coarse.graph, 3, 2, 5);
  std::vector<RankTimeline> parts(3);
  std::size_t receives = 0;
  std::mutex mutex;
  run_ranks(3, [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    FakeBackend backend;
    FakeSource source;
    Executor executor(network.coarse, network.model, plan, backend, transport, source);
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

// A channel on which messages are through when the test says so.
class ScriptedChannel final : public mpi::Channel {
 public:
  std::vector<bool> was_received, was_sent;
  void start_receives() override {}
  void start_send(std::size_t) override {}
  void await_receive(std::size_t) override {}
  void await_send(std::size_t) override {}
  bool received(std::size_t receive) override { return was_received[receive]; }
  bool sent(std::size_t send) override { return was_sent[send]; }
  void poll() override {}
  void finish() override {}
};

TEST(MessageWatch, NotesWhatItSeesWhenItLooks) {
  ScriptedChannel channel;
  channel.was_received = {false, false, false};
  channel.was_sent = {false, false};
  std::vector<MessageClock> sends(2), receives(3);
  MessageWatch watch(channel, sends, receives);
  for (int iteration = 0; iteration < 2; ++iteration) {
    channel.was_received = {false, false, false};
    channel.was_sent = {false, false};
    watch.begin();
    channel.was_received[1] = true;
    watch.look(2);  // receive 1 is there before anybody waits
    watch.receive_awaited(0, 3);
    watch.receive_awaited(1, 3);
    channel.was_received[0] = true;
    watch.look(5);
    watch.send_started(0, 6);
    watch.send_started(1, 7);
    channel.was_sent[0] = true;
    watch.look(8);
    watch.look(9);
    watch.receive_awaited(2, 10);
    watch.end(12);
    const auto expect = [](const MessageClock& clock, double start_ms, double end_ms) {
      EXPECT_EQ(clock.start_ms, start_ms);
      EXPECT_EQ(clock.end_ms, end_ms);
    };
    expect(receives[0], 3, 5);
    expect(receives[1], 2, 2);
    expect(receives[2], 10, 12);
    expect(sends[0], 6, 8);
    expect(sends[1], 7, 12);
  }
}

// Writes down what the executor asks of other ranks; whatever it awaits is there.
class LoggingTransport final : public mpi::Transport {
 public:
  explicit LoggingTransport(mpi::Transport& real) : real_(real) {}
  std::vector<std::string> log;

  Rank rank() const override { return real_.rank(); }
  std::size_t size() const override { return real_.size(); }
  std::size_t local_rank() const override { return real_.local_rank(); }
  std::size_t local_size() const override { return real_.local_size(); }
  const std::string& host() const override { return real_.host(); }
  std::string path() const override { return real_.path(); }
  bool claims_device_memory() const override { return real_.claims_device_memory(); }
  void barrier() override { real_.barrier(); }
  std::vector<std::string> all_gather(const std::string& text) override {
    return real_.all_gather(text);
  }
  std::string broadcast(const std::string& text) override { return real_.broadcast(text); }
  void all_reduce_max(std::span<double> values) override { real_.all_reduce_max(values); }
  std::unique_ptr<mpi::Channel> open_channel(std::span<const mpi::Message>,
                                             std::span<const mpi::Message>) override {
    return std::make_unique<LoggingChannel>(log);
  }
  void abort(int exit_code) override { real_.abort(exit_code); }

 private:
  class LoggingChannel final : public mpi::Channel {
   public:
    explicit LoggingChannel(std::vector<std::string>& log) : log_(log) {}
    void start_receives() override { log_.push_back("start receives"); }
    void start_send(std::size_t i) override { log_.push_back("send " + std::to_string(i)); }
    void await_receive(std::size_t i) override { log_.push_back("await " + std::to_string(i)); }
    void await_send(std::size_t i) override { log_.push_back("free " + std::to_string(i)); }
    bool received(std::size_t) override { return true; }
    bool sent(std::size_t) override { return true; }
    void poll() override { log_.push_back("poll"); }
    void finish() override { log_.push_back("finish"); }

   private:
    std::vector<std::string>& log_;
  };
  mpi::Transport& real_;
};

TEST(Executor, PostsReceivesFirstFollowsThePlanAndPollsBeforeEachStage) {
  const RandomNetwork network = random_network(25, 6);
  const Schedule schedule = random_schedule(network.coarse.graph, 2, 2, 6);
  run_ranks(1, [&](mpi::Transport& real) {
    LoggingTransport transport(real);
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
    ASSERT_FALSE(plan.sends.empty() || plan.receives.empty());
    FakeBackend backend;
    backend.polls = false;  // only those of the executor itself
    backend.on_run = [&](const std::string&) {
      if (transport.log.back() != "run") transport.log.push_back("run");
    };
    FakeSource source;
    Executor executor(network.coarse, network.model, plan, backend, transport, source);
    executor.run_once();

    std::vector<std::string> expected = {"start receives"};
    for (const Step& step : plan.steps) {
      if (const auto* await = std::get_if<AwaitReceive>(&step)) {
        expected.push_back("await " + std::to_string(await->receive));
      } else if (const auto* free = std::get_if<AwaitSend>(&step)) {
        expected.push_back("free " + std::to_string(free->send));
      } else if (const auto* start = std::get_if<StartSend>(&step)) {
        expected.push_back("send " + std::to_string(start->send));
      } else {
        expected.insert(expected.end(), {"poll", "run"});
      }
    }
    expected.push_back("finish");
    EXPECT_EQ(transport.log, expected);
  });
}

TEST(Executor, ARankThatDiesTakesTheOthersWithIt) {
  const RandomNetwork network = random_network(20, 2);
  const Schedule schedule = random_schedule(network.coarse.graph, 3, 1, 2);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    FakeBackend backend;
    FakeSource source;
    Executor executor(network.coarse, network.model, plan, backend, transport, source);
    for (int i = 0; i < 3; ++i) {
      transport.barrier();
      executor.run_once();
    }
  };
  test::ThreadOptions options;
  options.death = test::Death{Rank(1), 5};
  EXPECT_THROW(run_ranks(3, body, options), RunError);
}

}  // namespace
}  // namespace hios

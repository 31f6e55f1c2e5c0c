#include "engine/run/executor.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/as_alone.h"
#include "support/networks/random_network.h"
#include "support/transports/forwarding_transport.h"
#include "support/transports/thread_transport.h"

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

// Runs a schedule on ranks as threads and compares the tensors at the end of every iteration with
// each operator evaluated alone.
void expect_as_alone(const RandomNetwork& network, const Schedule& schedule,
                     const PlanOptions& options, const test::ThreadOptions& threads) {
  const auto expected = test::computed_alone(network);
  const auto body = [&](mpi::Transport& transport) {
    test::expect_as_alone(transport, network, schedule, options, threads.seed, expected);
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

// The ranks of some seeds share memory in two groups, as those of two hosts do.
TEST(Executor, RanksThatShareMemoryGiveTheSame) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(5 + seed % 30, seed, seed % 3 == 0 ? 2 : 4);
    const std::size_t ranks = 2 + seed % 3;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 1 + seed % 3, seed);
    PlanOptions options{.keep_all = seed % 4 == 3};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      options.sharers.push_back(seed % 2 == 0 ? 0 : rank / 2 * 2);
    }
    expect_as_alone(network, schedule, options, delays(seed, seed % 5 == 0 ? 0.3 : 0));
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

TEST(Executor, ARankWithoutOperatorsParticipates) {
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
    const Executor executor({network.coarse, network.model, backend, transport, source}, plan);
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
      Executor executor({network.coarse, network.model, backend, transport, source}, plan);
      FAIL() << "it was accepted";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("op_4"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("the test refuses"), std::string::npos);
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
    Executor executor({network.coarse, network.model, backend, transport, source}, plan);
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

TEST(Executor, ReportsItsStepAndItsProgress) {
  const RandomNetwork network = random_network(6, 1);
  const Schedule schedule = sequential(network.coarse.graph);
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
    FakeBackend backend;
    FakeSource source;
    Executor executor({network.coarse, network.model, backend, transport, source}, plan);
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

// Notes the executor's calls to other ranks; every await returns at once.
class LoggingTransport final : public test::ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  std::vector<std::string> log;

  std::unique_ptr<mpi::Channel> open_channel(std::span<const mpi::Message>,
                                             std::span<const mpi::Message>) override {
    return std::make_unique<LoggingChannel>(log);
  }

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
    bool finished() override { return true; }

   private:
    std::vector<std::string>& log_;
  };
};

TEST(Executor, PostsReceivesFirstFollowsThePlanAndPollsBeforeEachStage) {
  const RandomNetwork network = random_network(25, 6);
  const Schedule schedule = random_schedule(network.coarse.graph, 2, 2, 6);
  run_ranks(1, [&](mpi::Transport& real) {
    LoggingTransport transport(real);
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
    ASSERT_FALSE(plan.sends.empty() || plan.receives.empty());
    FakeBackend backend;
    backend.polls = false;  // only the polls of the executor itself
    backend.on_run = [&](const std::string&) {
      if (transport.log.back() != "run") transport.log.push_back("run");
    };
    FakeSource source;
    Executor executor({network.coarse, network.model, backend, transport, source}, plan);
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
    Executor executor({network.coarse, network.model, backend, transport, source}, plan);
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

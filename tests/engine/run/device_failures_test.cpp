// The message, and the end of the job, when an asynchronous device fails.
#include <gtest/gtest.h>

#include <exception>

#include "engine/run/executor.h"
#include "engine/run/one_device.h"
#include "hios/base/error.h"
#include "support/expect_error.h"
#include "support/transports/device_ranks.h"

namespace hios {
namespace {

using test::backend_on;
using test::FakeAccelerator;
using test::FakeOptions;
using test::FakeSource;
using test::OneDevice;
using test::random_network;
using test::random_schedule;
using test::RandomNetwork;
using test::RouteCase;
using test::run_device_ranks;

/// A failure in the run before recording is thrown by the executor's constructor.
TEST(OneDeviceFailures, AFailureOfTheFirstRunNamesRankHostAndStages) {
  const RandomNetwork network = random_network(8, 1);
  const Schedule schedule = random_schedule(network.coarse.graph, 1, 2, 1);
  for (const std::size_t failing : {std::size_t{0}, std::size_t{6}}) {
    FakeOptions options;
    options.failing = failing;
    test::expect_error<RunError>([&] { OneDevice(network, schedule, options); },
                                 {"rank 0 on ", ", running stages 0 to ",
                                  " for the first time: ", "failed as the test asked",
                                  "; the device had been given stream 0: "});
  }
}

TEST(OneDeviceFailures, AFailureOfTheDeviceNamesRankHostAndStages) {
  const RandomNetwork network = random_network(8, 1);
  const Schedule schedule = random_schedule(network.coarse.graph, 1, 2, 1);
  for (const std::size_t failing : {std::size_t{0}, std::size_t{6}}) {
    FakeOptions options;
    options.failing = failing;
    OneDevice alone(network, schedule, options, /*records=*/false);
    try {
      alone.executor.run_once();
      FAIL() << "it ran";
    } catch (const RunError& error) {
      const std::string text = error.what();
      const std::string last = std::to_string(alone.plan.stages.size() - 1);
      EXPECT_NE(text.find("rank 0 on " + alone.transport->host()), std::string::npos) << text;
      EXPECT_NE(text.find("waiting for the device, given last stages 0 to " + last + ": "),
                std::string::npos)
          << text;
      EXPECT_NE(text.find("failed as the test asked"), std::string::npos) << text;
      EXPECT_NE(text.find("; the device had been given stream 0: "), std::string::npos) << text;
      EXPECT_EQ(error.need(), Need(need::FailedOperator{}));
    }
  }
}

TEST(OneDeviceFailures, AnOperatorThatFailsIsNamedByTheDevice) {
  const RandomNetwork network = random_network(6, 1);
  OneDevice alone(network, random_schedule(network.coarse.graph, 1, 2, 1));
  alone.backend.failing = "op_4";  // from now on: it ran once before it was recorded
  try {
    alone.executor.run_once();
    FAIL() << "it ran";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("the arithmetic of op_4"), std::string::npos)
        << error.what();
  }
}

/// The stream that each operator of a plan runs on, by OpId.
std::vector<std::size_t> streams_of(const RankPlan& plan, std::size_t operators) {
  std::vector<std::size_t> streams(operators);
  for (const Stage& stage : plan.stages) {
    for (std::size_t g = 0; g < stage.groups.size(); ++g) {
      for (const OpId op : stage.groups[g]) streams[op.index()] = g;
    }
  }
  return streams;
}

TEST(OneDeviceFailures, BlockingNamesTheOneOperatorThatFailedAndItsStream) {
  const RandomNetwork network = random_network(14, 3);
  const Schedule schedule = random_schedule(network.coarse.graph, 1, 3, 3);
  std::size_t beyond_the_first = 0;
  for (std::size_t k = 0; k < network.coarse.graph.size(); ++k) {
    const std::string name = network.coarse.graph.op(OpId(k)).name;
    for (const auto pace : {FakeOptions::Pace::kLazy, FakeOptions::Pace::kEager}) {
      FakeOptions options;
      options.pace = pace;
      OneDevice alone(network, schedule, options, /*records=*/true, /*blocking=*/true);
      alone.backend.on_run = [&](const std::string& running) {
        if (running == name) throw std::runtime_error("an illegal address was encountered");
      };
      const std::size_t stream = streams_of(alone.plan, network.coarse.graph.size())[k];
      beyond_the_first += stream > 0 ? 1 : 0;
      test::expect_error<RunError>(
          [&] { alone.executor.run_once(); },
          {"rank 0 on " + alone.transport->host(),
           "operator " + name + " on stream " + std::to_string(stream) + ", stage ",
           "failed: an illegal address was encountered"});
    }
  }
  EXPECT_GT(beyond_the_first, 4u);
}

TEST(OneDeviceFailures, BlockingDistinguishesAFailureBeforeTheFirstOperator) {
  const RandomNetwork network = random_network(6, 1);
  FakeOptions options;
  options.pace = FakeOptions::Pace::kLazy;
  OneDevice alone(network, random_schedule(network.coarse.graph, 1, 2, 1), options, true, true);
  alone.device.enqueue(mpi::Queue::kOut, [] { throw std::runtime_error("a copy went astray"); });
  test::expect_error<RunError>([&] { alone.executor.run_once(); },
                               {"a transfer before operator op_", "a copy went astray"});
}

/// A rank that fails leaves no work queued that would run after its operators are destroyed. In a
/// process of its own the device's work ends with it; here other ranks' threads would run it.
class AbandonedOnFailure {
 public:
  explicit AbandonedOnFailure(FakeAccelerator* device) : device_(device) {}
  ~AbandonedOnFailure() {
    if (device_ != nullptr && std::uncaught_exceptions() > 0) device_->abandon();
  }

 private:
  FakeAccelerator* device_;
};

class DeviceFailures : public testing::TestWithParam<RouteCase> {};

// The job ends, whichever rank fails and whatever route tensors take.
TEST_P(DeviceFailures, AFailureOnOneRankEndsTheJobAndNamesTheRank) {
  const RandomNetwork network = random_network(18, 5);
  const Schedule schedule = random_schedule(network.coarse.graph, 3, 2, 5);
  const std::size_t failing = GetParam().route ? 1 : 2;  // one that has a device
  const RankPlan plan = plan_rank(network.coarse, schedule, Rank(failing));
  const OpId op = plan.stages.back().groups.front().back();
  const std::string name = network.coarse.graph.op(op).name;
  for (const bool blocking : {false, true}) {
    const auto run = [&] {
      run_device_ranks(3, {GetParam()}, [&](mpi::Transport& transport, FakeAccelerator* device) {
        const RankPlan mine = plan_rank(network.coarse, schedule, transport.rank());
        const auto backend = backend_on(device, true);
        if (transport.rank() == Rank(failing)) {
          backend->on_run = [&](const std::string& running) {
            if (running == name) throw std::runtime_error("launch failure");
          };
        }
        FakeSource source;
        Executor executor({network.coarse, network.model, *backend, transport, source}, mine,
                          {.blocking = blocking});
        const AbandonedOnFailure at_the_end(device);
        transport.barrier();
        executor.run_once();
        executor.close();
      });
    };
    const std::string rank = "rank " + std::to_string(failing) + " on ";
    if (blocking) {
      test::expect_error<RunError>(
          run, {rank, "operator " + name + " on stream 0", "failed: launch failure"});
    } else {
      test::expect_error<RunError>(run, {rank, "launch failure", "had been given stream 0: "});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Routes, DeviceFailures, testing::ValuesIn(test::device_route_cases()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace hios

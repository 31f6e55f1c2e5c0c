// Many inferences in flight: random schedules, buffers and numbers of inferences, on ranks as
// threads and on fake devices that run as late as they may, give for every input the bits of one
// operator at a time. Fake backends poison the buffers that they write, so that a buffer that is
// reused too early shows.
#include "engine/run/pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/run/one_device.h"
#include "hios/base/error.h"
#include "support/fakes/fake_async_backend.h"
#include "support/networks/inferences_as_alone.h"
#include "support/networks/random_network.h"
#include "support/programs/hang_guard.h"
#include "support/transports/device_ranks.h"

namespace hios {
namespace {

using test::DeviceRanks;
using test::Expected;
using test::FakeAccelerator;
using test::FakeBackend;
using test::FakeOptions;
using test::FakeSource;
using test::HangGuard;
using test::random_network;
using test::random_schedule;
using test::RandomNetwork;
using test::run_ranks;

TEST(Pipeline, RandomSchedulesGiveForEveryInputWhatOneOperatorAtATimeGives) {
  HangGuard guard;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    guard.step("seed " + std::to_string(seed));
    const RandomNetwork network =
        test::network_with_read_outputs(3 + seed % 25, seed, seed % 3 == 0 ? 2 : 4);
    const std::size_t ranks = 1 + seed % 4, in_flight = 1 + seed / 4 % 8;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 1 + seed % 3, seed);
    const Expected expected = test::inputs_alone(network, in_flight + 1);
    run_ranks(ranks, [&](mpi::Transport& transport) {
      FakeBackend backend(2, seed + transport.rank().index());
      test::expect_inferences_as_alone(transport, network, schedule, backend, in_flight, expected);
    });
  }
}

TEST(Pipeline, LateMessagesChangeNothing) {
  HangGuard guard;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    guard.step("seed " + std::to_string(seed));
    const RandomNetwork network = random_network(15, seed);
    const Schedule schedule = random_schedule(network.coarse.graph, 3, 2, seed);
    const std::size_t in_flight = 1 + seed % 4;
    const Expected expected = test::inputs_alone(network, in_flight + 1);
    test::ThreadOptions options;
    options.seed = seed;
    options.max_delay_ms = 0.5;
    run_ranks(
        3,
        [&](mpi::Transport& transport) {
          FakeBackend backend(2, seed);
          test::expect_inferences_as_alone(transport, network, schedule, backend, in_flight,
                                           expected);
        },
        options);
  }
}

class DevicePipeline : public testing::TestWithParam<test::RouteCase> {};

TEST_P(DevicePipeline, RandomSchedulesGiveForEveryInputWhatOneOperatorAtATimeGives) {
  HangGuard guard;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    guard.step("seed " + std::to_string(seed));
    const RandomNetwork network =
        test::network_with_read_outputs(4 + seed % 20, seed, seed % 3 == 1 ? 2 : 4);
    const std::size_t ranks = 1 + seed % 4, in_flight = 1 + seed / 4 % 4;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 1 + seed % 3, seed);
    const Expected expected = test::inputs_alone(network, in_flight + 1);
    DeviceRanks setting{GetParam()};
    setting.seed = seed;
    setting.threads.seed = seed;
    setting.threads.max_delay_ms = seed % 2 == 0 ? 0 : 0.3;
    setting.pace = seed % 5 == 3   ? FakeOptions::Pace::kLazy
                   : seed % 5 == 4 ? FakeOptions::Pace::kEager
                                   : FakeOptions::Pace::kRandom;
    test::run_device_ranks(ranks, setting, [&](mpi::Transport& transport, FakeAccelerator* device) {
      const auto backend = test::backend_on(device, seed % 3 != 2);
      test::expect_inferences_as_alone(transport, network, schedule, *backend, in_flight, expected);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Routes, DevicePipeline, testing::ValuesIn([] {
                           std::vector<test::RouteCase> cases = test::device_route_cases();
                           cases.push_back(test::route_case("host"));
                           return cases;
                         }()),
                         [](const auto& one) { return one.param.name; });

/// One operator after the other, each on its own rank.
Schedule chain(const Graph& graph, std::size_t ranks) {
  Schedule schedule;
  schedule.devices.resize(ranks);
  const auto order = graph.topological();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t rank = i * ranks / order.size();
    schedule.devices[rank].push_back({{{order[i]}}});
  }
  return schedule;
}

// The first rank of a chain waits only for the ranks that it sends to.
TEST(Pipeline, NoRankIsAheadOfItsReceiverByMoreThanItsBuffers) {
  HangGuard guard;
  const RandomNetwork network = random_network(12, 5);
  const Schedule schedule = chain(network.coarse.graph, 3);
  for (const std::size_t in_flight : {1, 2, 4}) {
    std::vector<std::atomic<std::size_t>> started(3);
    std::atomic<bool> ahead = false;
    const std::size_t first_of_last = schedule.devices[2][0].groups[0][0].index();
    const std::size_t first_of_first = schedule.devices[0][0].groups[0][0].index();
    run_ranks(3, [&](mpi::Transport& transport) {
      const std::size_t rank = transport.rank().index();
      const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank(),
                                      {.in_flight = in_flight, .inputs = 2});
      FakeBackend backend;
      const std::string first =
          network.coarse.graph.op(OpId(rank == 0 ? first_of_first : first_of_last)).name;
      backend.on_run = [&](const std::string& name) {
        if (rank != 1 && name != first) return;
        if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++started[rank];
        // Two ranks after the first, with buffers on both sides of each.
        if (rank == 0 && started[0] > started[2] + 4 * in_flight + 1) ahead = true;
      };
      FakeSource source;
      Pipeline pipeline({network.coarse, network.model, backend, transport, source}, plan);
      std::vector<InferenceTimes> times(60);
      transport.barrier();
      pipeline.run(times);
      pipeline.close();
    });
    EXPECT_FALSE(ahead) << in_flight << " in flight";
  }
}

TEST(Pipeline, AFailureNamesRankHostInferenceAndOperator) {
  const RandomNetwork network = random_network(6, 1);
  const Schedule schedule = chain(network.coarse.graph, 1);
  run_ranks(1, [&](mpi::Transport& transport) {
    const RankPlan plan =
        plan_rank(network.coarse, schedule, Rank(0), {.in_flight = 2, .inputs = 3});
    FakeBackend backend;
    std::size_t runs = 0;
    backend.on_run = [&](const std::string& name) {
      if (name == "op_4" && ++runs == 6) throw RunError("arithmetic is over");
    };
    FakeSource source;
    Pipeline pipeline({network.coarse, network.model, backend, transport, source}, plan);
    std::vector<InferenceTimes> times(9);
    try {
      pipeline.run(times);
      FAIL() << "it ran";
    } catch (const RunError& error) {
      const std::string text = error.what();
      for (const std::string& word :
           {std::string("rank 0 on ") + transport.host(), std::string("inference 5"),
            std::string("op_4"), std::string("arithmetic is over")}) {
        EXPECT_NE(text.find(word), std::string::npos) << text;
      }
    }
  });
}

TEST(Pipeline, TakesEveryStepThInference) {
  const RandomNetwork network = random_network(6, 1);
  const Schedule schedule = chain(network.coarse.graph, 1);
  const Expected expected = test::inputs_alone(network, 5);
  run_ranks(1, [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0), {.inputs = 5});
    FakeBackend backend;
    FakeSource source;
    Pipeline pipeline({network.coarse, network.model, backend, transport, source}, plan,
                      {.first = 1, .step = 3, .traced = 2});
    std::vector<InferenceTimes> times(3);  // 1, 4, 7: inputs 1, 4, 2
    pipeline.run(times);
    for (std::size_t input = 0; input < 5; ++input) {
      EXPECT_EQ(pipeline.ran(input), input == 1 || input == 2 || input == 4);
      if (!pipeline.ran(input)) continue;
      for (const OpId op : plan.outputs) {
        EXPECT_EQ(pipeline.output(op, input),
                  test::as_floats(expected[input][op.index()], Precision::kFp32));
      }
    }
    const auto trace = pipeline.trace();
    ASSERT_EQ(trace.size(), 2 * schedule.devices[0].size());
    EXPECT_EQ(trace.front().inference, 4u);
    EXPECT_EQ(trace.back().inference, 7u);
  });
}

TEST(Pipeline, TracesOnlyInferencesThatRan) {
  const RandomNetwork network = random_network(6, 1);
  const Schedule schedule = chain(network.coarse.graph, 1);
  run_ranks(1, [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, Rank(0));
    FakeBackend backend;
    FakeSource source;
    Pipeline pipeline({network.coarse, network.model, backend, transport, source}, plan,
                      {.traced = 8});
    std::vector<InferenceTimes> times(3);
    pipeline.run(times);
    EXPECT_EQ(pipeline.trace().size(), 3 * schedule.devices[0].size());
  });
}

/// Returns the shares of a rank whose peer sleeps in each operator.
TimeShares shares_before_a_slow_rank(const RandomNetwork& network) {
  const Schedule schedule = chain(network.coarse.graph, 2);
  TimeShares of_first;
  run_ranks(2, [&](mpi::Transport& transport) {
    const RankPlan plan =
        plan_rank(network.coarse, schedule, transport.rank(), {.in_flight = 2, .inputs = 3});
    FakeBackend backend;
    backend.on_run = [&](const std::string&) {
      if (transport.rank() == Rank(1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    FakeSource source;
    Pipeline pipeline({network.coarse, network.model, backend, transport, source}, plan);
    std::vector<InferenceTimes> times(12);
    transport.barrier();
    pipeline.run(times);
    const TimeShares& shares = pipeline.shares();
    EXPECT_GE(shares.total_ms(), times.back().end_ms);
    if (transport.rank() == Rank(0)) {
      of_first = shares;
    } else {
      EXPECT_GE(shares.computing_ms, 12 * static_cast<double>(schedule.devices[1].size()));
    }
    pipeline.close();
  });
  return of_first;
}

TEST(Pipeline, ReportsTheWaitsOfARank) {
  const RandomNetwork network = random_network(12, 5);
  bool waits_more = false;
  for (int i = 0; i < 5 && !waits_more; ++i) {  // a busy machine lengthens its own operators
    const TimeShares shares = shares_before_a_slow_rank(network);
    waits_more = shares.waiting_ms > shares.computing_ms;
  }
  EXPECT_TRUE(waits_more);
}

}  // namespace
}  // namespace hios

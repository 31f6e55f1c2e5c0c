#include "engine/run/timing.h"

#include <gtest/gtest.h>

#include "support/thread_transport.h"

namespace hios {
namespace {

using test::run_ranks;

TEST(Measure, TheLatencyIsTheSlowestRanks) {
  run_ranks(3, [](mpi::Transport& transport) {
    // Rank r takes 1, 2, 3, … on its turn, else 0.5.
    int call = 0;
    const auto latencies = measure(transport, {.warmup = 0, .iterations = 6}, [&] {
      ++call;
      return call % 3 == static_cast<int>(transport.rank().index()) ? call : 0.5;
    });
    EXPECT_EQ(latencies, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  });
}

TEST(Measure, WarmUpRunsAreNotCounted) {
  run_ranks(2, [](mpi::Transport& transport) {
    int call = 0;
    const auto latencies =
        measure(transport, {.warmup = 4, .iterations = 2}, [&] { return 1.0 * ++call; });
    EXPECT_EQ(latencies, (std::vector<double>{5, 6}));
  });
}

TEST(Measure, RanksAgreeWhenTheDurationIsReached) {
  run_ranks(3, [](mpi::Transport& transport) {
    // 100 ms at 30 ms by the slowest rank: four iterations, although the others need more.
    const double mine = transport.rank() == Rank(2) ? 30 : 10;
    const auto latencies =
        measure(transport, {.warmup = 0, .iterations = 1, .duration_s = 0.1}, [&] { return mine; });
    EXPECT_EQ(latencies, std::vector<double>(4, 30.0));
  });
}

TEST(Measure, EachRunBeginsAfterABarrier) {
  // Ranks that never communicate in a run still cannot be more than a run apart.
  int counts[2] = {0, 0};
  run_ranks(2, [&](mpi::Transport& transport) {
    const std::size_t me = transport.rank().index();
    measure(transport, {.warmup = 1, .iterations = 50}, [&] {
      ++counts[me];
      return 1.0;
    });
    transport.barrier();
    EXPECT_EQ(counts[0], counts[1]);
  });
  EXPECT_EQ(counts[0], 51);
}

TEST(Protocol, SaysWhatItWas) {
  const Json json = Protocol{.warmup = 2, .iterations = 7, .duration_s = 0.5}.json();
  EXPECT_EQ(json.dump(), R"({"warmup":2,"iterations":7,"duration_s":0.5})");
}

}  // namespace
}  // namespace hios

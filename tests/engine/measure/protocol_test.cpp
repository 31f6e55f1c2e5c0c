#include "engine/measure/protocol.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/fakes/fake_disturbance.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::FakeDisturbance;
using test::run_ranks;
using Times = std::vector<double>;

TEST(Measure, TheLatencyIsTheSlowestRanks) {
  run_ranks(3, [](mpi::Transport& transport) {
    // Rank r takes 1, 2, 3, … on its turn, else 0.5.
    int call = 0;
    FakeDisturbance quiet;
    const Samples samples = measure(transport, {.warmup = 0, .iterations = 6}, quiet, [&] {
      ++call;
      return call % 3 == static_cast<int>(transport.rank().index()) ? call : 0.5;
    });
    EXPECT_EQ(samples.ms, (Times{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(samples.disturbed, std::vector<bool>(6, false));
  });
}

TEST(Measure, WarmUpRunsAreNotCounted) {
  run_ranks(2, [](mpi::Transport& transport) {
    int call = 0;
    FakeDisturbance quiet;
    const Samples samples =
        measure(transport, {.warmup = 4, .iterations = 2}, quiet, [&] { return 1.0 * ++call; });
    EXPECT_EQ(samples.ms, (Times{5, 6}));
  });
}

TEST(Measure, RanksAgreeWhenTheyHaveWarmedUpForLongEnough) {
  run_ranks(3, [](mpi::Transport& transport) {
    // 100 ms at 30 ms by the slowest rank: four runs, two more than the minimum.
    const double mine = transport.rank() == Rank(2) ? 30 : 10;
    FakeDisturbance quiet;
    std::vector<std::size_t> counts;
    const Samples samples = measure(
        transport, {.warmup = 2, .warmup_s = 0.1, .iterations = 1}, quiet, [&] { return mine; },
        [&](const RunsDone& done) { counts.push_back(done.warm_ups + 100 * done.samples); });
    EXPECT_EQ(samples.ms, Times(1, 30.0));
    EXPECT_EQ(counts, (std::vector<std::size_t>{1, 2, 3, 4, 104}));
  });
}

TEST(Measure, RanksAgreeWhenTheDurationIsReached) {
  run_ranks(3, [](mpi::Transport& transport) {
    // 100 ms at 30 ms by the slowest rank: four iterations, although the others need more.
    const double mine = transport.rank() == Rank(2) ? 30 : 10;
    FakeDisturbance quiet;
    const Samples samples = measure(transport, {.warmup = 0, .iterations = 1, .duration_s = 0.1},
                                    quiet, [&] { return mine; });
    EXPECT_EQ(samples.ms, Times(4, 30.0));
  });
}

// Signals reach ranks at different moments, and some ranks not at all.
TEST(Measure, AllRanksEndTogetherOnceOneGotAStopRequest) {
  run_ranks(3, [](mpi::Transport& transport) {
    int asked = 0;
    Protocol protocol{.warmup = 2, .iterations = 50, .settle_s = 100};
    protocol.stop = [&] { return transport.rank() == Rank(1) && ++asked > 5; };
    FakeDisturbance quiet;
    const Samples samples = measure(transport, protocol, quiet, [] { return 1.0; });
    EXPECT_TRUE(samples.stopped);
    EXPECT_EQ(samples.ms, Times(4, 1.0)) << "the run during which it was asked counts";
  });
}

TEST(Measure, AStopRequestInTheWarmUpMeasuresNothing) {
  run_ranks(2, [](mpi::Transport& transport) {
    Protocol protocol{.warmup = 3, .iterations = 5};
    protocol.stop = [&] { return transport.rank() == Rank(0); };
    FakeDisturbance quiet;
    int runs = 0;
    const Samples samples = measure(transport, protocol, quiet, [&] { return 1.0 * ++runs; });
    EXPECT_TRUE(samples.stopped);
    EXPECT_EQ(samples.ms, Times());
    EXPECT_EQ(runs, 1);
  });
}

TEST(Measure, RunsToTheEndWithoutAStopRequest) {
  run_ranks(2, [](mpi::Transport& transport) {
    Protocol protocol{.warmup = 1, .iterations = 5};
    protocol.stop = [] { return false; };
    FakeDisturbance quiet;
    const Samples samples = measure(transport, protocol, quiet, [] { return 1.0; });
    EXPECT_FALSE(samples.stopped);
    EXPECT_EQ(samples.ms.size(), 5u);
  });
}

TEST(Measure, EachRunBeginsAfterABarrier) {
  // Ranks that never communicate in a run still cannot be more than a run apart.
  int counts[2] = {0, 0};
  run_ranks(2, [&](mpi::Transport& transport) {
    const std::size_t me = transport.rank().index();
    FakeDisturbance quiet;
    measure(transport, {.warmup = 1, .iterations = 50}, quiet, [&] {
      ++counts[me];
      return 1.0;
    });
    transport.barrier();
    EXPECT_EQ(counts[0], counts[1]);
  });
  EXPECT_EQ(counts[0], 51);
}

TEST(Measure, AnIterationIsDisturbedForAllWhereItWasForOne) {
  run_ranks(2, [](mpi::Transport& transport) {
    FakeDisturbance machine;
    int call = 0;
    const Samples samples = measure(transport, {.warmup = 0, .iterations = 6}, machine, [&] {
      if (++call % 3 == static_cast<int>(transport.rank().index())) machine.disturb();
      return 5.0;
    });
    EXPECT_EQ(samples.disturbed, (std::vector<bool>{true, false, true, true, false, true}));
  });
}

/// `samples` of 10 ms, those in [from, to) of 14.
double phase(int sample, int from, int to) { return sample >= from && sample < to ? 14 : 10; }

TEST(Settling, IterationsGoOnUntilTheHalvesAgree) {
  run_ranks(2, [](mpi::Transport& transport) {
    FakeDisturbance quiet;
    int call = 0;
    const Protocol protocol{.warmup = 0, .iterations = 32, .settle_s = 100};
    const auto once = [&] { return phase(call++, 0, 24); };
    const Samples samples = measure(transport, protocol, quiet, once);
    // After 24 slow ones, half of the first half's fastest quarter must be others: 4 of 28.
    EXPECT_EQ(samples.ms.size(), 56u);
    EXPECT_LE(difference_of_halves(samples).value(), kSettledWithin);
    EXPECT_EQ(settling_of(samples).settled, true);
  });
}

TEST(Settling, EndsAtAMultipleOfTheIterationsWhereItNeverSettles) {
  run_ranks(2, [](mpi::Transport& transport) {
    FakeDisturbance quiet;
    int call = 0;
    const Samples samples = measure(transport, {.warmup = 2, .iterations = 20, .settle_s = 1e6},
                                    quiet, [&] { return 10.0 * ++call; });
    EXPECT_EQ(samples.ms.size(), 20u * kMostTimes);
    const Settling settling = settling_of(samples);
    EXPECT_EQ(settling.settled, false);
    EXPECT_EQ(settling.sweeps, 80u);
    EXPECT_GT(settling.difference.value(), kSettledWithin);
  });
}

TEST(Settling, EndsWhenItsTimeIsUp) {
  run_ranks(1, [](mpi::Transport& transport) {
    FakeDisturbance quiet;
    int call = 0;
    const Samples samples = measure(transport, {.warmup = 0, .iterations = 20, .settle_s = 0.1},
                                    quiet, [&] { return call++ < 10 ? 50 : 30; });
    // The fourth additional iteration exceeds 100 ms.
    EXPECT_EQ(samples.ms.size(), 24u);
  });
}

TEST(Settling, IsAwaitedOnlyOnRequest) {
  run_ranks(1, [](mpi::Transport& transport) {
    FakeDisturbance quiet;
    int call = 0;
    const Samples samples =
        measure(transport, {.warmup = 0, .iterations = 20}, quiet, [&] { return 10.0 * ++call; });
    EXPECT_EQ(samples.ms.size(), 20u);
  });
}

TEST(Settling, CannotBeJudgedByAFewIterations) {
  const Samples few{Times(15, 1.0), std::vector<bool>(15, false)};
  EXPECT_EQ(difference_of_halves(few), std::nullopt);
  EXPECT_EQ(settling_of(few).settled, std::nullopt) << "what is not known is not called settled";
}

TEST(Settling, LeavesDisturbedIterationsOutWhileEnoughOthersRemain) {
  Samples samples;
  for (int i = 0; i < 40; ++i) {
    const bool disturbed = i >= 20 && i % 2 == 1;
    samples.ms.push_back(disturbed ? 7 : 10);  // disturbed, and shorter: the clock rate was higher
    samples.disturbed.push_back(disturbed);
  }
  EXPECT_EQ(difference_of_halves(samples), 0.0);
  EXPECT_EQ(settling_of(samples).disturbed, 10u);
  samples.disturbed.assign(40, true);  // no others remain
  EXPECT_GT(difference_of_halves(samples).value(), 0.4);
}

TEST(Progress, CountsPlannedIterationsAndThenShowsThatItSettles) {
  const Protocol protocol{.warmup = 5, .iterations = 30, .settle_s = 20};
  EXPECT_EQ(progress_text("sweep", protocol, {5, 2, 1.0}, 7.0), "sweep  7/35  28 s left");
  EXPECT_EQ(progress_text("sweep", protocol, {5, 30, 15.0}, 17.5), "sweep  35/35  0 s left");
  EXPECT_EQ(progress_text("sweep", protocol, {5, 40, 20.0}, 22.5),
            "sweep  45, until they settle, for 15 s more at most");
  // Four times the iterations at most, although there would be time for more.
  EXPECT_EQ(progress_text("sweep", protocol, {5, 110, 11.0}, 11.5),
            "sweep  115, until they settle, for 1 s more at most");
}

TEST(Protocol, LeavesDisturbedSamplesOutOfAMedianWhileHalfRemain) {
  const std::vector<double> values{1, 2, 3, 100};
  EXPECT_EQ(undisturbed_median(values, {false, false, false, true}), 2);
  EXPECT_EQ(undisturbed_median(values, {true, false, false, true}), 2.5);
  EXPECT_EQ(undisturbed_median(values, {true, true, false, true}), 2.5) << "too few remain";
}

TEST(Progress, CountsTheIterationsThatADurationNeeds) {
  const Protocol protocol{.warmup = 1, .iterations = 10, .duration_s = 30};
  EXPECT_EQ(progress_text("sweep", protocol, {1, 20, 10.0}, 10.5), "sweep  21/61  20 s left");
}

TEST(Progress, CountsTheRunsThatAWarmUpByTimeTook) {
  const Protocol protocol{.warmup = 5, .warmup_s = 1, .iterations = 30};
  EXPECT_EQ(progress_text("sweep", protocol, {3, 0, 0}, 3.0), "sweep  3/35  32 s left");
  EXPECT_EQ(progress_text("sweep", protocol, {70, 10, 10.0}, 80.0), "sweep  80/100  20 s left");
}

TEST(Protocol, RecordsItsValues) {
  const Json json = Protocol{.warmup = 2, .iterations = 7, .duration_s = 0.5}.json();
  EXPECT_EQ(json.dump(), R"({"warmup":2,"iterations":7,"duration_s":0.5})");
  EXPECT_EQ(Protocol{.settle_s = 20}.json()["settle_s"], 20);
  EXPECT_EQ(Protocol{.warmup_s = 0.5}.json()["warmup_s"], 0.5);
}

}  // namespace
}  // namespace hios

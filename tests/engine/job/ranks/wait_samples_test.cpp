#include "engine/job/ranks/wait_samples.h"

#include <gtest/gtest.h>

#include <array>

#include "support/transports/thread_transport.h"

namespace hios::job {
namespace {

constexpr DeviceId kFirst(0), kSecond(1);

TransferTimes received(std::size_t producer, double start_ms, double end_ms) {
  return {OpId(producer), kFirst, kSecond, start_ms, end_ms, 1000};
}

/// The latency of each iteration; others disturbed the second and the last one.
constexpr std::array kLatencies_ms = {13.0, 900.0, 16.0, 500.0};

/// Returns an iteration of the second rank, which waits for operators 3 and 5, 8 ms each time that
/// nobody disturbs it; operator 7 is there when it is needed.
RankTimeline second_rank(double latency_ms) {
  const double later_ms = latency_ms == 13 ? 0 : 2;
  if (latency_ms > 100) return {{{0, 400, 400, 403}}, {}, {received(3, 0, 400)}};
  return {{{0, 3, 3, 6}, {6, 11, 11, 13 + later_ms}},
          {},
          {received(3, 0, 3), received(7, 4, 4), received(5, 6, 11)}};
}

TEST(WaitSamples, AreMeansOfTheFasterHalfThatAddUpToItsLatency) {
  test::run_ranks(2, [](mpi::Transport& transport) {
    const bool second = transport.rank() == Rank(1);
    WaitSamples samples;
    for (const double latency_ms : kLatencies_ms) {
      const RankTimeline alone{{{0, 0, 0, 9}}, {}, {}};
      samples.add(second ? second_rank(latency_ms) : alone, latency_ms);
    }
    const RecordedWaits waits = samples.gather(transport);
    EXPECT_EQ(waits.latency_ms, 14.5);
    ASSERT_EQ(waits.ranks.size(), 2u);
    EXPECT_EQ(waits.ranks[0].busy_ms, 9);
    EXPECT_TRUE(waits.ranks[0].waits.empty());
    EXPECT_EQ(waits.ranks[0].idle_ms, 5.5);
    EXPECT_EQ(waits.ranks[1].busy_ms, 6);
    EXPECT_EQ(waits.ranks[1].waiting_ms(), 8);
    EXPECT_EQ(waits.ranks[1].idle_ms, 0.5) << "one millisecond of the slower iteration";
    ASSERT_EQ(waits.ranks[1].waits.size(), 2u) << "nobody waited for operator 7";
    EXPECT_EQ(waits.ranks[1].waits[0].producer, OpId(5));
    EXPECT_EQ(waits.ranks[1].waits[0].ms, 5);
    EXPECT_EQ(waits.ranks[1].waits[0].from, kFirst);
    EXPECT_EQ(waits.ranks[1].waits[1].producer, OpId(3));
    EXPECT_EQ(waits.ranks[1].waits[1].ms, 3);
  });
}

}  // namespace
}  // namespace hios::job

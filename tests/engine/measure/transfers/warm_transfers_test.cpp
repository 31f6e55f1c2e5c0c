// Transfers are warmed up as operators are, where the ranks were idle: on a clock that counts runs,
// each of which takes ten milliseconds, and by which ranks are idle for as long as a test says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/measure/transfers/shared_times.h"
#include "engine/measure/transfers/transfer_times.h"
#include "support/fakes/fake_backend.h"
#include "support/fakes/fake_disturbance.h"
#include "support/transports/forwarding_transport.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::FakeBackend;
using test::FakeDisturbance;
using test::run_ranks;
using RunCounts = std::vector<int>;

constexpr double kRunMs = 10;
const Protocol kWarm{.warmup = 1, .warmup_s = 0.1, .iterations = 3};
constexpr int kRunsOfWarm = 10 + 3, kRunsWithout = 1 + 3;

/// RunCounts runs: measure() asks for the maximum of each. A single number is the ranks' idle time.
class CountingClock final : public test::ForwardingTransport {
 public:
  CountingClock(mpi::Transport& inner, double idle_s)
      : ForwardingTransport(inner), idle_s_(idle_s) {}

  void all_reduce_max(std::span<double> values) override {
    if (values.size() == 1) {
      if (!std::isinf(values[0])) values[0] = idle_s_;
      runs.push_back(0);
    } else {
      values[0] = kRunMs;
      ++runs.back();
    }
    inner().all_reduce_max(values);
  }

  RunCounts runs{0};  // before the first idle time, and after each

 private:
  const double idle_s_;
};

RunCounts transfers_runs(double idle_s, const Protocol& protocol) {
  RunCounts runs;
  run_ranks(3, [&](mpi::Transport& transport) {
    CountingClock clock(transport, idle_s);
    FakeBackend backend;
    FakeDisturbance quiet;
    const auto curve =
        transfer_times(clock, backend, protocol, quiet, Rank(0), Rank(2), Bytes{1} << 12);
    EXPECT_EQ(curve.value().points.size(), 3u);
    transport.barrier();
    if (transport.rank() == Rank(1)) runs = clock.runs;  // as on those that take part
  });
  return runs;
}

TEST(WarmTransfers, WarmUpBeforeTheFirstSizeAndAfterAPause) {
  EXPECT_EQ(transfers_runs(0.01, kWarm), (RunCounts{0, kRunsOfWarm, kRunsWithout, kRunsWithout}));
  EXPECT_EQ(transfers_runs(1, kWarm), (RunCounts{0, kRunsOfWarm, kRunsOfWarm, kRunsOfWarm}));
}

TEST(WarmTransfers, NeedNoWarmUpWhereNoneIsAskedFor) {
  Protocol protocol = kWarm;
  protocol.warmup_s = 0;
  EXPECT_EQ(transfers_runs(1, protocol), RunCounts{3 * kRunsWithout});
}

/// The pair's messages were measured just before: it was idle only if a pause says so.
TEST(WarmTransfers, SharedMemoryIsWarmedUpAfterAPause) {
  std::vector<std::byte> arena(Bytes{1} << 11);
  for (const double idle_s : {0.01, 1.0}) {
    run_ranks(2, [&](mpi::Transport& transport) {
      CountingClock clock(transport, idle_s);
      FakeBackend backend;
      FakeDisturbance quiet;
      const SharingPair pair{Rank(0), Rank(1), arena.data(), 0};
      EXPECT_EQ(shared_times(clock, backend, kWarm, quiet, pair, arena.size()).value().size(), 2u);
      // For each size the reads of the other's tensor and of an own one.
      const int both = 2 * (idle_s > 0.1 ? kRunsOfWarm : kRunsWithout);
      EXPECT_EQ(clock.runs, (RunCounts{0, both, both}));
    });
  }
}

}  // namespace
}  // namespace hios

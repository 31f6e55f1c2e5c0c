// Ten thousand schedules with random mutations: each is refused by all checks, or computes the bits
// of one rank. Ranks are threads whose sends end only when their receive has been posted
// (support/transports/thread_transport.h), so a schedule that needs a buffered message shows.

#include <gtest/gtest.h>

#include <iostream>

#include "support/networks/mutated_runs.h"
#include "support/programs/hang_guard.h"
#include "support/sanitized.h"
#include "support/transports/thread_transport.h"

namespace hios::test {
namespace {

constexpr std::uint64_t kSchedules = tries(10'000);

TEST(MutatedSchedules, AreRefusedOrRunRight) {
  HangGuard guard;
  std::size_t refused = 0, run = 0;
  for (std::uint64_t seed = 0; seed < kSchedules && !HasFailure(); ++seed) {
    const MutatedSchedule schedule(seed, 2 + seed % 3);
    SCOPED_TRACE(schedule.what());
    guard.step(schedule.what());
    schedule.expect_checks_agree();
    if (!schedule.valid()) {
      ++refused;
      continue;
    }
    ++run;
    ThreadOptions options;
    options.seed = seed;
    options.max_delay_ms = seed % 16 == 0 ? 0.2 : 0;
    const auto body = [&](mpi::Transport& rank) { schedule.expect_as_one_rank(rank); };
    EXPECT_NO_THROW(run_ranks(schedule.devices(), body, options));
  }
  std::cout << "mutated schedules: " << refused << " refused, " << run << " run right\n";
  EXPECT_GT(refused, kSchedules / 10);
  EXPECT_GT(run, kSchedules / 10);
}

}  // namespace
}  // namespace hios::test

// The same schedules (mutated_schedules_test.cpp) on ranks of a real MPI, all in one job, and no
// message is ever buffered: every send of this program is synchronous, whatever its size and the
// library's eager limit. A schedule that needs a buffered message would hang here.

#include <mpi.h>

#include <gtest/gtest.h>

#include <iostream>

#include "support/networks/mutated_runs.h"
#include "support/programs/hang_guard.h"
#include "support/programs/mpi_main.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

int synchronous_sends = 0;

constexpr std::uint64_t kSchedules = tries(1000);

TEST(MutatedSchedules, AreRefusedOrRunRightWithoutABuffer) {
  HangGuard guard;
  std::size_t refused = 0, run = 0;
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    const MutatedSchedule schedule(100'000 + seed, job().size());
    SCOPED_TRACE(schedule.what());
    guard.step(schedule.what());
    if (job().rank() == Rank(0)) schedule.expect_checks_agree();
    if (!schedule.valid()) {
      ++refused;
      continue;
    }
    ++run;
    schedule.expect_as_one_rank(job());
  }
  if (job().rank() == Rank(0)) {
    std::cout << "mutated schedules on " << job().size() << " ranks: " << refused << " refused, "
              << run << " run right, " << synchronous_sends << " synchronous sends of rank 0\n";
  }
  EXPECT_GT(refused, kSchedules / 10);
  EXPECT_GT(run, kSchedules / 10);
  EXPECT_GT(synchronous_sends, 0) << "no message of this rank was one that waits for its receive";
}

}  // namespace
}  // namespace hios::test

/// MPI's profiling interface: our channels call these functions instead of the library's.
int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int peer, int tag,
                  MPI_Comm communicator, MPI_Request* request) {
  ++hios::test::synchronous_sends;
  return PMPI_Ssend_init(buffer, count, type, peer, tag, communicator, request);
}

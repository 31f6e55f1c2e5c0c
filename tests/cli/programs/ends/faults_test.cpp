// A hung rank ends the job in every phase: no process waits forever, and a line names the rank that
// waits and the one that it waits for. MPI itself notices neither a stopped rank nor a deadlock.

#include <gtest/gtest.h>

#include "hios/model/networks/networks.h"
#include "support/networks/random_network.h"
#include "support/programs/programs.h"

#ifdef HIOS_MPIEXEC
namespace hios::test {
namespace {

/// Runs a program on two ranks; rank 1 is stopped (SIGSTOP) some seconds after its start, wherever
/// it is then; 0: before it is in MPI.
ProcessResult with_a_stopped_rank(const Words& command, int seconds = 3) {
  const std::string stop =
      seconds == 0 ? "kill -STOP $$"
                   : "(sleep " + std::to_string(seconds) + "; kill -STOP $$) >/dev/null 2>&1 &";
  const std::string script =
      std::string("if [ ") + kRankInShell + " = 1 ]; then " + stop + "\nfi; exec \"$@\"";
  return run_mpi(2, Words{"/bin/sh", "-c", script, "sh"} + command + Words{"--oversubscribe"},
                 {.limit_s = 300});
}

void expect_ended_by_the_watchdog(const ProcessResult& done) {
  EXPECT_FALSE(done.timed_out) << done.err;
  EXPECT_NE(done.exit_status, 0);
  EXPECT_FALSE(lines_with(done.err, "rank 0 on ").empty()) << done.err;
}

class StoppedRank : public testing::Test {
 protected:
  TestFolder folder_;
};

TEST_F(StoppedRank, EndsARun) {
  folder_.write("schedule.json", random_schedule_text(models::squeezenet(1, 64, 64), 2, 3));
  expect_ended_by_the_watchdog(
      with_a_stopped_rank({HIOS_BIN_DIR "/hios-run", "--model", "squeezenet", "--height", "64",
                           "--schedule", folder_.file("schedule.json"), "--duration", "100",
                           "--timeout", "2", "--json", folder_.file("report.json")}));
  EXPECT_EQ(folder_.files(), (Words{"schedule.json"})) << "nothing is half-written";
}

// Well below the 120 s that MPI's start has where nobody says otherwise.
TEST_F(StoppedRank, EndsAJobThatHasNotStarted) {
  const auto done =
      with_a_stopped_rank({HIOS_BIN_DIR "/hios-profile", "--model", "inception_v3", "--timeout",
                           "2", "--output", folder_.file("profile.json")},
                          0);
  expect_ended_by_the_watchdog(done);
  EXPECT_NE(done.err.find("no answer for 2 s while all ranks start together"), std::string::npos)
      << done.err;
}

TEST_F(StoppedRank, EndsAJobOfWhichARankHasLeft) {
  const auto done =
      run_mpi(2,
              {"/bin/sh", "-c",
               std::string("if [ ") + kRankInShell + " = 1 ]; then exit 0; fi; exec \"$@\"", "sh",
               HIOS_BIN_DIR "/hios-profile", "--model", "inception_v3", "--timeout", "2",
               "--output", folder_.file("profile.json"), "--oversubscribe"},
              {.limit_s = 100});
  EXPECT_FALSE(done.timed_out) << done.err;
  EXPECT_NE(done.exit_status, 0);
}

TEST_F(StoppedRank, EndsMeasuring) {
  expect_ended_by_the_watchdog(
      with_a_stopped_rank({HIOS_BIN_DIR "/hios-profile", "--model", "inception_v3", "--iterations",
                           "100000", "--timeout", "2", "--output", folder_.file("profile.json")}));
  EXPECT_EQ(folder_.files(), Words{}) << "nothing is half-written";
}

}  // namespace
}  // namespace hios::test
#endif

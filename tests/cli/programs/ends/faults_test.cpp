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

/// The same with longer and longer time-outs until the other rank speaks: on a busy machine the
/// rank that is to be stopped may reach its own time-out before.
ProcessResult with_a_stopped_rank_and_a_timeout(const Words& command) {
  ProcessResult done;
  for (const char* const timeout : {"2", "8", "30"}) {
    done = with_a_stopped_rank(command + Words{"--timeout", timeout});
    if (done.timed_out || !lines_with(done.err, "rank 0 on ").empty()) break;
  }
  return done;
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
  expect_ended_by_the_watchdog(with_a_stopped_rank_and_a_timeout(
      {HIOS_BIN_DIR "/hios-run", "--model", "squeezenet", "--height", "64", "--schedule",
       folder_.file("schedule.json"), "--duration", "100", "--json", folder_.file("report.json")}));
  EXPECT_EQ(folder_.files(), (Words{"schedule.json"})) << "nothing is half-written";
}

// Well below the 120 s that MPI's start has where nobody says otherwise.
TEST_F(StoppedRank, EndsAJobThatHasNotStarted) {
  const auto done =
      with_a_stopped_rank({HIOS_BIN_DIR "/hios-profile", "--model", "inception_v3", "--timeout",
                           "2", "--output", folder_.file("profile.json")},
                          0);
  expect_ended_by_the_watchdog(done);
  EXPECT_NE(done.err.find("no answer for 2 s (--timeout) while all ranks start together"),
            std::string::npos)
      << done.err;
}

/// Runs a program on two ranks, one of which is stopped before a call of MPI.
struct StopBeforeCall {
  const char* program;
  std::vector<std::string> flags;
  int rank;
  int call;  ///< counted as in support/fakes/stopping_mpi.cpp
  const char* line;

  /// On a busy machine the ranks may take longer than the time-out for an earlier call.
  ProcessResult run() const {
    ProcessOptions options{.limit_s = 100, .all_end = true};
    options.environment = {{"STOP_RANK", std::to_string(rank)},
                           {"STOP_CALL", std::to_string(call)},
                           // Its launcher need not wait for a rank that cannot answer.
                           {"OMPI_MCA_odls_base_sigkill_timeout", "0"},
                           {"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"}};
    ProcessResult done;
    for (const char* timeout : {"1", "2", "4", "8", "16"}) {
      done = run_mpi(2,
                     Words{"env", "LD_PRELOAD=" HIOS_STOPPING_MPI, program, "--timeout", timeout,
                           "--oversubscribe", "--flight-record", "off"} +
                         flags,
                     options);
      const auto says = [&](const char* words) {
        return done.err.find(words) != std::string::npos;
      };
      if (done.timed_out || (says(" is stopped before call ") && says(line))) break;
    }
    return done;
  }
};

// From the calls of MPI's start to the first one under a watchdog there is none without a limit.
// tests/mpi/session/stopped_rank_test.cpp tries them all.
TEST_F(StoppedRank, EndsAJobThatConnects) {
  const std::vector<StopBeforeCall> cases = {
      {HIOS_BIN_DIR "/hios-run", {"--list-devices"}, 1, 2, "(--timeout) while all ranks connect"},
      {HIOS_BIN_DIR "/hios-profile",
       {"--model", "squeezenet", "--output", folder_.file("profile.json")},
       0,
       11,
       "(--timeout) while all ranks connect"},
      {HIOS_BIN_DIR "/hios-run",
       {"--list-devices"},
       1,
       12,
       "(--timeout), reading what to do: waiting for every rank's value"},
  };
  for (const StopBeforeCall& each : cases) {
    SCOPED_TRACE(std::string(each.program) + ", call " + std::to_string(each.call));
    const ProcessResult done = each.run();
    EXPECT_FALSE(done.timed_out) << done.err;
    EXPECT_EQ(done.left, 0u);
    EXPECT_NE(done.exit_status, 0) << done.err;
    const auto lines = lines_with(done.err, "error: rank " + std::to_string(1 - each.rank));
    ASSERT_EQ(lines.size(), 1u) << done.err;
    EXPECT_NE(lines[0].find(each.line), std::string::npos) << lines[0];
    EXPECT_FALSE(lines_with(done.err, " is stopped before call ").empty()) << done.err;
  }
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
  expect_ended_by_the_watchdog(with_a_stopped_rank_and_a_timeout(
      {HIOS_BIN_DIR "/hios-profile", "--model", "inception_v3", "--iterations", "100000",
       "--output", folder_.file("profile.json")}));
  EXPECT_EQ(folder_.files(), Words{}) << "nothing is half-written";
}

}  // namespace
}  // namespace hios::test
#endif

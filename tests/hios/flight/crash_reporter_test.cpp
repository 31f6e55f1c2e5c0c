#include "hios/flight/crash_reporter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "support/programs/process.h"
#include "support/programs/temporary_folder.h"
#include "support/schema.h"

namespace hios::flight {
namespace {

class CrashReporters : public testing::Test {
 protected:
  test::ProcessResult end(const std::string& how) {
    // run_process returns when standard error is closed: by the reporter, too.
    test::ProcessOptions options;
    // A sanitizer's reports on the same signals are not the subject.
    options.environment = {{"ASAN_OPTIONS", "handle_segv=0:handle_abort=0"},
                           {"TSAN_OPTIONS", "handle_segv=0:handle_abort=0"},
                           {"UBSAN_OPTIONS", "handle_segv=0:handle_abort=0"}};
    return test::run_process({HIOS_CRASH_PROBE, how, folder_.path().string()}, options);
  }
  bool has_file() const { return std::filesystem::exists(file()); }
  std::filesystem::path file() const { return folder_ / "probe-rank-1.flight.json"; }
  Flight record() const {
    test::expect_meets_schema(read_json(file()));
    return read_flight(file());
  }

  test::TemporaryFolder folder_;
};

TEST_F(CrashReporters, PrintNothingOfAProcessThatEndsWell) {
  const auto done = end("well");
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_FALSE(has_file());
}

TEST_F(CrashReporters, NameAKilledRankAndWhatItDidLast) {
  const auto done = end("kill");
  EXPECT_EQ(done.exit_status, 128 + 9);
  ASSERT_EQ(test::lines_with(done.err, "error: rank 1 on ").size(), 1u) << done.err;
  EXPECT_NE(done.err.find("SIGKILL"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("last: stage 4: conv_7, iteration 12"), std::string::npos) << done.err;
  const Flight flight = record();
  EXPECT_EQ(flight.ending, Ending::kKilled);
  EXPECT_EQ(flight.rank, 1u);
  EXPECT_EQ(flight.ranks, 2u);
  EXPECT_EQ(flight.job, "job-7");
  EXPECT_EQ(flight.phase, "running");
  ASSERT_EQ(flight.events.size(), 2u);
  EXPECT_EQ(flight.events[0].text, "running");
  EXPECT_EQ(flight.events[1].op, "conv_7");
  EXPECT_EQ(flight.events[1].stage, 4u);
  EXPECT_EQ(flight.events[1].iteration, 12u);
}

TEST_F(CrashReporters, NameTheSignalThatEndedAProcess) {
  for (const auto& [how, signal, number] : {std::tuple("segv", "SIGSEGV", 11),
                                            {"wrong-address", "SIGSEGV", 11},
                                            {"abort", "SIGABRT", 6}}) {
    const auto done = end(how);
    EXPECT_EQ(done.exit_status, 128 + number) << how << done.err;
    ASSERT_EQ(test::lines_with(done.err, "error: rank 1 on ").size(), 1u) << how << done.err;
    EXPECT_NE(done.err.find(std::string("ended by ") + signal), std::string::npos) << done.err;
    EXPECT_EQ(record().ending, Ending::kSignal);
  }
}

TEST_F(CrashReporters, KeepTheReasonOfATerminatedRank) {
  const auto done = end("term");
  EXPECT_EQ(done.exit_status, 128 + 15);
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(record().reason, "SIGTERM");
}

TEST_F(CrashReporters, LeaveNothingOfAnInterruptedOne) {
  const auto done = end("int");
  EXPECT_EQ(done.exit_status, 128 + 2);
  EXPECT_EQ(done.err, "");
  EXPECT_FALSE(has_file());
}

TEST_F(CrashReporters, KeepTheErrorAndPrintNoSecondLine) {
  const auto done = end("error");
  EXPECT_EQ(done.exit_status, 3);
  EXPECT_EQ(done.err, "") << "the process reports its failure itself";
  EXPECT_EQ(record().ending, Ending::kError);
  EXPECT_EQ(record().reason, "the device is gone");
}

TEST_F(CrashReporters, DoNotTakeALibrarysExitForAKill) {
  const auto done = end("exit");
  EXPECT_EQ(done.exit_status, 5);
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(record().ending, Ending::kError);
}

TEST_F(CrashReporters, WriteTheFileOnASignal) {
  const auto done = end("user");
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.out, "still there\n");
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(record().ending, Ending::kRunning);
}

// With each of these, a process once never ended, or ended by a signal of its own.
TEST_F(CrashReporters, NeverHoldAProcessUp) {
  for (const auto& [how, status] : {std::pair("old-kernel", 0),
                                    {"many-wishes", 0},
                                    {"without-reporter", 3},
                                    {"stopped-reporter", 0}}) {
    const auto done = end(how);
    EXPECT_FALSE(done.timed_out) << how;
    EXPECT_EQ(done.exit_status, status) << how << done.err;
    EXPECT_EQ(done.err, "") << how;
  }
}

TEST_F(CrashReporters, DoWithoutStandardDescriptors) {
  for (const std::string closed : {"<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    for (const auto& [how, status] : {std::pair("well", 0), {"kill", 128 + 9}}) {
      const auto done = test::run_process({"/bin/sh", "-c", "exec \"$@\" " + closed, "sh",
                                           HIOS_CRASH_PROBE, how, folder_.path().string()});
      EXPECT_FALSE(done.timed_out) << closed;
      EXPECT_EQ(done.exit_status, status) << closed;
    }
    // Without a standard error nobody can wait for the reporter's.
    for (int i = 0; i < 500 && !has_file(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(record().events.back().op, "conv_7") << closed;
    std::filesystem::remove(file());
  }
}

TEST_F(CrashReporters, WriteTheEndAlsoAfterARequest) {
  EXPECT_EQ(end("error-after-a-wish").exit_status, 3);
  EXPECT_EQ(record().reason, "said by nobody else");
}

TEST_F(CrashReporters, NameTheFileThatCouldNotBeWritten) {
  const auto done = test::run_process({HIOS_CRASH_PROBE, "kill", "/proc/none"});
  EXPECT_EQ(test::lines_with(done.err, "last: stage 4: conv_7").size(), 1u) << done.err;
  EXPECT_EQ(test::lines_with(done.err, "could not be written").size(), 1u) << done.err;
}

}  // namespace
}  // namespace hios::flight

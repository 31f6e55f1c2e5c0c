#include "hios/flight/crash_reporter.h"

#include <gtest/gtest.h>
#include <signal.h>

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
  const std::string last_real_time = "signal " + std::to_string(SIGRTMIN + 3);
  for (const auto& [how, signal, number] : {std::tuple("segv", "SIGSEGV", SIGSEGV),
                                            {"wrong-address", "SIGSEGV", SIGSEGV},
                                            {"abort", "SIGABRT", SIGABRT},
                                            {"xcpu", "SIGXCPU", SIGXCPU},
                                            {"usr2", "SIGUSR2", SIGUSR2},
                                            {"alrm", "SIGALRM", SIGALRM},
                                            {"quit", "SIGQUIT", SIGQUIT},
                                            {"prof", "SIGPROF", SIGPROF},
                                            {"vtalrm", "SIGVTALRM", SIGVTALRM},
                                            {"sys", "SIGSYS", SIGSYS},
                                            {"trap", "SIGTRAP", SIGTRAP},
                                            {"io", "SIGIO", SIGIO},
                                            {"pwr", "SIGPWR", SIGPWR},
                                            {"real-time", last_real_time.c_str(), SIGRTMIN + 3}}) {
    const auto done = end(how);
    EXPECT_EQ(done.exit_status, 128 + number) << how << done.err;
    ASSERT_EQ(test::lines_with(done.err, "error: rank 1 on ").size(), 1u) << how << done.err;
    EXPECT_NE(done.err.find(std::string("ended by ") + signal), std::string::npos) << done.err;
    EXPECT_EQ(done.err.find("SIGKILL"), std::string::npos) << done.err;
    EXPECT_EQ(record().ending, Ending::kSignal);
  }
}

// The probe's parent waits for it only when its reporter has ended (run_process).
TEST_F(CrashReporters, NameTheStatusOfAnExitWithoutAMessage) {
  for (const auto& [how, status] : {std::pair("exit-silently", 5), {"exit-silently-with-0", 0}}) {
    const auto done = end(how);
    EXPECT_EQ(done.exit_status, status);
    const std::string reason = "exited without a message, with status " + std::to_string(status);
    EXPECT_EQ(test::lines_with(done.err, reason + ", last: stage 4").size(), 1u) << done.err;
    EXPECT_EQ(done.err.find("SIGKILL"), std::string::npos) << done.err;
    EXPECT_EQ(record().ending, Ending::kError);
    EXPECT_EQ(record().reason, reason);
  }
}

TEST_F(CrashReporters, DoNotTakeAnotherProcesssExitForTheirs) {
  const auto done = end("kill-after-a-child");
  EXPECT_EQ(done.exit_status, 128 + 9);
  EXPECT_EQ(record().ending, Ending::kKilled) << record().reason;
}

TEST_F(CrashReporters, LeaveEarlierHandlersAlone) {
  for (const char* how : {"profiler", "ignored-hup"}) {
    const auto done = end(how);
    EXPECT_EQ(done.exit_status, 0) << how;
    EXPECT_EQ(done.err, "") << how;
    EXPECT_FALSE(has_file()) << how;
  }
}

TEST_F(CrashReporters, KeepTheReasonOfATerminatedRank) {
  const auto done = end("term");
  EXPECT_EQ(done.exit_status, 128 + 15);
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(record().reason, "SIGTERM");
}

TEST_F(CrashReporters, LeaveNothingOfAnInterruptedOne) {
  for (const auto& [how, number] :
       {std::pair("int", SIGINT), {"hup", SIGHUP}, {"pipe-alone", SIGPIPE}}) {
    const auto done = end(how);
    EXPECT_EQ(done.exit_status, 128 + number) << how;
    EXPECT_EQ(done.err, "") << how;
    EXPECT_FALSE(has_file()) << how;
  }
}

// A rank writes to one that is gone.
TEST_F(CrashReporters, LeaveTheRecordOfARankWithoutItsPeer) {
  const auto done = end("pipe");
  EXPECT_EQ(done.exit_status, 128 + SIGPIPE);
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(record().reason, "SIGPIPE");
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
  EXPECT_EQ(record().reason, "a library ended the process, with status 5");
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
    for (int i = 0; i < 6000 && !has_file(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(record().events.back().op, "conv_7") << closed;
    std::filesystem::remove(file());
  }
}

TEST_F(CrashReporters, WriteTheEndAlsoAfterARequest) {
  EXPECT_EQ(end("error-after-a-wish").exit_status, 3);
  EXPECT_EQ(record().reason, "said by nobody else");
}

TEST_F(CrashReporters, NameTheFileInAFolderThatNobodyNamed) {
  const std::string folder = (folder_ / "state/hios").string();
  const auto done = test::run_process({HIOS_CRASH_PROBE, "kill", folder, "name one"});
  const std::string file = folder + "/probe-rank-1.flight.json";
  EXPECT_EQ(test::lines_with(done.err, "its last events are in " + file).size(), 1u) << done.err;
  EXPECT_EQ(read_flight(file).ending, Ending::kKilled);
  // A launcher ends the remaining ranks by it: one line of each would be too many.
  EXPECT_EQ(test::run_process({HIOS_CRASH_PROBE, "term", folder, "name one"}).err, "");
  EXPECT_EQ(read_flight(file).ending, Ending::kSignal);
}

TEST_F(CrashReporters, SayOnceThatThereIsNoFolder) {
  for (const std::string folder : {"", "/proc/none"}) {
    const auto done =
        test::run_process({HIOS_CRASH_PROBE, "error-after-a-wish", folder, "name one"});
    EXPECT_EQ(test::lines_with(done.err, "could not be written").size(), 1u) << done.err;
    EXPECT_TRUE(done.err.ends_with("; name one\n")) << done.err;
    EXPECT_EQ(test::run_process({HIOS_CRASH_PROBE, "well", folder, "name one"}).err, "");
  }
}

// The name is known beforehand: who may write to the folder can have a link wait there.
TEST_F(CrashReporters, FollowNoPlantedLink) {
  const auto linked = folder_.put("private.txt", "private");
  std::filesystem::permissions(linked, std::filesystem::perms(0600));
  std::filesystem::create_symlink(linked, file());
  end("kill");
  EXPECT_EQ(test::content_of(linked), "private");
  EXPECT_EQ(record().ending, Ending::kKilled);
  EXPECT_FALSE(std::filesystem::is_symlink(file()));
}

TEST_F(CrashReporters, NameTheFileThatCouldNotBeWritten) {
  const auto done = test::run_process({HIOS_CRASH_PROBE, "kill", "/proc/none"});
  EXPECT_EQ(test::lines_with(done.err, "last: stage 4: conv_7").size(), 1u) << done.err;
  EXPECT_EQ(test::lines_with(done.err, "could not be written").size(), 1u) << done.err;
}

}  // namespace
}  // namespace hios::flight

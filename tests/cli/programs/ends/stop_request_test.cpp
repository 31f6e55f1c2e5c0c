// Ctrl-C, SIGTERM and SIGHUP: the first keeps the best so far, a second Ctrl-C ends the program.

#include "cli/process/stop_request.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/process/output.h"
#include "hios/base/error.h"
#include "support/programs/programs.h"
#include "support/schema.h"

namespace hios::test {
namespace {

using StopRequestDeathTest = testing::Test;

TEST(StopRequestDeathTest, TheFirstCtrlCIsNotedAndTheSecondEndsTheProgram) {
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_DFL);
        const cli::StopRequest stop;
        if (cli::StopRequest::asked()) _exit(1);
        raise(SIGINT);
        if (!cli::StopRequest::asked() || cli::StopRequest::signal() != SIGINT) _exit(2);
        raise(SIGINT);
        _exit(3);
      },
      testing::KilledBySignal(SIGINT), "");
}

// A batch system sends the signal to all processes, and mpirun sends it to its ranks again.
TEST(StopRequestDeathTest, FurtherSignalsSayNoMoreThanTheFirst) {
  for (const auto& [first, status] : {std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)}) {
    EXPECT_EXIT(
        {
          signal(SIGHUP, SIG_DFL);
          const cli::StopRequest stop;
          raise(first);
          raise(SIGTERM);
          raise(SIGHUP);
          raise(SIGTERM);
          _exit(cli::exit_status_of_signal(cli::StopRequest::signal()));
        },
        testing::ExitedWithCode(status), "");
  }
}

TEST(StopRequest, NamesItsSignals) {
  EXPECT_EQ(cli::signal_name(SIGHUP), "SIGHUP");
  EXPECT_EQ(cli::signal_name(SIGINT), "SIGINT");
  EXPECT_EQ(cli::signal_name(SIGTERM), "SIGTERM");
  EXPECT_EQ(cli::signal_name(63), "signal 63");
}

TEST(StopRequestDeathTest, OneSignalOutsideOfTheBodyEndsTheProgram) {
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          signal(each, SIG_DFL);
          { const cli::StopRequest stop; }
          raise(each);
          _exit(3);
        },
        testing::KilledBySignal(each), "");
  }
}

TEST(StopRequestDeathTest, WhereItIsIgnoredItStaysIgnored) {
  for (const int each : {SIGINT, SIGHUP}) {
    EXPECT_EXIT(
        {
          signal(each, SIG_IGN);
          {
            const cli::StopRequest stop;
            raise(each);
          }
          raise(each);
          _exit(cli::StopRequest::asked() ? 3 : 0);
        },
        testing::ExitedWithCode(0), "");
  }
}

TEST(StopRequestDeathTest, ABodyThatDoesNotEndIsEndedAfterTheGrace) {
  EXPECT_EXIT(
      {
        const cli::StopRequest stop({{.seconds = 0.05, .line = "rank 1: too slow"}});
        raise(SIGTERM);
        for (;;) pause();
      },
      testing::ExitedWithCode(143), "^error: rank 1: too slow\n$");
}

TEST(StopRequestDeathTest, ABodyThatEndsInTimeIsNotEnded) {
  EXPECT_EXIT(
      {
        {
          const cli::StopRequest stop({{.seconds = 60, .line = "rank 1: too slow"}});
          raise(SIGTERM);
        }
        { const cli::StopRequest request({{.seconds = 60, .line = "rank 1: too slow"}}); }
        _exit(cli::StopRequest::asked() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "^$");
}

/// Makes a terminal that is gone the standard output.
void lose_terminal() {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) _exit(4);
  const int terminal = open(ptsname(master), O_WRONLY | O_NOCTTY);
  if (terminal < 0 || dup2(terminal, STDOUT_FILENO) < 0) _exit(5);
  close(master);
}

TEST(StopRequestDeathTest, ATerminalThatIsGoneTakesNoOutputAndFailsNothing) {
  EXPECT_EXIT(
      {
        signal(SIGHUP, SIG_DFL);
        lose_terminal();
        const cli::StopRequest stop;
        raise(SIGHUP);
        cli::show("kept\n");
        cli::finish_output();
        _exit(cli::exit_status_of_signal(cli::StopRequest::signal()));
      },
      testing::ExitedWithCode(129), "");
  EXPECT_EXIT(
      {
        lose_terminal();
        const cli::StopRequest stop;
        cli::show("lost\n");
        try {
          cli::finish_output();
        } catch (const RunError&) {
          _exit(6);
        }
      },
      testing::ExitedWithCode(6), "");
}

// Starts the words after it, sends $SIGNAL as soon as the program has its handlers (bit 1 of the
// caught signals: SIGINT, the last one), and ends as the program ends. Job control, since other
// background jobs ignore SIGINT.
constexpr const char* kInterruptOnce = R"(set -m
"$@" &
pid=$!
while ! grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"; do kill -0 "$pid" || break; sleep 0.05; done
kill -"$SIGNAL" "$pid"
wait "$pid")";

class Interrupted : public testing::Test {
 protected:
  /// A search that would take days.
  ProcessResult interrupt(const Words& more, const std::string& signal = "INT") {
    ProcessOptions options;
    options.environment = {{"SIGNAL", signal}};
    return run_process(
        Words{"bash", "-c", kInterruptOnce, "bash", HIOS_BIN_DIR "/hios-schedule", "--random",
              "n=300,edges=330,layers=6", "--devices", "1", "--streams", "8", "--option",
              "max_endings=1000000000000", "--time-limit", "1000000"} +
            more,
        options);
  }
  TestFolder folder_;
};

TEST_F(Interrupted, TheBestSoFarIsWritten) {
  const std::string file = folder_.file("s.json");
  for (const auto& [signal, status] :
       {std::pair("INT", 130), std::pair("TERM", 143), std::pair("HUP", 129)}) {
    const auto done = interrupt({"--algorithm", "ios", "--output", file, "--force"}, signal);
    EXPECT_FALSE(done.timed_out);
    EXPECT_EQ(done.exit_status, status) << done.err;
    const std::string line =
        std::string("interrupted by SIG") + signal + ": the best so far was kept";
    EXPECT_NE(done.err.find(line), std::string::npos) << done.err;
  }
  const Json schedule = read(file);
  expect_meets_schema(schedule);
  EXPECT_EQ(schedule["outcome"], "time_limit");
  const auto checked = hios_schedule({"--random", "n=300,edges=330,layers=6", "--check", file});
  EXPECT_EQ(checked.exit_status, 0) << checked.out << checked.err;
}

TEST_F(Interrupted, AlgorithmsThatHaveNotStartedAreLeftOut) {
  const auto done = interrupt({"--algorithm", "ios,sequential", "--json", folder_.file("r.json")});
  EXPECT_EQ(done.exit_status, 130) << done.err;
  EXPECT_NE(done.err.find("not started: 1 of the algorithms"), std::string::npos) << done.err;
  EXPECT_EQ(read(folder_.file("r.json"))["schedules"].size(), 1u);
}

// The graph is so large that the signal comes before the lower bound is computed.
TEST_F(Interrupted, BeforeTheFirstSchedulerAScheduleIsWritten) {
  const std::string graph = "n=20000,edges=40000,layers=200", file = folder_.file("s.json");
  ProcessOptions interrupt_once;
  interrupt_once.environment = {{"SIGNAL", "INT"}};
  const auto done =
      run_process({"bash", "-c", kInterruptOnce, "bash", HIOS_BIN_DIR "/hios-schedule", "--random",
                   graph, "--devices", "4", "--streams", "8", "--time-limit", "1000000",
                   "--algorithm", "best", "--output", file},
                  interrupt_once);
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(done.exit_status, 130) << done.err;
  EXPECT_EQ(read(file)["outcome"], "time_limit");
  const auto checked = hios_schedule({"--random", graph, "--check", file});
  EXPECT_EQ(checked.exit_status, 0) << checked.out << checked.err;
}

}  // namespace
}  // namespace hios::test

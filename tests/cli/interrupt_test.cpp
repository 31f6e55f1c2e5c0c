// Ctrl-C: the first keeps the best so far, the second ends the program.

#include "cli/schedule/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "support/programs.h"
#include "support/schema.h"

namespace hios::test {
namespace {

using InterruptDeathTest = testing::Test;

TEST(InterruptDeathTest, TheFirstIsNotedAndTheSecondEndsTheProgram) {
  EXPECT_EXIT(
      {
        const cli::Interrupt interrupt;
        if (cli::Interrupt::asked()) _exit(1);
        raise(SIGINT);
        if (!cli::Interrupt::asked()) _exit(2);
        raise(SIGINT);
        _exit(3);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptDeathTest, OutsideOfTheWorkOneIsEnough) {
  EXPECT_EXIT(
      {
        { const cli::Interrupt interrupt; }
        raise(SIGINT);
        _exit(3);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptDeathTest, WhereItIsIgnoredItStaysIgnored) {
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_IGN);
        {
          const cli::Interrupt interrupt;
          raise(SIGINT);
        }
        raise(SIGINT);
        _exit(cli::Interrupt::asked() ? 3 : 0);
      },
      testing::ExitedWithCode(0), "");
}

// Starts the words after it, sends SIGINT as soon as the program has its handler (bit 1 of the
// caught signals), and ends as the program ends. Job control, since other background jobs ignore
// SIGINT.
constexpr const char* kInterruptOnce = R"(set -m
"$@" &
pid=$!
until grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"; do sleep 0.05; done
kill -INT "$pid"
wait "$pid")";

class Interrupted : public testing::Test {
 protected:
  /// A search that would take days.
  ProcessResult interrupt(const Words& more) {
    return run_process(Words{"bash", "-c", kInterruptOnce, "bash", HIOS_BIN_DIR "/hios-schedule",
                             "--random", "n=300,edges=330,layers=6", "--devices", "1", "--streams",
                             "8", "--option", "max_endings=1000000000000", "--time-limit",
                             "1000000"} +
                       more);
  }
  Workplace place_;
};

TEST_F(Interrupted, TheBestSoFarIsWritten) {
  const std::string file = place_.file("s.json");
  const auto done = interrupt({"--algorithm", "ios", "--output", file});
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(done.exit_status, 130) << done.err;
  EXPECT_NE(done.err.find("interrupted: the best so far was kept"), std::string::npos) << done.err;
  const Json schedule = read(file);
  expect_meets_schema(schedule);
  EXPECT_EQ(schedule["outcome"], "time_limit");
  const auto checked = hios_schedule({"--random", "n=300,edges=330,layers=6", "--check", file});
  EXPECT_EQ(checked.exit_status, 0) << checked.out << checked.err;
}

TEST_F(Interrupted, WhatWasNotStartedIsLeftOut) {
  const auto done = interrupt({"--algorithm", "ios,sequential", "--json", place_.file("r.json")});
  EXPECT_EQ(done.exit_status, 130) << done.err;
  EXPECT_NE(done.err.find("not started: 1 of the algorithms"), std::string::npos) << done.err;
  EXPECT_EQ(read(place_.file("r.json"))["schedules"].size(), 1u);
}

// So large that the signal comes before the lower bound is done, let alone the search.
TEST_F(Interrupted, BeforeTheFirstSchedulerThereIsAScheduleAllTheSame) {
  const std::string graph = "n=20000,edges=40000,layers=200", file = place_.file("s.json");
  const auto done =
      run_process({"bash", "-c", kInterruptOnce, "bash", HIOS_BIN_DIR "/hios-schedule", "--random",
                   graph, "--devices", "4", "--streams", "8", "--time-limit", "1000000",
                   "--algorithm", "best", "--output", file});
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(done.exit_status, 130) << done.err;
  EXPECT_EQ(read(file)["outcome"], "time_limit");
  const auto checked = hios_schedule({"--random", graph, "--check", file});
  EXPECT_EQ(checked.exit_status, 0) << checked.out << checked.err;
}

}  // namespace
}  // namespace hios::test

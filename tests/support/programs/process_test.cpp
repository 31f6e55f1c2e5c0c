#include "support/programs/process.h"

#include <gtest/gtest.h>

#include <csignal>

#include "hios/base/error.h"

namespace hios::test {
namespace {

ProcessResult shell(const std::string& script, const ProcessOptions& options = {}) {
  return run_process({"/bin/sh", "-c", script}, options);
}

TEST(Process, KeepsOutputsApart) {
  const ProcessResult result = shell("echo out; echo err >&2");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST(Process, ReportsHowItEnded) {
  EXPECT_EQ(shell("exit 7").exit_status, 7);
  EXPECT_EQ(shell("kill -TERM $$").exit_status, 128 + SIGTERM);
}

TEST(Process, ReadsMoreThanAPipeHolds) {
  const ProcessResult result = shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2");
  EXPECT_EQ(result.out.size(), 1000000u);
  EXPECT_EQ(result.err.size(), 1000000u);
}

TEST(Process, AddsToTheEnvironmentAndChangesTheFolder) {
  ProcessOptions options;
  options.environment = {{"HIOS_WORD", "a b"}, {"HOME", "/elsewhere"}};
  options.directory = std::string("/");
  EXPECT_EQ(shell("echo $HIOS_WORD $HOME $PWD", options).out, "a b /elsewhere /\n");
}

TEST(Process, HasNothingToRead) { EXPECT_EQ(shell("cat; echo end").out, "end\n"); }

TEST(Process, IsKilledWithItsChildrenWhenTimeIsUp) {
  for (const double limit_s : {0.2, 2.0, 20.0}) {
    ProcessOptions options;
    options.limit_s = limit_s;
    const ProcessResult result = shell("echo started; sleep 1000 & sleep 1000", options);
    EXPECT_TRUE(result.timed_out);
    EXPECT_GT(result.exit_status, 128);
    if (limit_s < 20 && result.children_at_limit == 0) continue;  // a busy machine: not so far yet
    EXPECT_GE(result.children_at_limit, 1u);
    EXPECT_EQ(result.out, "started\n");
    break;
  }
}

TEST(Process, FailsWithoutItsProgram) { EXPECT_THROW(run_process({"/no/such/program"}), RunError); }

TEST(LinesWith, FindsThem) {
  EXPECT_EQ(lines_with("a1\nb\nca\n", "a"), (std::vector<std::string>{"a1", "ca"}));
}

}  // namespace
}  // namespace hios::test

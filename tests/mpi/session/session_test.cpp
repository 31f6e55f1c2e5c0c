#include "mpi/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/programs/process.h"

namespace hios::test {
namespace {

std::vector<std::string> errors(const ProcessResult& result) {
  return lines_with(result.err, "error: ");
}

class Alone : public testing::TestWithParam<const char*> {
 protected:
  static ProcessResult probe(const std::string& ending, const ProcessOptions& options = {}) {
    return run_process({GetParam(), ending}, options);
  }
};

TEST_P(Alone, RunsWithoutMpi) {
  const ProcessResult result = probe("well");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.out, "size 1, path one rank, no transfers\n");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(probe("status-1").exit_status, 1);
}

TEST_P(Alone, BadInputIsOneLineAndStatus2) {
  const ProcessResult result = probe("same-input");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.err, "error: profile.json: $.a: no number\n");
}

TEST_P(Alone, AFailureIsOneLineAndStatus3) {
  const ProcessResult result = probe("lone-run-error");
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_TRUE(result.err.starts_with("error: rank 0 on ")) << result.err;
  EXPECT_TRUE(result.err.ends_with(": stage 4 broke\n")) << result.err;
}

TEST_P(Alone, AFailureNamesItsRankOnce) {
  const std::string line = probe("named-run-error").err;
  EXPECT_TRUE(line.starts_with("error: rank 0 on ")) << line;
  EXPECT_TRUE(line.ends_with(", running stage 4: it broke\n")) << line;
  EXPECT_EQ(line.find("rank 0"), line.rfind("rank 0")) << line;
}

TEST_P(Alone, RefusesToBeOneOfSeveral) {
  ProcessOptions options;
  // The leaks are MPI's (tests/CMakeLists.txt).
  options.environment = {{"SLURM_STEP_NUM_TASKS", "3"}, {"LSAN_OPTIONS", "detect_leaks=0"}};
  const ProcessResult result = probe("well", options);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(errors(result).size(), 1u) << result.err;
  EXPECT_NE(result.err.find("the launcher started 3 "), std::string::npos) << result.err;
}

INSTANTIATE_TEST_SUITE_P(Session, Alone,
                         testing::Values(HIOS_SESSION_PROBE, HIOS_SESSION_PROBE_SERIAL),
                         [](const auto& c) {
                           return c.index == 0 ? "ThisBuild" : "BuildWithoutMpi";
                         });

#ifdef HIOS_MPIEXEC

ProcessResult probe(std::size_t ranks, const std::string& ending) {
  ProcessResult result = run_mpi(ranks, {HIOS_SESSION_PROBE, ending});
  EXPECT_FALSE(result.timed_out) << ending << " hangs: " << result.err;
  return result;
}

TEST(Session, EndsWell) {
  const ProcessResult result = probe(3, "well");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(lines_with(result.out, "size 3, path ").size(), 3u) << result.out;
  EXPECT_EQ(lines_with(result.out, "shared memory").size(), 3u) << result.out;
  EXPECT_EQ(errors(result).size(), 0u) << result.err;
}

TEST(Session, GivesTheStatusOfTheBody) { EXPECT_EQ(probe(2, "status-1").exit_status, 1); }

TEST(Session, AgreedBadInputIsPrintedOnce) {
  const ProcessResult result = probe(3, "agreed-input");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(errors(result), (std::vector<std::string>{"error: rank 1: no such file"}));
  EXPECT_EQ(result.err.find("MPI_ABORT"), std::string::npos) << result.err;
}

TEST(Session, BadInputOfAllRanksIsPrintedOnce) {
  const ProcessResult result = probe(4, "same-input");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(errors(result), (std::vector<std::string>{"error: profile.json: $.a: no number"}));
  EXPECT_EQ(result.err.find("MPI_ABORT"), std::string::npos) << result.err;
}

TEST(Session, BadInputOfOneRankIsPrintedWhereTheOthersEndWell) {
  const ProcessResult result = probe(3, "input-while-others-end");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(errors(result), (std::vector<std::string>{"error: rank 1: only here"}));
  EXPECT_EQ(result.err.find("MPI_ABORT"), std::string::npos) << result.err;
}

TEST(Session, TheFirstOfDifferentMessagesIsPrinted) {
  const ProcessResult result = probe(3, "different-input");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(errors(result), (std::vector<std::string>{"error: rank 0: message 0"}));
}

/// Endings in which rank 1 fails and the others would wait for it forever.
struct Ending {
  const char* name;
  int exit_status;
  const char* text;
};

class OneRankFails : public testing::TestWithParam<Ending> {};

TEST_P(OneRankFails, EndsTheJobWithALineThatNamesIt) {
  const Ending& ending = GetParam();
  const ProcessResult result = probe(3, ending.name);
  EXPECT_EQ(result.exit_status, ending.exit_status) << result.err;
  const std::vector<std::string> lines = errors(result);
  ASSERT_EQ(lines.size(), 1u) << result.err;
  EXPECT_TRUE(lines[0].starts_with("error: rank 1 on ")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with(std::string(": ") + ending.text)) << lines[0];
}

INSTANTIATE_TEST_SUITE_P(
    Session, OneRankFails,
    testing::Values(Ending{"run-error", 3, "stage 4 broke"},
                    Ending{"run-error-while-others-receive", 3, "stage 4 broke"},
                    Ending{"foreign-exception", 3, "a b"},
                    Ending{"no-exception-class", 3, "an exception without a message"},
                    Ending{"input-of-one", 2, "only here"}),
    [](const auto& c) {
      std::string name = c.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(Session, AbortGivesItsStatus) { EXPECT_EQ(probe(2, "abort").exit_status, 7); }

TEST(Session, AKilledRankEndsTheJob) { EXPECT_NE(probe(3, "killed").exit_status, 0); }

#endif

}  // namespace
}  // namespace hios::test

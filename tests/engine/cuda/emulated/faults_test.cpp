// Faults of machines, each with the one line that says it: too little memory, a GPU that records
// nothing, one that fails while candidates are tried or in the middle of a run, memory that no
// other process may map (as with MIG).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/programs/programs.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A convolution of 1600 pixels, by our own kernel.
constexpr const char* kOneConvolution = R"({
  "format": "hios-model", "version": 1, "name": "one", "input": {"shape": [1, 8, 40, 40]},
  "layers": [{"name": "only", "type": "Conv", "inputs": ["input"], "out_channels": 16,
              "kernel_shape": [1, 1]}]
})";

class EmulatedFaults : public testing::Test {
 protected:
  EmulatedFaults() { std::ofstream(folder_.file("one.json")) << kOneConvolution; }

  ProcessResult run(const Words& flags, const std::string& settings) const {
    return run_process(Words{HIOS_EMULATED_RUN} + one_ + flags, in(settings));
  }
  static ProcessOptions in(const std::string& settings) {
    return {.limit_s = 300, .environment = {{"HIOS_EMULATED_CUDA", "libraries=off," + settings}}};
  }

  const TestFolder folder_;
  const Words one_{"--model", folder_.file("one.json"), "--backend", "cuda", "--warmup",
                   "1",       "--warmup-seconds",       "0"};
};

TEST_F(EmulatedFaults, MemoryThatIsShortIsMissingByteByByte) {
  const ProcessResult before = run({}, "memory=100000");
  EXPECT_EQ(before.exit_status, 2) << before.err;
  EXPECT_EQ(lines_with(before.err, "error: ").size(), 1u) << before.err;
  EXPECT_THAT(before.err, HasSubstr("missing"));
  if (kSanitized) return;  // blocks end where their tensors do
  // Blocks that other ranks may map are larger than their tensors.
  const ProcessResult late = run({}, "memory=1000000");
  EXPECT_EQ(late.exit_status, 3) << late.err;
  EXPECT_EQ(lines_with(late.err, "error: ").size(), 1u) << late.err;
  EXPECT_THAT(late.err, HasSubstr("no GPU memory for "));
  EXPECT_THAT(late.err, HasSubstr(" missing"));
}

TEST_F(EmulatedFaults, AGpuThatRecordsNothingRunsStageByStage) {
  const ProcessResult done = run({"--iterations", "3", "--verify"}, "records=off,order=late");
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("bit for bit the result of one rank"));
  EXPECT_EQ(lines_with(done.err, "refused to record").size(), 1u) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the device refused to record its stages (CUDA"));
}

/// The kernel of one candidate for the network's only convolution.
TEST_F(EmulatedFaults, AGpuThatFailsEndsTheRunWithTheReason) {
  const ProcessResult lost = run({"--iterations", "3"}, "order=late,fault=kernel 50 1 1 64");
  EXPECT_EQ(lost.exit_status, 3) << lost.err;
  EXPECT_EQ(lines_with(lost.err, "error: ").size(), 1u) << lost.err;
  EXPECT_THAT(lost.err, HasSubstr("unspecified launch failure"));
}

/// Pools, of which nothing is tried before they run; pool_3 is in one of two branches.
constexpr const char* kPools = R"({
  "format": "hios-model", "version": 1, "name": "pools", "input": {"shape": [1, 8, 24, 24]},
  "layers": [
    {"name": "first", "type": "MaxPool", "inputs": ["input"], "kernel_shape": [2, 2],
     "strides": [2, 2]},
    {"name": "left", "type": "MaxPool", "inputs": ["first"], "kernel_shape": [3, 3],
     "pads": [1, 1, 1, 1]},
    {"name": "right", "type": "AveragePool", "inputs": ["first"], "kernel_shape": [3, 3],
     "pads": [1, 1, 1, 1]},
    {"name": "join", "type": "Concat", "inputs": ["left", "right"]}
  ]
})";

/// A GPU whose kernel of one operator faults once it has run a few times: after the operator's
/// first run, its recording and a warm-up, and before the last run.
class GpusLostInARun : public EmulatedFaults {
 protected:
  static constexpr int kFaulty = 8, kRuns = 16;  // of the operator
  static constexpr const char* kOperator = "pool_3";

  GpusLostInARun() {
    folder_.write("pools.json", kPools);
    EXPECT_EQ(hios_schedule(model_ + Words{"--list-operators", "--json", folder_.file("pools")})
                  .exit_status,
              0);
    one_rank_ = schedule("one.json", {{{{"pool_1"}}, {{"pool_2"}, {kOperator}}, {{"concat_4"}}}});
  }
  /// Writes the stages of each rank; returns the flag for it.
  Words schedule(const std::string& file, const std::vector<Json>& stages_of_ranks) const {
    Json devices = Json::array();
    for (const Json& stages : stages_of_ranks) {
      devices.push_back({{"name", "gpu" + std::to_string(devices.size())},
                         {"kind", "gpu"},
                         {"threads", 0},
                         {"streams", 2},
                         {"stages", stages}});
    }
    const Json graph{{"name", "pools"}, {"digest", read(folder_.file("pools"))["digest"]}};
    folder_.write(
        file,
        Json{{"format", "hios-schedule"}, {"version", 1}, {"graph", graph}, {"devices", devices}}
            .dump());
    return {"--schedule", folder_.file(file)};
  }

  /// Returns the words of a run on a GPU that faults.
  Words program(const Words& flags) const {
    return Words{HIOS_EMULATED_RUN} + model_ +
           Words{"--backend", "cuda", "--flight-record", folder_.file(".")} + flags;
  }
  static ProcessOptions faulty(const std::string& more = "") {
    return in("order=late,fault_in=" + std::string(kOperator) +
              ",fault_at=" + std::to_string(kFaulty) + more);
  }
  /// One line names the rank, its host and the operator; the flight record has the iteration.
  void expect_lost(const ProcessResult& lost, int rank) const {
    EXPECT_EQ(lost.exit_status, 3) << lost.err;
    const std::vector<std::string> lines = lines_with(lost.err, "error: ");
    ASSERT_EQ(lines.size(), 1u) << lost.err;
    const std::string number = std::to_string(rank);
    const Json record = read(folder_.file("hios_emulated_run-rank-" + number + ".flight.json"));
    const std::string host = record["host"];
    EXPECT_THAT(lines.front(), HasSubstr("rank " + number + " on " + host + ", "));
    EXPECT_THAT(lines.front(), HasSubstr("unspecified launch failure"));
    EXPECT_THAT(lines.front(), HasSubstr(kOperator));
    EXPECT_THAT(lines.front(), Not(HasSubstr("for the first time")));
    const int iteration = record["events"].back()["iteration"];
    EXPECT_GT(iteration, 1);
    EXPECT_LT(iteration, kRuns);
  }

  const Words model_{"--model", folder_.file("pools.json")};
  const Words quick_{"--warmup",           "1", "--warmup-seconds", "0", "--iterations",
                     std::to_string(kRuns)};
  /// Every executor: whole recordings, stages queued one by one, operators one by one, and several
  /// inferences in flight.
  const std::vector<Words> executors_{quick_,
                                      quick_ + Words{"--cuda-graphs", "off"},
                                      quick_ + Words{"--blocking"},
                                      {"--inferences", std::to_string(kRuns), "--in-flight", "2"}};
  Words one_rank_;
};

TEST_F(GpusLostInARun, OneRankNamesItselfAndTheOperator) {
  for (const Words& flags : executors_) {
    SCOPED_TRACE(flags.back());
    expect_lost(run_process(program(one_rank_ + flags), faulty()), 0);
  }
}

#ifdef HIOS_MPIEXEC
TEST_F(GpusLostInARun, TheOneOfTwoRanksThatHasTheGpuNamesItselfAndTheOperator) {
  const Words two =
      schedule("two.json", {{{{"pool_1"}}, {{"pool_2"}}, {{"concat_4"}}}, {{{kOperator}}}});
  for (const Words& flags : executors_) {
    for (const char* const route : {"ipc", "staged"}) {
      SCOPED_TRACE(flags.back() + " " + route);
      expect_lost(run_mpi(2, program(two + flags + Words{"--transport", route}), faulty()), 1);
    }
  }
}

TEST_F(GpusLostInARun, TooLittleMemoryIsSaidOnceByTwoRanks) {
  const Words two =
      schedule("two.json", {{{{"pool_1"}}, {{"pool_2"}}, {{"concat_4"}}}, {{{kOperator}}}});
  const auto expect_said = [&](const std::string& memory, const char* words) {
    const ProcessResult refused = run_mpi(2, program(two + quick_), in("memory=" + memory));
    EXPECT_EQ(refused.exit_status, 2) << refused.err;
    EXPECT_EQ(lines_with(refused.err, "error: ").size(), 1u) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(words));
    EXPECT_THAT(refused.err, HasSubstr("missing"));
  };
  expect_said("20000", "not enough device memory for rank 0");
  if (kSanitized) return;  // blocks end where their tensors do
  expect_said("4000000", "no GPU memory for trying routes");
}

TEST_F(EmulatedFaults, MemoryThatNobodyElseMayMapTakesTheNextRoute) {
  const ProcessResult routes =
      run_mpi(2, Words{HIOS_EMULATED_RUN} + one_ + Words{"--list-devices"}, in("ipc=off"));
  EXPECT_EQ(routes.exit_status, 0) << routes.err;
  EXPECT_EQ(lines_with(routes.out, "no ipc: ").size(), 1u) << routes.out;
  EXPECT_THAT(routes.out, HasSubstr("operation not supported"));
  EXPECT_THAT(routes.out, HasSubstr("device tensors by staged"));
}
#endif

}  // namespace
}  // namespace hios::test

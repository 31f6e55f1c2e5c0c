// Faults of machines, each with the one line that says it: too little memory, a GPU that records
// nothing, one that fails while candidates are tried, memory that no other process may map (as with
// MIG).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/programs/programs.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

using testing::HasSubstr;

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

#ifdef HIOS_MPIEXEC
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

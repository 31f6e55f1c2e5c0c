// The three programs with --backend cuda on emulated GPUs, as their users start them: measured,
// planned and run on two ranks, by each route, recorded and not, with several inferences in flight,
// in batches, cut. Every run compares its outputs with plain loops, and with one rank bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/programs/programs.h"

namespace hios::test {
namespace {

using testing::HasSubstr;

const Words kSmall{"--model", "squeezenet", "--height", "33"};
const Words kQuick{"--backend", "cuda", "--warmup", "1", "--warmup-seconds", "0"};
const Words kTwice{"--iterations", "2"};
constexpr double kLimitS = 300;  // other tests run at the same time

ProcessOptions in_order(const std::string& settings) {
  return {.limit_s = kLimitS, .environment = {{"HIOS_EMULATED_CUDA", settings}}};
}

void expect_bits_of_one_rank(const ProcessResult& result) {
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("bit for bit the result of one rank"));
}

TEST(EmulatedPrograms, RunOnOneRankLikeTheReference) {
  expect_bits_of_one_rank(
      run_process(Words{HIOS_EMULATED_RUN} + kSmall + kQuick + kTwice + Words{"--verify=operators"},
                  in_order("seed=3")));
}

TEST(EmulatedPrograms, RefuseAMachineWithoutAGpu) {
  const ProcessResult result =
      run_process(Words{HIOS_EMULATED_RUN} + kSmall + kQuick, in_order("devices=0"));
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("sees no NVIDIA GPU"));
}

TEST(EmulatedPrograms, NameAnAlgorithmThatBreaksTheGpu) {
  const ProcessResult result =
      run_process(Words{HIOS_EMULATED_RUN} + kSmall + kQuick, in_order("fault=cudnn 1"));
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.err, HasSubstr("the algorithm \"cudnn 1 3 plain\" for \"conv "));
  EXPECT_THAT(result.err, HasSubstr("broke the GPU's context"));
}

#ifdef HIOS_MPIEXEC
TEST(EmulatedPrograms, GiveTheBitsOfOneRankOnTwoByEachRoute) {
  const TestFolder folder;
  const Words measurements{"--profile", folder.file("profile.json")};
  const ProcessResult measured = run_mpi(2,
                                         Words{HIOS_EMULATED_PROFILE} + kSmall + kQuick + kTwice +
                                             Words{"--output", folder.file("profile.json")},
                                         in_order("order=random"));
  ASSERT_EQ(measured.exit_status, 0) << measured.err;
  const ProcessResult planned =
      hios_schedule(kSmall + measurements +
                    Words{"--devices", "2", "--kind", "gpu", "--streams", "2", "--algorithm",
                          "hios-lp", "--output", folder.file("schedule.json")});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;

  const auto run = [&](const Words& flags, const std::string& settings) {
    return run_mpi(2,
                   Words{HIOS_EMULATED_RUN} + kSmall + kQuick + measurements +
                       Words{"--schedule", folder.file("schedule.json"), "--verify"} + flags,
                   in_order(settings));
  };
  expect_bits_of_one_rank(run(kTwice + Words{"--transport", "ipc"}, "order=late"));
  expect_bits_of_one_rank(run(kTwice + Words{"--transport", "staged"}, "order=random"));
  expect_bits_of_one_rank(
      run(kTwice + Words{"--transport", "ipc", "--cuda-graphs", "off"}, "order=random,seed=9"));
  const ProcessResult without_ipc = run(kTwice, "ipc=off,order=late");
  expect_bits_of_one_rank(without_ipc);
  EXPECT_THAT(without_ipc.out, HasSubstr("staged")) << "not the next route";
  const ProcessResult in_flight =
      run({"--inferences", "6", "--in-flight", "2"}, "order=late,seed=3");
  EXPECT_EQ(in_flight.exit_status, 0) << in_flight.err;
}
#endif

}  // namespace
}  // namespace hios::test

// Failures that NCCL notices while a tensor is under way. NCCL's kernels wait on by themselves, so
// the ranks must ask, and must not wait for the GPU on their way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/programs/programs.h"

namespace hios::test {
namespace {

using testing::HasSubstr;

#ifdef HIOS_MPIEXEC
ProcessOptions on_emulated_gpus(const std::string& settings) {
  return {
      .limit_s = 300,
      .environment = {{"HIOS_EMULATED_CUDA", settings}, {"LD_LIBRARY_PATH", HIOS_EMULATED_NCCL}}};
}

/// Two branches that are worth two GPUs.
constexpr const char* kBranches = R"({
  "format": "hios-model", "version": 1, "name": "branches", "input": {"shape": [1, 8, 20, 20]},
  "layers": [
    {"name": "stem", "type": "Conv", "inputs": ["input"], "out_channels": 16,
     "kernel_shape": [1, 1]},
    {"name": "left", "type": "Conv", "inputs": ["stem"], "out_channels": 16,
     "kernel_shape": [5, 5], "pads": [2, 2, 2, 2]},
    {"name": "right", "type": "Conv", "inputs": ["stem"], "out_channels": 16,
     "kernel_shape": [5, 5], "pads": [2, 2, 2, 2]},
    {"name": "join", "type": "Concat", "inputs": ["left", "right"]}
  ]
})";

TEST(NcclFailures, EndTheJobInItsWords) {
  const TestFolder folder;
  const Words network{"--model", folder.file("branches.json")};
  std::ofstream(network[1]) << kBranches;
  const Words quick{"--backend",        "cuda", "--warmup",     "1",
                    "--warmup-seconds", "0",    "--iterations", "2"};
  const std::string profile = folder.file("profile.json"), schedule = folder.file("schedule.json");
  const ProcessResult measured =
      run_mpi(2, Words{HIOS_EMULATED_PROFILE} + network + quick + Words{"--output", profile},
              on_emulated_gpus("order=random"));
  ASSERT_EQ(measured.exit_status, 0) << measured.err;
  const ProcessResult planned =
      hios_schedule(network + Words{"--profile", profile, "--devices", "2", "--kind", "gpu",
                                    "--algorithm", "hios-lp", "--output", schedule});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const Words whole_recorded{}, queued_by_the_host{"--cuda-graphs", "off"};
  const Words in_flight{"--inferences", "6", "--in-flight", "2"};
  const std::string reason = "NCCL, moving a tensor: remote process exited";
  const auto lose = [&](const Words& flags, const std::string& settings) {
    const ProcessResult lost = run_mpi(
        2,
        Words{HIOS_EMULATED_RUN} + network +
            (flags == in_flight ? Words{"--backend", "cuda"} : quick) +
            Words{"--transport", "nccl", "--profile", profile, "--schedule", schedule} + flags,
        on_emulated_gpus("order=late,nccl_lost=1" + settings));
    EXPECT_EQ(lost.exit_status, 3) << lost.err;
    EXPECT_THAT(lost.err, HasSubstr(reason));
    return lost.err;
  };
  for (const Words& flags : {whole_recorded, queued_by_the_host, in_flight}) lose(flags, "");
  // NCCL itself may hang on the way out; the reason is printed before.
  EXPECT_THAT(lose(whole_recorded, ",nccl_ends=off"),
              HasSubstr("warning: the device still waits for other ranks"));
}
#endif

}  // namespace
}  // namespace hios::test

// The three programs with --backend cuda on emulated GPUs, as their users start them: measured,
// planned and run on two ranks, by each route, recorded and not, with several inferences in flight,
// on four with operators that are cut. Every run compares its outputs with plain loops, and with
// one rank bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/programs/programs.h"

namespace hios::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const Words kSmall{"--model", "squeezenet", "--height", "33"};
const Words kQuick{"--backend", "cuda", "--warmup", "1", "--warmup-seconds", "0"};
const Words kTwice{"--iterations", "2"};
const std::string kFourGpus = "devices=4,libraries=off,order=";
constexpr double kLimitS = 300;  // other tests run at the same time

ProcessOptions in_order(const std::string& settings) {
  return {.limit_s = kLimitS, .environment = {{"HIOS_EMULATED_CUDA", settings}}};
}

void expect_bits_of_one_rank(const ProcessResult& result) {
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("bit for bit the result of one rank"));
}

TEST(EmulatedPrograms, RunOnOneRankLikeTheReference) {
  const ProcessResult done = run_process(
      Words{HIOS_EMULATED_RUN} + kSmall + kQuick + kTwice + Words{"--verify=operators", "-v"},
      in_order("seed=3"));
  expect_bits_of_one_rank(done);
  const std::vector<std::string> trials = lines_with(done.err, "tried own 0 1 for conv 1x");
  ASSERT_FALSE(trials.empty()) << done.err;
  EXPECT_TRUE(trials.front().ends_with(" ms")) << trials.front();
}

TEST(EmulatedPrograms, RefuseAMachineWithoutAGpu) {
  const ProcessResult result =
      run_process(Words{HIOS_EMULATED_RUN} + kSmall + kQuick, in_order("devices=0"));
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("sees no NVIDIA GPU"));
}

#ifdef HIOS_MPIEXEC
/// Returns the options with NCCL where the loader finds it.
ProcessOptions with_nccl(const std::string& settings) {
  ProcessOptions options = in_order(settings);
  options.environment.emplace_back("LD_LIBRARY_PATH", HIOS_EMULATED_NCCL);
  return options;
}

/// Returns words that start a program with variables of its rank's, as a batch system does:
/// assignments of a shell, in which $RANK is the rank.
Words with_rank_variables(const std::string& assignments, const Words& program) {
  return Words{"sh", "-c",
               std::string("RANK=") + kRankInShell + "; export " + assignments +
                   "; exec \"$0\" \"$@\""} +
         program;
}

const Words kRoutes =
    Words{HIOS_EMULATED_RUN} + kSmall + Words{"--backend", "cuda", "--list-devices"};

/// Under Slurm's --gpus-per-task each rank sees one GPU, its own: the first to it.
TEST(EmulatedPrograms, TakeTheOneGpuThatEachRankSees) {
  const ProcessResult result = run_mpi(
      2, with_rank_variables("CUDA_VISIBLE_DEVICES=$RANK", kRoutes), in_order("order=late"));
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("each rank sees its own GPU only, so CUDA IPC cannot join"));
  EXPECT_THAT(result.out, HasSubstr("no ipc: ")) << "memory of a GPU that the rank does not see";
  EXPECT_THAT(result.out, HasSubstr("staged"));
}

/// The way between two GPUs is in the words of nvidia-smi.
TEST(EmulatedPrograms, ShowTheNvlinksThatTheDriverReports) {
  ProcessOptions options = in_order("order=late");
  const std::string without = run_mpi(2, kRoutes, options).out;
  EXPECT_THAT(without, HasSubstr("PCIe"));
  options.environment.emplace_back("LD_LIBRARY_PATH", HIOS_EMULATED_NVML);
  const ProcessResult result = run_mpi(2, kRoutes, options);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("ffff:00:00.0"));
  EXPECT_THAT(result.out, HasSubstr("NV1"));
}

TEST(EmulatedPrograms, TakeNcclBetweenGpusThatShareNoMemory) {
  ProcessOptions options = with_nccl("ipc=off,order=late");
  options.environment.emplace_back("HIOS_DEBUG", "info");
  const ProcessResult result = run_mpi(2, kRoutes, options);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("NCCL 2.28.3 joins the GPUs of 2 ranks"));
  EXPECT_THAT(result.err, HasSubstr("Emulated GPU, CUDA 13.0"));
  EXPECT_THAT(result.out, HasSubstr("device tensors by nccl"));
  // This one has no members that do not block.
  const ProcessResult old = run_mpi(2, kRoutes, with_nccl("ipc=off,order=late,nccl=21304"));
  EXPECT_THAT(old.out, HasSubstr("device tensors by nccl")) << old.err;
}

/// Every way in which NCCL cannot be had is one line, and the next route is taken.
TEST(EmulatedPrograms, SayWhyTheyTakeNoNccl) {
  const auto expect_reason = [](const Words& program, const ProcessOptions& options,
                                const std::string& reason) {
    const ProcessResult result = run_mpi(2, program, options);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(lines_with(result.out, "no nccl: ").size(), 1u) << result.out;
    EXPECT_THAT(result.out, HasSubstr("no nccl: " + reason));
    EXPECT_THAT(result.out, HasSubstr("device tensors by staged"));
  };
  const std::string no_ipc = "ipc=off,order=late";
  expect_reason(kRoutes, in_order(no_ipc), "libhios_emulated_nccl.so: cannot open shared object");
  expect_reason(kRoutes, with_nccl(no_ipc + ",nccl=2708"), "NCCL 2.7.8 was found, and this build");
  expect_reason(kRoutes, with_nccl(no_ipc + ",nccl=30000"), "NCCL 3.0.0 was found, and this build");
  expect_reason(kRoutes + Words{"--devices-per-node", "1"}, with_nccl(no_ipc),
                "NCCL, joining the GPUs: invalid usage");
  expect_reason(with_rank_variables("HIOS_EMULATED_CUDA=ipc=off,nccl=2280$RANK", kRoutes),
                with_nccl(""),
                "the versions differ: rank 0 has NCCL 2.28.0, rank 1 has NCCL 2.28.1");
}

TEST(EmulatedPrograms, RefuseNcclThatIsAskedForAndMissing) {
  const ProcessResult result =
      run_mpi(2, kRoutes + Words{"--transport", "nccl"}, in_order("order=late"));
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("no nccl: libhios_emulated_nccl.so: cannot open"));
  EXPECT_THAT(result.err, HasSubstr("--transport auto takes another route"));
}

/// A network of blocks with two branches, one for each rank, so that tensors of more than 4 KB
/// travel in each block. Blocks are alike: few convolutions are tried.
class EmulatedBranches : public testing::Test {
 protected:
  EmulatedBranches() { write_model({3, 1}); }

  /// Each block has a branch with each of these kernels.
  void write_model(const std::vector<int>& kernels) const {
    Json layers = Json::array();
    const auto add = [&](const std::string& name, const std::string& type, const Words& inputs,
                         const Json& more) {
      Json layer{{"name", name}, {"type", type}, {"inputs", inputs}};
      layer.update(more);
      layers.push_back(layer);
      return name;
    };
    const auto branch = [&](const std::string& name, const std::string& input, int kernel) {
      const int pad = kernel / 2;
      add(name, "Conv", {input},
          {{"out_channels", 4},
           {"kernel_shape", {kernel, kernel}},
           {"pads", {pad, pad, pad, pad}},
           {"bias", true}});
      return add(name + "_relu", "Relu", {name}, Json::object());
    };
    std::string last = "input";
    for (const std::string block : {"a", "b", "c", "d"}) {
      Words branches;
      for (const int kernel : kernels) {
        branches.push_back(branch(block + std::to_string(branches.size()), last, kernel));
      }
      last = add(block, "Concat", branches, Json::object());
    }
    write("model.json", {{"format", "hios-model"},
                         {"version", 1},
                         {"name", "branches"},
                         {"input", {{"shape", {1, 8, 18, 18}}}},
                         {"layers", layers}});
  }
  void measure(std::size_t ranks, const Words& flags, const std::string& settings) const {
    const ProcessResult measured =
        run_mpi(ranks,
                Words{HIOS_EMULATED_PROFILE} + model_ + kQuick + kTwice + flags +
                    Words{"--output", folder_.file("profile.json")},
                in_order(settings));
    ASSERT_EQ(measured.exit_status, 0) << measured.err;
  }
  /// Plans for so many ranks, such that each gets work.
  void plan(std::size_t ranks, const Words& flags = {}) const {
    write_platform(ranks);
    const ProcessResult planned =
        hios_schedule(model_ + measurements_ + flags +
                      Words{"--platform", folder_.file("platform.json"), "--algorithm", "hios-lp",
                            "--output", folder_.file("schedule.json")});
    ASSERT_EQ(planned.exit_status, 0) << planned.err;
    const Json made = schedule();
    for (const Json& rank : made["devices"]) {
      EXPECT_FALSE(rank["stages"].empty()) << rank["name"];
    }
  }
  Json schedule() const { return read(folder_.file("schedule.json")); }
  /// Writes a platform on which tensors travel for nothing, so that all ranks get work.
  void write_platform(std::size_t ranks) const {
    Json devices = Json::array();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      devices.push_back({{"name", "gpu" + std::to_string(rank)}, {"kind", "gpu"}, {"streams", 2}});
    }
    write("platform.json", {{"format", "hios-platform"},
                            {"version", 1},
                            {"default_link", {{"latency_ms", 0}, {"gb_per_s", 1e6}}},
                            {"devices", devices}});
  }
  void write(const std::string& name, const Json& json) const {
    std::ofstream(folder_.file(name)) << json;
  }
  ProcessResult run(const Words& flags, const ProcessOptions& device, std::size_t ranks = 2) const {
    return run_mpi(ranks,
                   Words{HIOS_EMULATED_RUN} + model_ + kQuick + measurements_ +
                       Words{"--schedule", folder_.file("schedule.json"), "--verify"} + flags,
                   device);
  }

  /// A run's table of routes, and its report, say how the driver joins the GPUs.
  void expect_nvlinks_in_results(const Words& flags) const {
    ProcessOptions device = in_order("order=late");
    device.environment.emplace_back("LD_LIBRARY_PATH", HIOS_EMULATED_NVML);
    const std::string report = folder_.file("report.json");
    const ProcessResult result = run(flags + Words{"--json", report}, device);
    expect_bits_of_one_rank(result);
    EXPECT_THAT(result.out, HasSubstr("ipc NV1"));
    // The emulated driver reports the links of the first GPU.
    EXPECT_EQ(read(report)["transfer_paths"]["links"][0], Json::parse(R"(["-", "NV1"])"));
  }

  /// A GPU that fails in the middle ends the job with the reason. Ranks write it to a file: the
  /// launcher may drop what ranks print last.
  void expect_lost_gpu() const {
    const std::string file = folder_.file("errors.txt");
    const ProcessResult lost =
        run_mpi(2,
                Words{"sh", "-c", "exec \"$0\" \"$@\" 2>>" + file, HIOS_EMULATED_RUN} + model_ +
                    kQuick + kTwice + measurements_ +
                    Words{"--schedule", folder_.file("schedule.json"), "--transport", "nccl"},
                with_nccl("order=late,fault=nccl receive"));
    EXPECT_EQ(lost.exit_status, 3) << lost.err;
    std::stringstream errors;
    errors << std::ifstream(file).rdbuf();
    EXPECT_THAT(errors.str(), HasSubstr("unspecified launch failure"));
  }

  const TestFolder folder_;
  const Words model_{"--model", folder_.file("model.json")};
  const Words measurements_{"--profile", folder_.file("profile.json")};
};

TEST_F(EmulatedBranches, GiveTheBitsOfOneRankOnTwoByEachRoute) {
  measure(2, {}, "order=random");
  plan(2);
  const Json machine = read(folder_.file("profile.json"))["configurations"][0]["machine"];
  for (const auto& [key, chosen] : machine["algorithms"].items()) {
    EXPECT_TRUE(machine["trials"][key][chosen.get<std::string>()].is_number()) << key;
  }
  const Json made = schedule();
  for (const Json& rank : made["devices"]) {
    ASSERT_GE(rank["stages"].size(), 4u) << "a rank without a branch of each block";
  }

  const auto run = [&](const Words& flags, const std::string& settings) {
    return this->run(flags, in_order(settings));
  };
  expect_nvlinks_in_results(kTwice + Words{"--transport", "ipc"});
  expect_bits_of_one_rank(run(kTwice + Words{"--transport", "staged"}, "order=random"));
  expect_bits_of_one_rank(
      run(kTwice + Words{"--transport", "ipc", "--cuda-graphs", "off"}, "order=random,seed=9"));
  const auto by_nccl = [&](const Words& flags, const std::string& settings) {
    return this->run(flags + Words{"--transport", "nccl"}, with_nccl(settings));
  };
  expect_bits_of_one_rank(by_nccl(kTwice, "order=late"));
  expect_bits_of_one_rank(by_nccl(kTwice + Words{"--cuda-graphs", "off"}, "order=random,seed=4"));
  const ProcessResult queued = by_nccl(kTwice, "order=late,nccl_records=off");
  expect_bits_of_one_rank(queued);
  EXPECT_THAT(queued.err,
              HasSubstr("the device refused to record messages with its stages (NCCL, "));
  EXPECT_THAT(queued.err, Not(HasSubstr("refused to record its stages")));
  const ProcessResult nccl_in_flight =
      by_nccl({"--inferences", "6", "--in-flight", "2"}, "order=random,seed=3");
  EXPECT_EQ(nccl_in_flight.exit_status, 0) << nccl_in_flight.err;
  expect_lost_gpu();
  const ProcessResult without_ipc = run(kTwice, "ipc=off,order=late");
  expect_bits_of_one_rank(without_ipc);
  EXPECT_THAT(without_ipc.out, HasSubstr("staged")) << "not the next route";
  const ProcessResult in_flight =
      run({"--inferences", "6", "--in-flight", "2"}, "order=late,seed=3");
  EXPECT_EQ(in_flight.exit_status, 0) << in_flight.err;
}

/// Four ranks, and convolutions whose rows are divided among them: shards have the bits of the
/// whole by our own kernel.
TEST_F(EmulatedBranches, CutOverFourGpusGiveTheBitsOfOneRank) {
  Json cuts = Json::array();
  for (const char* const op : {"conv_1", "conv_4", "conv_5", "conv_7", "conv_11"}) {
    cuts.push_back({{"operator", op}, {"axis", "height"}, {"parts", {1, 1, 1, 1}}});
  }
  write("cuts.json", {{"format", "hios-cuts"}, {"version", 1}, {"cuts", cuts}});
  const Words cut{"--cut", folder_.file("cuts.json")};
  measure(4, cut + Words{"--stages", "none", "--oversubscribe"}, kFourGpus + "random");
  plan(4, cut);
  const Words shared = kTwice + Words{"--oversubscribe"};
  expect_bits_of_one_rank(run(shared, in_order(kFourGpus + "late"), 4));
  expect_bits_of_one_rank(
      run(shared + Words{"--transport", "nccl"}, with_nccl(kFourGpus + "random,seed=7"), 4));
}

/// Four ranks, each with a branch of every block.
TEST_F(EmulatedBranches, WholeOnFourGpusGiveTheBitsOfOneRank) {
  write_model({3, 1, 3, 1});
  measure(4, {"--stages", "none", "--oversubscribe"}, kFourGpus + "late");
  plan(4);
  const Words shared = kTwice + Words{"--oversubscribe", "--transport"};
  expect_bits_of_one_rank(run(shared + Words{"ipc"}, in_order(kFourGpus + "random,seed=2"), 4));
  expect_bits_of_one_rank(run(shared + Words{"staged"}, in_order(kFourGpus + "late"), 4));
}

/// Two inputs, which operators run one at a time: together they take longer, by a changed profile.
TEST_F(EmulatedBranches, WithDividedInputsGiveTheBitsOfOneRank) {
  const Words inputs{"--inputs", "2"};
  measure(2, inputs + Words{"--stages", "none"}, "order=late");
  Json profile = read(folder_.file("profile.json"));
  for (auto& [signature, times] : profile["configurations"][0]["operators"].items()) {
    times["ms"] = times["min"] = signature.starts_with("2x") ? 3 : 1;
  }
  write("profile.json", profile);
  plan(2, inputs);
  EXPECT_THAT(schedule().dump(), HasSubstr("\"inputs\":[1,2]"));
  expect_bits_of_one_rank(run(kTwice, in_order("order=random,seed=6")));
}

TEST_F(EmulatedBranches, SendTensorsFromTheGpusMemoryByMpi) {
  measure(2, {"--stages", "none"}, "order=random");
  plan(2);
  const ProcessResult result =
      run(kTwice + Words{"--transport", "cuda-aware"}, in_order("order=late,cuda_aware=on"));
  expect_bits_of_one_rank(result);
  EXPECT_THAT(result.out, HasSubstr("device tensors by cuda-aware"));
}
#endif

}  // namespace
}  // namespace hios::test

// Bad input: exit status 2, one line that names the flag or file and the remedy, nothing written,
// no rank waiting. Hundreds of bad files: bad_files_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/backends.h"
#include "support/programs/programs.h"
#include "support/refused.h"

namespace hios::test {
namespace {

// Five operators and one second's work: v0 feeds v1 and v2, both feed v3; v4 stands alone.
constexpr const char* kGraph = R"({"format": "hios-graph", "version": 1, "name": "small",
 "operators": [{"name": "v0", "time_ms": 1}, {"name": "v1", "time_ms": 2}, {"name": "v2", "time_ms": 3},
               {"name": "v3", "time_ms": 1}, {"name": "v4", "time_ms": 2}],
 "edges": [{"from": "v0", "to": "v1", "transfer_ms": 0.5}, {"from": "v0", "to": "v2", "transfer_ms": 0.5},
           {"from": "v1", "to": "v3", "transfer_ms": 0.5}, {"from": "v2", "to": "v3", "transfer_ms": 0.5}]})";

class BadInput : public testing::Test {
 protected:
  BadInput() {
    folder_.write("graph.json", kGraph);
    schedule_ = folder_.file("squeezenet.json");
  }

  /// A valid schedule of a small SqueezeNet for `devices` ranks, made without measuring anything.
  void make_schedule(std::size_t devices) {
    const auto measured =
        hios_profile(devices,
                     {"--model", "squeezenet", "--height", "48", "--warmup", "0", "--iterations",
                      "1", "--backend", "reference", "--output", folder_.file("profile.json")},
                     {.limit_s = 120});
    ASSERT_EQ(measured.exit_status, 0) << measured.err;
    const auto planned = hios_schedule(
        {"--model", "squeezenet", "--height", "48", "--profile", folder_.file("profile.json"),
         "--devices", std::to_string(devices), "--algorithm", "inter-lp", "--output", schedule_});
    ASSERT_EQ(planned.exit_status, 0) << planned.err;
  }

  Words run_flags() const { return {"--model", "squeezenet", "--schedule", schedule_}; }

  TestFolder folder_;
  std::string schedule_;
};

// Values that a shell makes of a variable that is not set.
TEST_F(BadInput, EmptyValues) {
  const std::string graph = folder_.file("graph.json");
  const std::vector<std::pair<Words, const char*>> cases = {
      {{"--graph", ""}, "--graph is empty: give it FILE"},
      {{"--model", "", "--algorithm", "ios"}, "--model is empty: give it NAME|FILE"},
      {{"--random", "", "--algorithm", "ios"}, "--random is empty: give it KEYS"},
      {{"--graph", graph, "--algorithm", "ios", "--output", ""}, "--output is empty"},
      {{"--graph", graph, "--algorithm", "ios", "--json", ""}, "--json is empty"},
      {{"--graph", graph, "--algorithm", "ios", "--timeline", ""}, "--timeline is empty"},
      {{"--graph", graph, "--algorithm", ""}, "--algorithm is empty"},
      {{"--graph", graph, "--platform", "", "--algorithm", "ios"}, "--platform is empty"},
  };
  for (const auto& [flags, part] : cases) expect_refused(hios_schedule(flags), part);
  expect_refused(hios_run(1, {"--model", "squeezenet", "--schedule", ""}), "--schedule is empty");
  expect_refused(hios_profile(1, {"--model", "squeezenet", "--output", ""}), "--output is empty");
  EXPECT_EQ(folder_.files(), Words{"graph.json"});
}

TEST_F(BadInput, MoreThreadsThanAnyHostBears) {
  make_schedule(1);
  Json schedule = read(schedule_);
  schedule["devices"][0]["threads"] = 65536;
  folder_.write("squeezenet.json", schedule.dump());
  expect_refused(hios_run(1, run_flags() + Words{"--height", "48"}), "a rank of 65536 threads on ");
}

TEST_F(BadInput, AProfileWhoseMachineIsOfAnotherType) {
  make_schedule(1);
  const std::string file = folder_.file("profile.json");
  Json profile = read(file);
  profile["configurations"][0]["machine"]["processor"] = 7;
  folder_.write("profile.json", profile.dump());
  expect_refused(hios_profile(1, {"--model", "squeezenet", "--height", "48", "--backend",
                                  "reference", "--update", "--output", file}),
                 "measured on another processor (7, here ");
}

TEST_F(BadInput, FlagsOfTheScheduler) {
  const std::string graph = folder_.file("graph.json");
  const std::vector<std::pair<Words, const char*>> cases = {
      {{}, "--model, --graph and --random"},
      {{"--graph", graph, "--algorithm", "ios", "--kind", "tpu"},
       "--kind takes cpu or gpu, not 'tpu'"},
      {{"--graph", graph, "--algorithm", "ios", "--kind", "gpu", "--threads", "3"},
       "devices of --kind gpu have none"},
      {{"--graph", graph, "--model", "squeezenet", "--algorithm", "all"}, "one of --model"},
      {{"--graph", graph, "--algorithm", "magic"}, "magic"},
      {{"--graph", graph, "--algorithm", "hios-lp", "--option", "window=0"}, "window"},
      {{"--graph", graph, "--algorithm", "hios-lp", "--option", "widow=3"}, "widow"},
      {{"--graph", graph, "--algorithm", "hios-lp", "--devices", "0"}, "--devices"},
      {{"--graph", graph, "--algorithm", "hios-lp", "--devices", "4294967297"}, "--devices"},
      {{"--graph", graph, "--algorithm", "hios-lp", "--devices", "3.9"}, "--devices"},
      {{"--graph", graph, "--algorithm", "hios-lp", "--time-limit", "1e400"}, "--time-limit"},
      {{"--graph", graph, "--algorithm", "hios-lp", "--time-limit", "nan"}, "--time-limit"},
      {{"--graph", graph, "--algorithm", "all", "--output", folder_.file("s.json")},
       "one algorithm"},
      {{"--graph", graph, "--algorithm", "hios-lp", "--output", graph}, "graph.json"},
      {{"--graph", graph, "--algorithm", "ios", "--output", folder_.file("no/such/f.json")},
       "folder"},
      {{"--graph", folder_.file("missing.json"), "--algorithm", "hios-lp"}, "missing.json"},
      {{"--model", "squeezenet", "--algorithm", "hios-lp"}, "--profile"},
      {{"--model", "alexnet", "--algorithm", "hios-lp"}, "squeezenet"},
      {{"--model", "inception_v3", "--height", "20", "--algorithm", "hios-lp"}, "layer"},
      {{"--random", "n=0", "--algorithm", "hios-lp"}, "n"},
      {{"--random", "n=20,n=30", "--algorithm", "hios-lp"}, "n"},
      {{"--random", "n=10,edges=10000", "--algorithm", "hios-lp"}, "random network, edges: 10000"},
      {{"--random", "n=1000001", "--algorithm", "hios-lp"}, "random network, n: "},
      {{"--graph", graph, "--compare", "--check", folder_.file("s.json")}, "cannot be read"},
      {{"--max-input", "10", "--graph", graph, "--algorithm", "hios-lp"}, "--max-input"},
      {{"--nonsense"}, "--help"},
  };
  for (const auto& [flags, part] : cases) {
    SCOPED_TRACE(testing::PrintToString(flags));
    expect_refused(hios_schedule(flags), part);
  }
  EXPECT_EQ(folder_.files(), std::vector<std::string>{"graph.json"}) << "no file is left";
}

/// The graph is written with the results or not at all.
TEST_F(BadInput, LeavesNoExportedGraph) {
  folder_.write("nowhere.json", R"({"format": "hios-graph", "version": 1, "name": "nowhere",
 "operators": [{"name": "v0", "time_ms": 1, "allowed": ["elsewhere"]}], "edges": []})");
  const Words random = {"--random", "n=20"};
  const std::vector<std::pair<Words, const char*>> cases = {
      {random + Words{"--algorithm", "magic"}, "magic"},
      {random + Words{"--algorithm", "best", "--option", "window=4"}, "window"},
      {random + Words{"--algorithm", "best", "--time-limit", "-1"}, "--time-limit"},
      {random + Words{"--time-limit", "-1"}, "--time-limit"},
      {random + Words{"--option", "window=4"}, "--option needs --algorithm"},
      {random + Words{"--output", folder_.file("s.json")}, "--output needs --algorithm"},
      {random + Words{"--check", folder_.file("s.json")}, "--check and --export-graph"},
      {random +
           Words{"--check", folder_.file("s.json"), "--export-platform", folder_.file("p.json")},
       "--check and --export-graph"},
      {random + Words{"--export-platform", folder_.file("g.json")}, "g.json"},
      {random + Words{"--export-model", folder_.file("m.json")}, "--export-model writes a --model"},
      {{"--graph", folder_.file("nowhere.json"), "--algorithm", "inter-lp"}, "v0"},
  };
  for (const auto& [flags, part] : cases) {
    SCOPED_TRACE(testing::PrintToString(flags));
    expect_refused(hios_schedule(flags + Words{"--export-graph", folder_.file("g.json")}), part);
    EXPECT_EQ(folder_.files(), (std::vector<std::string>{"graph.json", "nowhere.json"}));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these map terabytes
TEST_F(BadInput, ANetworkLargerThanMemoryIsRefusedBeforeItRuns) {
  const auto within = [](const char* kilobytes, const Words& flags) {
    return run_process(Words{"bash", "-c", "ulimit -v \"$0\" && exec \"$@\"", kilobytes,
                             HIOS_BIN_DIR "/hios-schedule"} +
                       flags);
  };
  const std::string file = folder_.file("g.json");
  expect_refused(within("500000", {"--random", "n=1000000", "--export-graph", file}),
                 "planning 1000000 operators and 2000000 edges on 2 devices takes about 2.3 GB");
  expect_refused(within("500000", {"--random", "n=100000", "--algorithm", "best", "--option",
                                   "islands=64", "--time-limit", "1", "--output", file}),
                 "take fewer islands");
  expect_refused(within("500000", {"--random", "n=20000,edges=9999999", "--algorithm", "ios"}),
                 "take a smaller graph");
  expect_refused(within("500000", {"--random", "n=20000,family=chain,speeds=1x500:0.5x500",
                                   "--export-graph", file}),
                 "planning 20000 operators and 19999 edges on 1000 devices takes about 6.");
  EXPECT_EQ(folder_.files(), std::vector<std::string>{"graph.json"});
  const auto done = within("500000", {"--random", "n=1000", "--algorithm", "best", "--time-limit",
                                      "0.5", "--output", file});
  EXPECT_EQ(done.exit_status, 0) << done.err;
}

// The libraries alone, with Debian 13's Open MPI, need more than 100 MB of addresses.
TEST_F(BadInput, ARankWithoutAddressesIsNamed) {
  for (const char* program : {HIOS_BIN_DIR "/hios-run", HIOS_BIN_DIR "/hios-profile"}) {
    expect_refused(run_process({"bash", "-c", "ulimit -v 160000 && exec \"$0\" \"$@\"", program,
                                "--model", "squeezenet"}),
                   "raise ulimit -v");
  }
}

#ifdef HIOS_MPIEXEC
// MPI itself ends in many ways with so few.
TEST_F(BadInput, OneRankOfTwoWithoutAddressesIsNamedBeforeMpiStarts) {
  const std::string limited =
      std::string("if [ ") + kRankInShell + R"( = 1 ]; then ulimit -v "$0"; fi; exec "$@")";
  for (const char* kilobytes : {"160000", "280000"}) {
    SCOPED_TRACE(kilobytes);
    const auto done = run_mpi(2,
                              {"bash", "-c", limited, kilobytes, HIOS_BIN_DIR "/hios-run",
                               "--list-devices", "--oversubscribe", "--timeout", "20"},
                              {.all_end = true});
    EXPECT_FALSE(done.timed_out) << done.err;
    EXPECT_EQ(done.left, 0u);
    EXPECT_EQ(done.exit_status, 2) << done.err;
    const auto lines = lines_with(done.err, "error: ");
    ASSERT_EQ(lines.size(), 1u) << done.err;
    EXPECT_TRUE(lines[0].starts_with("error: rank 1 on ")) << lines[0];
    EXPECT_TRUE(lines[0].ends_with("raise ulimit -v")) << lines[0];
  }
}
#endif

TEST_F(BadInput, AnInputThatMemoryDoesNotHoldIsNotRead) {
  const std::string large = folder_.file("large.json");
  std::filesystem::resize_file(folder_.file("graph.json"), 400'000'000);  // a hole
  std::filesystem::rename(folder_.file("graph.json"), large);
  const auto done = run_process({"bash", "-c", "ulimit -v 1000000 && exec \"$0\" \"$@\"",
                                 HIOS_BIN_DIR "/hios-schedule", "--graph", large, "--max-input",
                                 "1000000000", "--algorithm", "inter-lp"});
  expect_refused(done, "reading " + large + " takes about 2.4 GB of memory");
}
#endif

TEST_F(BadInput, GraphsThatCannotRunOnTheirPlatform) {
  const std::filesystem::path corpus = HIOS_SOURCE_DIR "/tests/corpus";
  const Json expected = read((corpus / "expected.json").string());
  for (const Json& entry : expected["problems"]) {
    const std::string graph = (corpus / entry["file"].get<std::string>()).string();
    const std::string platform = (corpus / entry["platform"].get<std::string>()).string();
    SCOPED_TRACE(graph);
    for (const Words& algorithms : {Words{"--algorithm", "inter-lp"}, Words{"--compare"}}) {
      expect_refused(hios_schedule(Words{"--graph", graph, "--platform", platform} + algorithms),
                     entry["message"]);
    }
  }
}

TEST_F(BadInput, DevicesThatAreGivenTwice) {
  const std::string platform = folder_.file("platform.json");
  folder_.write(
      "platform.json",
      R"({"format": "hios-platform", "version": 1, "devices": [{"name": "a", "kind": "cpu"}]})");
  for (const Words& flags :
       {Words{"--devices", "2"}, Words{"--math", "fp32"}, Words{"--kind", "cpu"},
        Words{"--threads", "1"}, Words{"--streams", "1"}}) {
    expect_refused(
        hios_schedule(Words{"--random", "n=4", "--algorithm", "ios", "--platform", platform} +
                      flags),
        flags.front() + " and --platform both describe the devices");
  }
}

TEST_F(BadInput, ProfilesAndSchedulesThatLackSomethingForTheModel) {
  const std::filesystem::path corpus = HIOS_SOURCE_DIR "/tests/corpus";
  const Json expected = read((corpus / "expected.json").string());
  const std::string model = (corpus / "model_ok.json").string();
  for (const Json& entry : expected["for_model_ok"]) {
    const std::string file = (corpus / entry["file"].get<std::string>()).string();
    SCOPED_TRACE(file);
    if (entry["kind"] == "costs") {
      const Words flags = {"--model",   model, "--profile",   file,
                           "--devices", "2",   "--algorithm", "inter-lp"};
      const ProcessResult result = hios_schedule(flags);
      expect_refused(result, entry["message"]);
      expect_refused(result, "; measure it with: mpirun -np 2 ");
      expect_refused(result, "/hios-profile --model " + model);
      continue;
    }
    const std::size_t ranks = entry["ranks"];
#ifndef HIOS_MPIEXEC
    if (ranks > 1) continue;  // this build has none
#endif
    expect_refused(hios_run(ranks, {"--model", model, "--schedule", file}), entry["message"]);
  }
}

TEST_F(BadInput, AFileOfAHundredMegabytesIsRefusedBySize) {
  folder_.write("huge.json", "{");
  std::filesystem::resize_file(folder_.file("huge.json"), 100 << 20);
  expect_refused(hios_schedule({"--graph", folder_.file("huge.json"), "--algorithm", "inter-lp"}),
                 "--max-input");
}

TEST_F(BadInput, RunRefusesFlagsThatDoNotFitTheSchedule) {
  make_schedule(1);
  const std::vector<std::pair<Words, const char*>> cases = {
      {{"--threads", "2"}, "--threads"},
      {{"--height", "64"}, "digest"},
      {{"--percentiles", "50,101"}, "--percentiles"},
      {{"--verify=everything"}, "--verify"},
      {{"--timeout", "-1"}, "--timeout"},
      {{"--iterations", "0"}, "--iterations"},
      {{"--backend", "cuda"}, "cuda"},
      {{"--transport", "ipc"}, "--transport is about GPUs"},
      {{"--cuda-graphs", "off"}, "--cuda-graphs is about GPUs"},
      {{"--devices-per-node", "1"}, "--devices-per-node is about GPUs"},
      {{"--allow-nondeterministic"}, "--allow-nondeterministic is about GPUs"},
      {{"--blocking"}, "--blocking is about GPUs"},
      {{"--math", "tf32"}, "made for fp32, and --math says tf32"},
      {{"--math", "fp8"}, "there are fp32, tf32, fp16"},
      {{"--atol", "-1"}, "--atol"},
      {{"--backend", "reference,reference"}, "--backend"},
      {{"--json", folder_.file("graph.json")}, "--force"},
      {{"--json", schedule_, "--force"}, "name the same file"},
      {{"--csv", folder_.file("r"), "--json", folder_.file("r")}, "name the same file"},
      {{"--profile", folder_.file("graph.json")}, "hios-profile"},
      {{"--dry-run", "--json", folder_.file("r.json")}, "--dry-run"},
  };
  for (const auto& [flags, part] : cases) {
    SCOPED_TRACE(testing::PrintToString(flags));
    expect_refused(hios_run(1, run_flags() + flags), part);
  }
}

#ifdef HIOS_MPIEXEC
TEST_F(BadInput, MoreOrFewerRanksThanDevices) {
  make_schedule(2);
  expect_refused(hios_run(1, run_flags()), "mpirun -np 2");
  expect_refused(hios_run(3, run_flags()), "mpirun -np 2");
}

TEST_F(BadInput, RanksWithDifferentArgumentsAreRefused) {
  make_schedule(2);
  const std::string program = HIOS_BIN_DIR "/hios-run";
  // By a shell, since the mpirun of Debian 13 (Open MPI 5.0.7) crashes on any "command : command".
  const std::string by_rank = std::string(R"(exec "$0" "$@" --seed )") + kRankInShell;
  const ProcessResult result =
      run_mpi(2, Words{"bash", "-c", by_rank, program} + run_flags() + Words{"--oversubscribe"});
  EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
  ASSERT_EQ(lines_with(result.err, "error: ").size(), 1u) << result.err;
  EXPECT_NE(lines_with(result.err, "error: ").front().find("arguments"), std::string::npos)
      << result.err;
}
#endif

#ifdef HIOS_HAVE_CPU
constexpr const char* kNotByTheCpu = "the cpu backend computes in fp32, not in tf32";
constexpr const char* kNotOnTheCpu = "$.devices[0]: made for tf32, which the cpu backend has not";
#else
constexpr const char* kNotByTheCpu = "backend 'cpu' is not in this build";
constexpr const char* kNotOnTheCpu = kNotByTheCpu;
#endif

// A backend or GPU that this build or machine lacks is reported in one line before anything runs.
TEST_F(BadInput, ProfileRefusesFlagsOfGpusWithoutOne) {
  const Words common = {"--model",  "squeezenet",           "--height",     "48", "--warmup", "0",
                        "--output", folder_.file("p.json"), "--iterations", "1"};
  const std::vector<std::pair<Words, const char*>> cases = {
      {{"--math", "tf32", "--backend", "cpu"}, kNotByTheCpu},
      {{"--transport", "staged"}, "--transport is about GPUs"},
      {{"--backend", "cuda", "--threads", "2"}, "cuda"},
  };
  for (const auto& [flags, part] : cases) {
    SCOPED_TRACE(testing::PrintToString(flags));
    expect_refused(hios_profile(1, common + flags), part);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.file("p.json")));
}

TEST_F(BadInput, AScheduleInAnotherArithmeticIsRefused) {
  make_schedule(1);
  Json schedule = read(schedule_);
  schedule["devices"][0]["math"] = "tf32";
  folder_.write("tf32.json", schedule.dump());
  expect_refused(hios_run(1, {"--model", "squeezenet", "--schedule", folder_.file("tf32.json"),
                              "--backend", "cpu"}),
                 kNotOnTheCpu);
}

TEST_F(BadInput, AScheduleForAGpuIsRefusedOnCores) {
  make_schedule(1);
  Json schedule = read(schedule_);
  schedule["devices"][0]["gpu"] = "NVIDIA H200, CUDA 13.0";
  folder_.write("h200.json", schedule.dump());
  expect_refused(hios_run(1, {"--model", "squeezenet", "--schedule", folder_.file("h200.json")}),
                 "made for NVIDIA H200, CUDA 13.0, and rank 0 has no GPU");
  schedule["devices"][0]["gpu"] = "";
  folder_.write("empty.json", schedule.dump());
  expect_refused(hios_run(1, {"--model", "squeezenet", "--schedule", folder_.file("empty.json")}),
                 "$.devices[0].gpu");
}

#ifdef HIOS_MPIEXEC
TEST_F(BadInput, TwoBackendsForOneKindCannotShareAProfile) {
  const bool both = std::ranges::all_of(
      backends(), [](const BackendEntry& entry) { return entry.make || entry.name != "cpu"; });
  expect_refused(
      hios_profile(2, {"--model", "squeezenet", "--height", "48", "--width", "48", "--backend",
                       "reference,cpu", "--output", folder_.file("p.json")}),
      both ? "one at a time" : "not in this build");
}
#endif

TEST_F(BadInput, MoreThreadsThanCoresNeedOversubscribe) {
  expect_refused(run_process({HIOS_BIN_DIR "/hios-profile", "--model", "squeezenet", "--threads",
                              "4096", "--output", folder_.file("p.json")}),
                 "--oversubscribe");
}

}  // namespace
}  // namespace hios::test

// Algorithms of convolutions that the programs choose on emulated GPUs: those that break the GPU,
// that are left out, or of which a library proposes none are named, with what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "support/programs/programs.h"

namespace hios::test {
namespace {

using testing::HasSubstr;

const Words kNetwork{"--model",  "squeezenet", "--height",         "33", "--backend", "cuda",
                     "--warmup", "1",          "--warmup-seconds", "0"};
const Words kRun = Words{HIOS_EMULATED_RUN} + kNetwork;
const Words kOnce{"--iterations", "1"};

ProcessOptions on_device(const std::string& settings) {
  return {.limit_s = 300, .environment = {{"HIOS_EMULATED_CUDA", settings}}};
}

TEST(EmulatedAlgorithms, NameAnAlgorithmThatBreaksTheGpu) {
  const ProcessResult result = run_process(kRun, on_device("fault=cudnn 1"));
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.err, HasSubstr("the algorithm \"cudnn 1 3 plain\" for \"conv "));
  EXPECT_THAT(result.err, HasSubstr("broke the GPU's context"));
  EXPECT_THAT(result.err,
              HasSubstr(", or leave it out with --without-algorithms 'cudnn 1 3 plain'"));
  const ProcessResult without =
      run_process(kRun + kOnce + Words{"--without-algorithms", "lt; cudnn  1", "-v"},
                  on_device("fault=cudnn 1"));
  EXPECT_EQ(without.exit_status, 0) << without.err;
  EXPECT_FALSE(lines_with(without.err, "tried cudnn 0 ").empty());
  EXPECT_TRUE(lines_with(without.err, "tried cudnn 1 ").empty());
  EXPECT_TRUE(lines_with(without.err, "tried lt ").empty());
}

/// The flag that a message ends with runs when it is pasted in place of the one that was given.
TEST(EmulatedAlgorithms, NameTheFlagThatLeavesAnAlgorithmOut) {
  const auto run_with = [](const Words& flag) {
    return run_process(kRun + kOnce + flag, on_device("fault=lt 0"));
  };
  const std::string broken = run_with({"--without-algorithms", "own;graph"}).err;
  const std::regex pasted("leave it out with (--without-algorithms) '(own;graph;lt 0[^']*)'");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(broken, found, pasted)) << broken;
  const ProcessResult without = run_with({found[1], found[2]});
  EXPECT_EQ(without.exit_status, 0) << without.err;
}

TEST(EmulatedAlgorithms, RefuseToLeaveOutWhatIsNoAlgorithm) {
  const ProcessResult result =
      run_process(kRun + Words{"--without-algorithms", "cudnn;winograd"}, on_device("seed=3"));
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("\"winograd\" is to be left out"));
}

/// One that an earlier measurement chose is no other GPU's fault.
TEST(EmulatedAlgorithms, NameOneOfAProfileThatBreaksTheGpu) {
  const TestFolder folder;
  const std::string profile = folder.file("profile.json");
  const ProcessResult measured =
      run_process(Words{HIOS_EMULATED_PROFILE} + kNetwork + kOnce +
                      Words{"--without-algorithms", "own;lt;graph", "--output", profile},
                  on_device("seed=3"));
  ASSERT_EQ(measured.exit_status, 0) << measured.err;
  std::ifstream file(profile);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::smatch chosen;
  const std::regex named(R"re("((cudnn \d+) [^"]*)")re");
  ASSERT_TRUE(std::regex_search(text, chosen, named)) << text;
  const Words measured_run = kRun + kOnce + Words{"--profile", profile};
  const ProcessResult well = run_process(measured_run, on_device("seed=4"));
  EXPECT_EQ(well.exit_status, 0) << well.err;
  const ProcessResult result = run_process(measured_run, on_device("fault=" + chosen[2].str()));
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.err, HasSubstr("the algorithm \"" + chosen[1].str() + "\" for \"conv "));
  EXPECT_THAT(result.err, HasSubstr("broke the GPU's context"));
  EXPECT_THAT(result.err,
              HasSubstr("leave it out with --without-algorithms '" + chosen[1].str() + "'"));
}

TEST(EmulatedAlgorithms, SayWhyALibraryProposesNone) {
  const ProcessResult result = run_process(kRun + kOnce + Words{"-v"}, on_device("libraries=off"));
  EXPECT_EQ(result.exit_status, 0) << result.err;
  for (const std::string family : {"cudnn", "lt", "graph"}) {
    const auto lines = lines_with(result.err, family + " proposes nothing for conv ");
    ASSERT_FALSE(lines.empty()) << result.err;
    EXPECT_THAT(lines.front(), HasSubstr("NOT_SUPPORTED"));
    if (family != "lt") {
      EXPECT_THAT(lines.front(), HasSubstr("an emulated failure"));
    }
  }
}

}  // namespace
}  // namespace hios::test

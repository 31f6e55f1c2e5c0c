// Weights in files of their own, with the program that reads and writes them.

#include <gtest/gtest.h>

#include <string>

#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/refused.h"

namespace hios::test {
namespace {

class WeightsFiles : public testing::Test {
 protected:
  Words network() const { return {"--model", "squeezenet", "--height", "48"}; }
  Words quick() const { return {"--iterations", "1", "--warmup", "0"}; }
  std::string written(const std::string& seed) {
    const std::string file = folder_.file("w" + seed + ".safetensors");
    const auto done = hios_run(1, network() + Words{"--seed", seed, "--write-weights", file});
    EXPECT_EQ(done.exit_status, 0) << done.err;
    return file;
  }
  std::string outputs(const std::string& name, const Words& flags) {
    const auto done =
        hios_run(1, network() + quick() + flags + Words{"--outputs", folder_.file(name)});
    EXPECT_EQ(done.exit_status, 0) << done.err;
    return content_of(folder_.file(name + "/0.npy"));
  }

  TestFolder folder_;
};

TEST_F(WeightsFiles, ARunTakesThemInsteadOfTheSeeds) {
  // The input is of the seed 5 in all three runs.
  const std::string five = written("5"), six = written("6");
  const std::string own = outputs("own", {"--seed", "5"});
  EXPECT_EQ(outputs("read", {"--seed", "5", "--weights", five, "--verify"}), own);
  EXPECT_NE(outputs("other", {"--seed", "5", "--weights", six}), own);
  // Siblings that are computed as one take the weights of each.
  EXPECT_EQ(outputs("merged", {"--seed", "5", "--weights", five, "--merge", "siblings"}),
            outputs("merged_own", {"--seed", "5", "--merge", "siblings"}));
}

TEST_F(WeightsFiles, BadOnesAreRefused) {
  const std::string file = written("5");
  expect_refused(hios_run(1, {"--model", "inception_v3", "--weights", file}),
                 "belongs to no layer of the model");
  expect_refused(hios_run(1, network() + Words{"--weights", folder_.file("none")}), "none");
  expect_refused(hios_run(1, network() + Words{"--write-weights", file}), ": exists");
  expect_refused(hios_run(1, network() + Words{"--write-weights", file, "--force", "--verify"}),
                 "--write-weights writes the model and runs nothing: leave out --verify");
  expect_refused(hios_run(1, network() + Words{"--write-weights", folder_.file("a"),
                                               "--export-onnx", folder_.file("b")}),
                 "each write one file: give one of them");
}

}  // namespace
}  // namespace hios::test

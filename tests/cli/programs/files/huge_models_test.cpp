// Small files that ask for much memory are refused before it is taken. The limit of the process's
// addresses keeps a failure of these tests from filling the machine.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hios/base/files/npy.h"
#include "hios/model/model.h"
#include "hios/model/model_json.h"
#include "support/layers/onnx_builder.h"
#include "support/programs/programs.h"

namespace hios::test {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these map terabytes

/// Runs a command that may have half a gigabyte of addresses: less than any machine has left.
ProcessResult limited(const Words& command) {
  return run_process(Words{"bash", "-c", "ulimit -v 500000 && exec \"$0\" \"$@\""} + command);
}

/// Expects status 2 and one line of standard error that has these parts.
void expect_one_line(const ProcessResult& done, const Words& parts) {
  EXPECT_EQ(done.exit_status, 2) << done.err;
  const auto lines = lines_with(done.err, "error: ");
  ASSERT_EQ(lines.size(), 1u) << done.err;
  for (const std::string& part : parts)
    EXPECT_NE(lines.front().find(part), std::string::npos) << part << " in " << done.err;
}

TEST(HugeModels, AnExtentOfABillionIsRefusedBeforeTheRun) {
  OnnxBuilder b;
  b.input("x", {1, 1'000'000'000});
  b.node("Relu", {"x"}, "y");
  b.output("y");
  const std::string file = b.write();
  ASSERT_LT(std::filesystem::file_size(file), 200u);
  const TestFolder folder;
  for (const Words& program :
       {Words{HIOS_BIN_DIR "/hios-run"}, Words{HIOS_BIN_DIR "/hios-run", "--verify"},
        Words{HIOS_BIN_DIR "/hios-profile", "--output", folder.file("p.json")}}) {
    SCOPED_TRACE(testing::PrintToString(program));
    const auto done = limited(program + Words{"--model", file});
    expect_one_line(done, {
                              "net needs at least 18.6 GiB on rank 0 on host ",
                              " are available (limit of the process's address space, ulimit -v)",
                              "the largest tensors are the input 3.7 GiB (1x1000000000x1x1), "
                              "Relu_of_y's output 3.7 GiB (1x1000000000x1x1): take a smaller input "
                              "(--batch, --height, --width, --dim), or raise the limit",
                          });
    EXPECT_EQ(done.out, "");
  }
  const auto plan = limited({HIOS_BIN_DIR "/hios-run", "--dry-run", "--model", file});
  EXPECT_EQ(plan.exit_status, 0) << "a plan takes no memory: " << plan.err;
}

TEST(HugeModels, VerificationIsCounted) {
  OnnxBuilder b;
  b.input("x", {1, 1, 4096, 4096});
  std::string before = "x";
  for (int i = 0; i < 40; ++i) {  // 64 MiB each, of which a run needs two or three at a time
    const std::string after = "y" + std::to_string(i);
    b.node("MaxPool", {before}, after);
    OnnxBuilder::attribute(*b.graph().mutable_node(i), "kernel_shape",
                           std::vector<std::int64_t>{1, 1});
    before = after;
  }
  b.output(before);
  expect_one_line(limited({HIOS_BIN_DIR "/hios-run", "--model", b.write(), "--verify"}),
                  {"net needs at least 5.", " GiB on rank 0"});
}

TEST(HugeModels, WeightsThatNoFileHoldsAreRefusedByTheirNode) {
  OnnxBuilder b;
  b.input("x", {1, 2048});
  b.integers("extents", {2048, 2048});
  b.node("ConstantOfShape", {"extents"}, "zeros");
  std::string before = "x";
  for (int i = 0; i < 100; ++i) {  // 16 MiB each
    const std::string after = "y" + std::to_string(i);
    b.node("MatMul", {before, "zeros"}, after);
    before = after;
  }
  b.output(before);
  const std::string file = b.write();
  const auto done = limited({HIOS_BIN_DIR "/hios-schedule", "--model", file, "--list-operators"});
  expect_one_line(done, {file + ": node 'MatMul_of_y", "(MatMul)", "weights"});
}

TEST(HugeModels, FilesThatMemoryDoesNotHoldAreNotRead) {
  const TestFolder folder;
  OnnxBuilder b;
  small_net(b);
  const std::string model = b.write();
  const std::string input = folder.file("x.npy");
  write_npy(input, std::vector<std::int64_t>{1, 3, 8, 8}, std::vector<float>(192),
            Existing::kReplace);
  std::filesystem::resize_file(input, 1'900'000'000);  // a hole
  expect_one_line(limited({HIOS_BIN_DIR "/hios-run", "--model", model, "--input", input}),
                  {input + ": reading it takes at least 3.5 GiB of memory, where "});
  std::filesystem::resize_file(model, 1'900'000'000);
  expect_one_line(limited({HIOS_BIN_DIR "/hios-run", "--model", model}),
                  {model + ": reading it takes at least 1.8 GiB of memory, where "});
}

TEST(HugeModels, AFileThatMemoryDoesNotHoldIsNotWritten) {
  ModelBuilder b("wide", {1, 20'000, 1, 1});
  b.conv("square", b.input(), {20'000, {1, 1}, {1, 1}, {0, 0}});
  const TestFolder folder;
  folder.write("wide.json", to_json(std::move(b).build()).dump());
  const std::string file = folder.file("wide.onnx");
  expect_one_line(limited({HIOS_BIN_DIR "/hios-run", "--model", folder.file("wide.json"),
                           "--export-onnx", file}),
                  {file + ": writing it takes at least 3.0 GiB of memory, where "});
  EXPECT_FALSE(std::filesystem::exists(file));
}

#endif

}  // namespace
}  // namespace hios::test

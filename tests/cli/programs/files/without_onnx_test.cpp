// A build without ONNX files says so in a line, with the remedy, before anything runs.

#include <gtest/gtest.h>

#include "support/programs/programs.h"

namespace hios::test {
namespace {

TEST(WithoutOnnx, FilesAreNeitherReadNorWritten) {
  const TestFolder folder;
  folder.write("net.onnx", "whatever");
  const auto refused = [&](const Words& flags, const std::string& message) {
    const auto done = hios_run(1, flags);
    EXPECT_EQ(done.exit_status, 2) << done.err;
    EXPECT_EQ(lines_with(done.err, message).size(), 1u) << message << " in " << done.err;
    EXPECT_EQ(lines_with(done.err, "-DHIOS_ONNX=ON").size(), 1u) << done.err;
  };
  refused({"--model", folder.file("net.onnx")}, "net.onnx: this build reads no ONNX files");
  refused({"--model", "squeezenet", "--export-onnx", folder.file("out.onnx")},
          "model 'squeezenet': this build writes no ONNX files");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"net.onnx"});
}

}  // namespace
}  // namespace hios::test

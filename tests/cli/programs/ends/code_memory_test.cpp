// oneDNN generates code and does not check that it got memory for it; the programs do.

#include <gtest/gtest.h>

#include "support/programs/programs.h"

// Sanitizers map memory by the calls that are replaced here.
#if defined(HIOS_HAVE_CPU) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace hios::test {
namespace {

ProcessResult profile_with(const std::string& code_memory, const TestFolder& folder) {
  return hios_profile(
      1,
      {"--model", "squeezenet", "--height", "32", "--iterations", "1", "--warmup", "0", "--backend",
       "cpu", "--flight-record", "off", "--output", folder.file("profile.json")},
      {.environment = {
           {"LD_PRELOAD", HIOS_CODE_MEMORY},
           {"CODE_MEMORY", code_memory},
       }});
}

class CodeMemory : public testing::Test {
 protected:
  TestFolder folder_;
};

TEST_F(CodeMemory, ThatTheSystemForbidsIsNamedWithARemedy) {
  const auto done = profile_with("forbidden", folder_);
  EXPECT_EQ(done.exit_status, 2) << done.err;
  const auto lines = lines_with(done.err, "error: ");
  ASSERT_EQ(lines.size(), 1u) << done.err;
  EXPECT_NE(lines[0].find("does not let oneDNN execute the code that it generates"),
            std::string::npos)
      << lines[0];
  EXPECT_NE(lines[0].find("--backend"), std::string::npos) << lines[0];
  EXPECT_EQ(folder_.files(), Words{});
}

TEST_F(CodeMemory, ThatRunsOutAtAnyMomentIsALineAndNoSignal) {
  for (const char* mebibytes : {"1", "9", "14"}) {
    SCOPED_TRACE(mebibytes);
    const auto done = profile_with(mebibytes, folder_);
    EXPECT_EQ(done.exit_status, 3) << done.err;
    const auto lines = lines_with(done.err, "error: ");
    ASSERT_EQ(lines.size(), 1u) << done.err;
    EXPECT_TRUE(lines[0].find(": no memory for ") != std::string::npos ||
                lines[0].find(": out of memory") != std::string::npos)
        << lines[0];
    EXPECT_EQ(folder_.files(), Words{});
  }
  EXPECT_EQ(profile_with("1000", folder_).exit_status, 0) << "enough";
}

}  // namespace
}  // namespace hios::test
#endif

// What a program stands in: a full disk, limits of the shell, a folder that is gone. A line that
// says which, a status that is not 0, never half a file.

#include <gtest/gtest.h>

#include "support/programs.h"

namespace hios::test {
namespace {

class Surroundings : public testing::Test {
 protected:
  ProcessResult shell(const std::string& script) const {
    ProcessOptions options;
    options.directory = place_.file("");
    return run_process({"bash", "-c", script}, options);
  }
  Workplace place_;
};

constexpr const char* kSchedule =
    HIOS_BIN_DIR "/hios-schedule --random n=2000,edges=4000,layers=50 --algorithm inter-mr";

TEST_F(Surroundings, StandardOutputThatTakesNothing) {
  for (const std::string flags : {"--output s.json", "--help", "--list-models"}) {
    const auto done =
        shell(std::string(flags == "--output s.json" ? kSchedule : HIOS_BIN_DIR "/hios-schedule") +
              " " + flags + " > /dev/full");
    EXPECT_EQ(done.exit_status, 3) << flags;
    EXPECT_EQ(lines_with(done.err, "error: standard output: No space left").size(), 1u) << done.err;
  }
  EXPECT_EQ(place_.files(), Words{"s.json"}) << "files are written all the same";
  const auto run = shell(HIOS_BIN_DIR "/hios-run --help > /dev/full");
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_EQ(lines_with(run.err, "standard output: No space left").size(), 1u) << run.err;
}

TEST_F(Surroundings, AFileBeyondTheLimitOfTheShell) {
  const auto done = shell(std::string("ulimit -f 8; ") + kSchedule + " --output s.json");
  EXPECT_NE(done.exit_status, 0);
  EXPECT_LT(done.exit_status, 128) << "no signal";
  EXPECT_EQ(lines_with(done.err, "s.json: ").size(), 1u) << done.err;
  EXPECT_EQ(place_.files(), Words{});
}

TEST_F(Surroundings, AWorkingFolderThatIsGone) {
  for (const char* command :
       {HIOS_BIN_DIR "/hios-schedule --random n=4,edges=3,layers=2 --algorithm ios --output s.json",
        HIOS_BIN_DIR "/hios-run --model squeezenet --schedule s.json",
        HIOS_BIN_DIR "/hios-profile --model squeezenet --output p.json"}) {
    const auto done =
        shell(std::string("mkdir gone && cd gone && rmdir ../gone && exec ") + command);
    EXPECT_EQ(done.exit_status, 2) << done.err;
    EXPECT_EQ(lines_with(done.err, "the working folder is not there any more").size(), 1u)
        << done.err;
  }
}

}  // namespace
}  // namespace hios::test

// Surroundings of a program: a full disk, limits of the shell, a folder that was removed. Each
// gives a line that names it, a status that is not 0, and never half a file.

#include <gtest/gtest.h>
#include <signal.h>
#include <nlohmann/json.hpp>

#include "hios/model/networks/networks.h"
#include "support/networks/random_network.h"
#include "support/programs/programs.h"

namespace hios::test {
namespace {

class Surroundings : public testing::Test {
 protected:
  ProcessResult shell(const std::string& script) const {
    ProcessOptions options;
    options.directory = folder_.file("");
    return run_process({"bash", "-c", script}, options);
  }
  TestFolder folder_;
};

#ifdef HIOS_MPIEXEC
constexpr std::size_t kSeveral = 2;
#else
constexpr std::size_t kSeveral = 1;
#endif

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
  EXPECT_EQ(folder_.files(), Words{"s.json"}) << "files are written all the same";
  const auto run = shell(HIOS_BIN_DIR "/hios-run --help > /dev/full");
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_EQ(lines_with(run.err, "standard output: No space left").size(), 1u) << run.err;
}

// The reader of the pipe has ended before the program writes.
TEST_F(Surroundings, AnOutputThatNobodyReadsEndsThemSilently) {
  for (const char* program : {"hios-schedule", "hios-run", "hios-profile"}) {
    const auto done = shell(std::string("exec 3> >(true); wait $!; exec " HIOS_BIN_DIR "/") +
                            program + " --help >&3");
    EXPECT_EQ(done.exit_status, 128 + SIGPIPE) << program;
    EXPECT_EQ(done.err, "") << program;
  }
  EXPECT_EQ(folder_.files(), Words{});
}

TEST_F(Surroundings, AFileBeyondTheLimitOfTheShell) {
  const auto done = shell(std::string("ulimit -f 8; ") + kSchedule + " --output s.json");
  EXPECT_NE(done.exit_status, 0);
  EXPECT_LT(done.exit_status, 128) << "no signal";
  EXPECT_EQ(lines_with(done.err, "s.json: ").size(), 1u) << done.err;
  EXPECT_EQ(folder_.files(), Words{});
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

TEST_F(Surroundings, AListOfDevicesRunsNothing) {
  const std::size_t ranks = kSeveral;
  for (const auto program : {hios_run, hios_profile}) {
    const auto listed = program(ranks,
                                {"--list-devices", "--backend", "reference", "--json",
                                 folder_.file("list.json"), "--force"},
                                {});
    EXPECT_EQ(listed.exit_status, 0) << listed.err;
    EXPECT_EQ(lines_with(listed.out, "reference").size(), ranks) << listed.out;
    const Json list = read(folder_.file("list.json"));
    ASSERT_EQ(list["ranks"].size(), ranks);
    EXPECT_EQ(list["ranks"][0]["backend"], "reference");
    EXPECT_EQ(list["ranks"][0]["description"]["library"], "plain loops");
    EXPECT_NE(listed.out.find(std::string(list["ranks"][0]["transfer_path"])), std::string::npos);
  }
  EXPECT_EQ(folder_.files(), Words{"list.json"});
  const auto refused = hios_run(1, {"--list-devices", "--backend", "tpu"}, {});
  EXPECT_EQ(refused.exit_status, 2);
}

TEST_F(Surroundings, AProfileSaysWhenAndUnderWhatItWasMeasured) {
  const std::string file = folder_.file("p.json");
  ProcessOptions options;
  options.environment = {{"OMP_DISPLAY_AFFINITY", "false"}, {"HOME_OF_NOBODY", "x"}};
  const auto done = hios_profile(1,
                                 {"--model", "squeezenet", "--height", "32", "--iterations", "2",
                                  "--warmup", "0", "--output", file},
                                 options);
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json machine = read(file)["configurations"][0]["machine"];
  EXPECT_EQ(machine["environment"]["OMP_DISPLAY_AFFINITY"], "false");
  EXPECT_FALSE(machine["environment"].contains("HOME_OF_NOBODY"));
  EXPECT_TRUE(machine["date"].get<std::string>().ends_with("Z"));
  EXPECT_TRUE(machine["commit"].is_string());
}

#ifdef HIOS_MPIEXEC
TEST_F(Surroundings, MoreThreadsThanCoresAndTwoCopiesAreWarnedOf) {
  ProcessOptions options;
  options.environment = kWithoutCma;
  const auto listed = hios_run(
      2, {"--list-devices", "--backend", "reference", "--threads", "64", "--transport", "host"},
      options);
  EXPECT_EQ(listed.exit_status, 0) << listed.err;
  EXPECT_EQ(lines_with(listed.err, "warning: ").size(),
            lines_with(listed.err, "its 2 ranks want 128 cores and may use").size() +
                lines_with(listed.err, "copied twice").size() +
                lines_with(listed.err, "control groups grant").size() +
                lines_with(listed.err, "the frequency governor is").size())
      << listed.err;
  EXPECT_GE(lines_with(listed.err, "its 2 ranks want 128 cores").size(), 1u) << listed.err;
  EXPECT_EQ(lines_with(listed.err, "copied twice").size(), 1u) << listed.err;
}

TEST_F(Surroundings, WithoutCopiesBetweenProcessesTensorsGoThroughSharedMemory) {
  ProcessOptions options;
  options.environment = kWithoutCma;
  const auto listed = hios_run(2, {"--list-devices", "--backend", "reference"}, options);
  EXPECT_EQ(listed.exit_status, 0) << listed.err;
  EXPECT_EQ(lines_with(listed.err, "copied twice").size(), 0u) << listed.err;
  EXPECT_EQ(lines_with(listed.out, "through memory that ranks share").size(), 1u) << listed.out;
}

// Runs the program, and prints the address of each socket on which it listens while it measures: it
// then has a thread for requests to stop. Once that is done on both ranks, rank 0 is asked to stop.
const std::string kListeners = std::string("rank=") + kRankInShell + R"(
"$@" >/dev/null &
program=$!
runs() { [ -e /proc/$program/exe ]; }
while runs && ! grep -qs '^stop-request$' /proc/$program/task/*/comm; do sleep 0.05; done
runs && echo seen
for socket in $(ls -l /proc/$program/fd | sed -n 's/.*socket:\[\(.*\)\]$/\1/p'); do
  awk -v socket="$socket" '$4 == "0A" && $10 == socket { print "listens on " $2 }' /proc/$program/net/tcp*
done
touch "$SEEN/$rank"
if [ "$rank" = 0 ]; then
  while runs && ! [ -e "$SEEN/1" ]; do sleep 0.05; done
  kill -TERM $program
fi
wait $program)";

TEST_F(Surroundings, RanksOfOneHostOpenNoPort) {
  folder_.write("schedule.json", random_schedule_text(models::squeezenet(1, 32, 32), 2, 3));
  ProcessOptions options{.limit_s = 200};
  options.environment = {{"SEEN", folder_.file("")}};
  options.before = {"env", "-u", "OMPI_MCA_btl"};  // which the tests set for themselves
  const auto done = run_mpi(2,
                            {"/bin/sh", "-c", kListeners, "sh", HIOS_BIN_DIR "/hios-run", "--model",
                             "squeezenet", "--height", "32", "--schedule",
                             folder_.file("schedule.json"), "--duration", "180", "--oversubscribe"},
                            options);
  EXPECT_FALSE(done.timed_out) << done.err;
  EXPECT_EQ(lines_with(done.out, "seen").size(), 2u) << done.out << done.err;
  // MPICH's ranks have settings of their own.
  if (run_process({HIOS_MPIEXEC, "--version"}).out.find("HYDRA") != std::string::npos) return;
  EXPECT_EQ(lines_with(done.out, "listens on").size(), 0u) << done.out;
}
#endif

}  // namespace
}  // namespace hios::test

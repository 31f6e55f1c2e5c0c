#include "mpi/messages/launcher.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "support/programs/temporary_folder.h"
#include "support/programs/variable.h"

namespace hios::test {
namespace {

/// Clears the variables that a launcher may have set, and restores them.
class Launcher : public testing::Test {
 protected:
  static constexpr std::array kNames = {"OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "PMIX_RANK",
                                        "PMIX_NAMESPACE",
                                        "OMPI_MCA_pmix",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "PMI_FD",
                                        "MPI_LOCALRANKID",
                                        "MPI_LOCALNRANKS",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_STEP_NUM_NODES",
                                        "SLURM_HET_SIZE",
                                        "SLURM_LOCALID",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS",
                                        "OMPI_MCA_orte_bound_at_launch",
                                        "OMPI_MCA_btl",
                                        "OMPI_MCA_btl_vader_backing_directory",
                                        "OMPI_MCA_btl_sm_backing_directory",
                                        "OMPI_MCA_mpi_yield_when_idle"};

  void SetUp() override {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      saved_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
  }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }
  static std::string prepared(const char* name) {
    mpi::prepare_launch_environment();
    const char* value = std::getenv(name);
    return value == nullptr ? "unset" : value;
  }
  /// Returns the transports that are set, and unsets them.
  static std::string transports() {
    std::string value = prepared("OMPI_MCA_btl");
    unsetenv("OMPI_MCA_btl");
    return value;
  }
  static std::string yield_when_idle() { return prepared("OMPI_MCA_mpi_yield_when_idle"); }

 private:
  std::map<std::string, std::optional<std::string>> saved_;
};

TEST_F(Launcher, IsAbsentFromAShell) {
  EXPECT_FALSE(mpi::launched());
  EXPECT_EQ(mpi::launched_ranks(), std::nullopt);
  EXPECT_EQ(mpi::launched_rank(), std::nullopt);
  EXPECT_EQ(mpi::launched_local_rank(), std::nullopt);
}

TEST_F(Launcher, OnOneHostLeavesOutTransportsThatOpenPorts) {
  EXPECT_EQ(transports(), "unset") << "no launcher";
  set("OMPI_COMM_WORLD_SIZE", "2");
  EXPECT_EQ(transports(), "unset") << "it is not known how many are here";
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
  EXPECT_EQ(transports(), "unset") << "two hosts";
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
  EXPECT_EQ(transports(), "^tcp,ofi");
  set("OMPI_MCA_btl", "self,tcp");
  EXPECT_EQ(prepared("OMPI_MCA_btl"), "self,tcp") << "the user's";
}

TEST_F(Launcher, OnOneNodeOfSlurmLeavesThemOutToo) {
  set("SLURM_STEP_NUM_TASKS", "2");
  set("SLURM_STEP_NUM_NODES", "2");
  EXPECT_EQ(transports(), "unset");
  set("SLURM_STEP_NUM_NODES", "1");
  EXPECT_EQ(transports(), "^tcp,ofi");
  set("SLURM_HET_SIZE", "2");
  EXPECT_EQ(transports(), "unset") << "the job's other part has nodes of its own";
}

TEST_F(Launcher, KeepsAllTransportsWhereSharedMemoryHasNoRoomOrTheUserHasChosen) {
  set("OMPI_COMM_WORLD_SIZE", "1000000");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "1000000");
  EXPECT_EQ(transports(), "unset") << "5 TB of shared memory";
  set("OMPI_COMM_WORLD_SIZE", "2");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
  const TemporaryFolder home;
  const auto settings = [&](const std::string& text) {
    std::filesystem::create_directories(home / ".openmpi");
    home.put(".openmpi/mca-params.conf", text);
    const Variable changed("HOME", home.path().string());
    return transports();
  };
  EXPECT_EQ(settings("# btl = tcp\nbtl_base_verbose=1\n"), "^tcp,ofi");
  EXPECT_EQ(settings("\n  btl = tcp,self\n"), "unset");
  EXPECT_EQ(settings("btl=tcp,self"), "unset");
  set("OMPI_MCA_btl_vader_backing_directory", "/scratch");
  EXPECT_EQ(transports(), "unset");
}

TEST_F(Launcher, IsAbsentFromABatchScript) {
  set("SLURM_PROCID", "0");
  set("SLURM_LOCALID", "0");
  set("SLURM_NTASKS", "8");
  EXPECT_FALSE(mpi::launched());
}

TEST_F(Launcher, IsMpirunEvenForOneRank) {
  set("OMPI_COMM_WORLD_SIZE", "1");
  EXPECT_TRUE(mpi::launched());
  EXPECT_EQ(mpi::launched_ranks(), 1u);
}

TEST_F(Launcher, IsSrun) {
  set("SLURM_STEP_NUM_TASKS", "4");
  set("SLURM_LOCALID", "2");
  EXPECT_TRUE(mpi::launched());
  EXPECT_EQ(mpi::launched_ranks(), 4u);
  EXPECT_EQ(mpi::launched_local_rank(), 2u);
}

TEST_F(Launcher, IsSrunWithoutPmixWhereNothingElseConnectsTheTasks) {
  EXPECT_FALSE(mpi::launched_without_pmix());
  set("SLURM_STEP_NUM_TASKS", "1");
  EXPECT_FALSE(mpi::launched_without_pmix()) << "alone";
  set("SLURM_STEP_NUM_TASKS", "4");
  set("SLURM_PROCID", "3");
  EXPECT_EQ(mpi::launched_task(), 3u);
  EXPECT_TRUE(mpi::launched_without_pmix());
  set("PMI_RANK", "3");
  EXPECT_TRUE(mpi::launched_without_pmix()) << "PMI-2 does not connect them";
  for (const char* name :
       {"PMIX_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_pmix"}) {
    set(name, "1");
    EXPECT_FALSE(mpi::launched_without_pmix()) << name;
    unsetenv(name);
  }
}

TEST_F(Launcher, PrefersOpenMpisVariablesToSlurms) {
  set("SLURM_LOCALID", "0");  // that of the daemon that mpirun started
  set("OMPI_COMM_WORLD_LOCAL_RANK", "3");
  EXPECT_EQ(mpi::launched_local_rank(), 3u);
}

TEST_F(Launcher, IsMpichsMpiexec) {
  set("PMI_RANK", "3");
  set("PMI_SIZE", "4");
  set("MPI_LOCALRANKID", "1");
  set("MPI_LOCALNRANKS", "2");
  set("SLURM_LOCALID", "0");  // that of the proxy that mpiexec started
  EXPECT_TRUE(mpi::launched());
  EXPECT_EQ(mpi::launched_ranks(), 4u);
  EXPECT_EQ(mpi::launched_rank(), 3u);
  EXPECT_EQ(mpi::launched_local_rank(), 1u);
  EXPECT_EQ(mpi::launched_local_size(), 2u);
}

TEST_F(Launcher, OnMpichReceivesTheFailure) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  set("PMI_FD", std::to_string(ends[0]).c_str());
  mpi::report_failure_to_launcher(3);  // the process is no rank
  set("PMI_RANK", "1");
  mpi::report_failure_to_launcher(3);
  std::array<char, 64> text{};
  const ssize_t size = recv(ends[1], text.data(), text.size(), MSG_DONTWAIT);
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(size)), "cmd=abort exitcode=3\n");
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Launcher, WritesToNoOtherKindOfFile) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  set("PMI_FD", std::to_string(ends[1]).c_str());
  set("PMI_RANK", "1");
  mpi::report_failure_to_launcher(3);
  close(ends[1]);
  char letter = 0;
  EXPECT_EQ(read(ends[0], &letter, 1), 0) << "nothing was written";
  close(ends[0]);
}

TEST(UnreadOutput, LiesInPipesAndSocketsUntilItIsRead) {
  int ends[2];
  for (const bool is_pipe : {true, false}) {
    ASSERT_EQ(is_pipe ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    EXPECT_FALSE(mpi::holds_unread_bytes(ends[1]));
    ASSERT_EQ(write(ends[1], "line\n", 5), 5);
    EXPECT_TRUE(mpi::holds_unread_bytes(ends[1]));
    std::array<char, 5> text{};
    ASSERT_EQ(read(ends[0], text.data(), 3), 3);
    EXPECT_TRUE(mpi::holds_unread_bytes(ends[1])) << "two bytes";
    ASSERT_EQ(read(ends[0], text.data(), 2), 2);
    EXPECT_FALSE(mpi::holds_unread_bytes(ends[1]));
    close(ends[0]);
    close(ends[1]);
  }
  EXPECT_FALSE(mpi::holds_unread_bytes(-1));
}

/// A reader that begins late gets all, and one that never reads does not keep the process.
TEST(UnreadOutput, IsWaitedForNoLongerThanTheLimit) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int errors = dup(STDERR_FILENO);
  ASSERT_GE(errors, 0);
  ASSERT_EQ(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
  const bool written = write(STDERR_FILENO, "line\n", 5) == 5;
  mpi::let_launcher_read(std::chrono::milliseconds(1));
  const bool kept = mpi::holds_unread_bytes(STDERR_FILENO);
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::array<char, 5> text{};
    EXPECT_EQ(read(ends[0], text.data(), text.size()), 5);
  });
  mpi::let_launcher_read(std::chrono::minutes(5));
  const bool empty = !mpi::holds_unread_bytes(STDERR_FILENO);
  reader.join();
  dup2(errors, STDERR_FILENO);
  for (const int descriptor : {ends[0], ends[1], errors}) close(descriptor);
  EXPECT_TRUE(written && kept);
  EXPECT_TRUE(empty);
}

TEST_F(Launcher, IsIgnoredWithoutANumber) {
  set("OMPI_COMM_WORLD_LOCAL_RANK", "3x");
  EXPECT_EQ(mpi::launched_local_rank(), std::nullopt);
  set("SLURM_LOCALID", "1");
  EXPECT_EQ(mpi::launched_local_rank(), 1u);
}

TEST_F(Launcher, RanksThatOutnumberTheirCoresGiveWay) {
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "1000000");
  EXPECT_EQ(yield_when_idle(), "1");
}

TEST_F(Launcher, RanksWithACoreEachDoNotGiveWay) {
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
  EXPECT_EQ(yield_when_idle(), "unset");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "1000000");
  set("OMPI_MCA_orte_bound_at_launch", "1");
  EXPECT_EQ(yield_when_idle(), "unset");
}

TEST_F(Launcher, TheUsersSettingForYieldingIsKept) {
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "1000000");
  set("OMPI_MCA_mpi_yield_when_idle", "0");
  EXPECT_EQ(yield_when_idle(), "0");
}

}  // namespace
}  // namespace hios::test

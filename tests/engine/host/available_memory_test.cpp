// Accounts of memory, read from files made for the test, and this machine's own.
#include "engine/host/available_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

class FakeAccounts : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    root_.put(name, text);
  }
  AvailableMemory read() const { return read_available_memory(root_.path()); }

  /// Returns the bytes left of an account; 0: there is none of this name.
  static Bytes left(const std::vector<MemoryAccount>& accounts, const std::string& name) {
    const auto found = std::ranges::find(accounts, name, &MemoryAccount::name);
    return found == accounts.end() ? 0 : found->left;
  }
  Bytes left_in_group(const std::string& name) const {
    return left(read().shared, "limit of the control group " + name);
  }

  test::TemporaryFolder root_;
};

TEST_F(FakeAccounts, AnEmptyRootHasNone) {
  EXPECT_TRUE(read().shared.empty());
  EXPECT_TRUE(read().own.empty());
}

TEST_F(FakeAccounts, TheMachineHasMemoryAndSwap) {
  put("proc/meminfo",
      "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable:   5000 kB\nSwapFree: 0 kB\n");
  EXPECT_EQ(left(read().shared, "memory of the machine"), 5000u * 1024);
  EXPECT_EQ(read().shared.at(0).id, 0u);
  put("proc/sys/kernel/random/boot_id", "0000001f-2b3c-4d5e-8f90-a1b2c3d4e5f6\n");
  EXPECT_EQ(read().shared.at(0).id, 0x1fu) << "machines may have one name";
  put("proc/meminfo", "MemAvailable:   5000 kB\nSwapFree: 300 kB\n");
  EXPECT_EQ(left(read().shared, "memory and swap of the machine"), 5300u * 1024);
}

TEST_F(FakeAccounts, EveryGroupOnTheWayUpHasItsOwn) {
  put("proc/self/cgroup", "0::/job/step\n");
  put("sys/fs/cgroup/job/step/memory.max", "max\n");
  put("sys/fs/cgroup/job/step/memory.current", "700\n");
  EXPECT_TRUE(read().shared.empty()) << "no limit";
  put("sys/fs/cgroup/job/memory.max", "1000\n");
  put("sys/fs/cgroup/job/memory.current", "900\n");
  EXPECT_EQ(left_in_group("/job"), 100u);
  put("sys/fs/cgroup/memory.max", "5000\n");
  put("sys/fs/cgroup/memory.current", "6000\n");
  EXPECT_EQ(read().shared.size(), 2u);
  EXPECT_EQ(left_in_group("/job"), 100u);
  EXPECT_EQ(left(read().shared, "limit of the control group /"), 0u) << "more used than allowed";
}

TEST_F(FakeAccounts, MemoryOfFilesIsLeft) {
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "1000\n");
  put("sys/fs/cgroup/memory.current", "900\n");
  put("sys/fs/cgroup/memory.stat", "anon 100\nactive_file 200\ninactive_file 300\n");
  EXPECT_EQ(left_in_group("/"), 600u);
}

TEST_F(FakeAccounts, AGroupMaySwapUpToItsLimit) {
  put("proc/self/cgroup", "0::/\n");
  put("proc/meminfo", "MemAvailable: 1000 kB\nSwapFree: 4 kB\n");
  put("sys/fs/cgroup/memory.max", "1000\n");
  put("sys/fs/cgroup/memory.current", "900\n");
  EXPECT_EQ(left_in_group("/"), 100u + 4096);
  put("sys/fs/cgroup/memory.swap.max", "50\n");
  put("sys/fs/cgroup/memory.swap.current", "20\n");
  EXPECT_EQ(left_in_group("/"), 130u);
  put("sys/fs/cgroup/memory.swap.max", "0\n");
  EXPECT_EQ(left_in_group("/"), 100u);
}

TEST_F(FakeAccounts, TheFirstVersionOfControlGroupsHasThemToo) {
  put("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/other\n0::/unused\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "700\n");
  EXPECT_TRUE(read().shared.empty()) << "no limit";
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n");
  put("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 50\n");
  EXPECT_EQ(left_in_group("/job"), 350u);
  put("proc/meminfo", "SwapFree: 4 kB\n");
  EXPECT_EQ(left_in_group("/job"), 350u + 4096);
  put("sys/fs/cgroup/memory/job/memory.memsw.limit_in_bytes", "1200\n");
  put("sys/fs/cgroup/memory/job/memory.memsw.usage_in_bytes", "800\n");
  EXPECT_EQ(left_in_group("/job"), 450u) << "memory and swap together";
}

TEST_F(FakeAccounts, FoldersDistinguishGroupsOfOneName) {
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "1000\n");
  put("sys/fs/cgroup/memory.current", "900\n");
  const auto here = read().shared;
  const test::TemporaryFolder other;
  std::filesystem::copy(root_.path(), other.path(), std::filesystem::copy_options::recursive);
  const auto there = read_available_memory(other.path()).shared;
  ASSERT_EQ(here.size(), 1u);
  ASSERT_EQ(there.size(), 1u);
  EXPECT_NE(here[0].id, there[0].id);
  EXPECT_EQ(here[0].id, read().shared[0].id);
}

TEST_F(FakeAccounts, TheProcessHasItsLimits) {
  put("proc/self/status", "Name:\tx\nVmSize:\t    3 kB\nVmData:\t    2 kB\n");
  put("proc/self/limits",
      "Limit                     Soft Limit           Hard Limit           Units\n"
      "Max data size             unlimited            unlimited            bytes\n"
      "Max address space         unlimited            unlimited            bytes\n");
  EXPECT_TRUE(read().own.empty());
  put("proc/self/limits",
      "Max data size             10000                unlimited            bytes\n"
      "Max address space         2000                 9000                 bytes\n");
  EXPECT_EQ(left(read().own, "limit of the process's data, ulimit -d"), 10000u - 2048);
  EXPECT_EQ(read().own.size(), 2u);
  EXPECT_EQ(left(read().own, "limit of the process's address space, ulimit -v"), 0u);
}

TEST(AvailableMemory, IsReadOnThisMachine) {
  const auto here = available_memory();
  ASSERT_TRUE(here.has_value());
  EXPECT_GT(*here, Bytes{1} << 20);
  EXPECT_LT(*here, Bytes{1} << 50);
}

}  // namespace
}  // namespace hios

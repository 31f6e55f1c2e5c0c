// Facts of a host, read from files made for the test.
#include "engine/host/surroundings.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include "engine/host/cores.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

class FakeRoot : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    root_.put(name, text);
  }
  HostFacts facts(std::vector<int> cores = {0, 1}) const {
    return read_host_facts(std::move(cores), root_.path());
  }
  test::TemporaryFolder root_;
};

TEST_F(FakeRoot, AnEmptyRootHasNoFacts) {
  const HostFacts nothing = facts();
  EXPECT_EQ(nothing.kernel, "");
  EXPECT_EQ(nothing.processor, "unknown");
  EXPECT_EQ(nothing.governor, "");
  EXPECT_FALSE(nothing.quota_cores);
  EXPECT_FALSE(nothing.ptrace_scope);
  EXPECT_EQ(nothing.cores, (std::vector<int>{0, 1}));
}

TEST_F(FakeRoot, TellsKernelProcessorAndYama) {
  put("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  put("proc/cpuinfo", "processor : 0\nmodel name\t: AMD EPYC 9R14\n");
  put("proc/sys/kernel/yama/ptrace_scope", "1\n");
  EXPECT_EQ(facts().kernel, "6.1.0-18-amd64");
  EXPECT_EQ(facts().processor, "AMD EPYC 9R14");
  EXPECT_EQ(facts().ptrace_scope, 1);
}

TEST_F(FakeRoot, TheLeastQuotaOfAllGroupsAboveCounts) {
  put("proc/self/cgroup", "0::/job/step\n");
  put("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  EXPECT_FALSE(facts().quota_cores);
  put("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(facts().quota_cores, 1.5);
  put("sys/fs/cgroup/job/step/cpu.max", "50000 100000\n");
  EXPECT_EQ(facts().quota_cores, 0.5);
}

TEST_F(FakeRoot, AContainerSeesItsGroupAsTheRoot) {
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(facts().quota_cores, 2);
}

TEST_F(FakeRoot, TheFirstVersionOfControlGroupsHasQuotasToo) {
  put("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n0::/unused\n");
  put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(facts().quota_cores);
  put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(facts().quota_cores, 3);
}

TEST_F(FakeRoot, OneSlowCoreOfThoseAllowedIsEnough) {
  const auto governor = [&](int core, const std::string& name) {
    put("sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/scaling_governor",
        name + "\n");
  };
  governor(0, "performance");
  governor(1, "performance");
  governor(2, "powersave");
  EXPECT_EQ(facts().governor, "performance");
  EXPECT_EQ(facts({1, 2}).governor, "powersave");
}

TEST(HostFacts, AreReadOnThisMachine) {
  const HostFacts here = read_host_facts(allowed_cores());
  EXPECT_NE(here.kernel, "");
  EXPECT_FALSE(here.cores.empty());
}

TEST_F(FakeRoot, TellsTheCoresOfANumaNode) {
  put("sys/devices/system/node/node0/cpulist", "0-2,8\n");
  put("sys/devices/system/node/node1/cpulist", "3\n");
  put("sys/devices/system/node/node2/cpulist", "\n");
  EXPECT_EQ(cores_of_numa_node(0, root_.path()), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_EQ(cores_of_numa_node(1, root_.path()), std::vector<int>{3});
  EXPECT_EQ(cores_of_numa_node(2, root_.path()), std::vector<int>()) << "memory alone";
  EXPECT_EQ(cores_of_numa_node(3, root_.path()), std::vector<int>());
}

}  // namespace
}  // namespace hios

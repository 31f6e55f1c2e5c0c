#include "engine/job/ranks/ranks.h"

#include <gtest/gtest.h>

#include <sched.h>

#include <array>
#include <filesystem>

#include "engine/host/cores.h"
#include "hios/platform/platform.h"
#include "support/expect_error.h"
#include "support/message.h"
#include "support/programs/temporary_folder.h"
#include "support/transports/fake_job.h"

namespace hios::job {
namespace {

using test::expect_message;
using test::message_of;
using Names = std::vector<std::string>;

TEST(DeviceIndices, EachRankOfAHostTakesTheNextDevice) {
  std::vector<DeviceWish> ranks;
  for (const char* const host : {"n1", "n1", "n2", "n2", "n1"}) {
    ranks.push_back({host, true, {"GPU-0", "GPU-1", "GPU-2"}});
  }
  EXPECT_EQ(device_indices(ranks, 0), (std::vector<int>{0, 1, 0, 1, 2}));
  EXPECT_EQ(device_indices(ranks, 2), (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(device_indices(ranks, 1), (std::vector<int>(5, 0)));
}

TEST(DeviceIndices, RanksOnCoresTakeNone) {
  EXPECT_EQ(device_indices({{"n1", false}, {"n1", true}, {"n1", true}}, 0),
            (std::vector<int>{0, 0, 1}));
}

/// Under Slurm's --gpus-per-task, each rank sees one GPU, which is the first to it.
TEST(DeviceIndices, ARankThatSeesOnlyItsOwnDevicesTakesTheFirst) {
  std::vector<DeviceWish> ranks = {{"n1", true, {"GPU-a"}},
                                   {"n1", true, {"GPU-b"}},
                                   {"n1", false, {"GPU-a"}},
                                   {"n2", true, {"GPU-c"}}};
  EXPECT_EQ(device_indices(ranks, 0), (std::vector<int>{0, 0, 0, 0}));
  EXPECT_TRUE(sees_only_its_own(ranks, 0));
  EXPECT_FALSE(sees_only_its_own(ranks, 2)) << "on cores";
  EXPECT_FALSE(sees_only_its_own(ranks, 3)) << "alone on its host";
  ranks[1].visible = {"GPU-a"};
  EXPECT_EQ(device_indices(ranks, 0), (std::vector<int>{0, 1, 0, 0})) << "one GPU for both";
  EXPECT_FALSE(sees_only_its_own(ranks, 0));
  ranks[1].visible = {};
  EXPECT_EQ(device_indices(ranks, 0), (std::vector<int>{0, 1, 0, 0})) << "nobody knows";
}

TEST(RequirePrecision, NamesTheBackendsArithmeticAndWhoHasTheOther) {
  for (const Precision precision : kPrecisions)
    require_precision(find_backend("reference"), precision);
  constexpr std::array kTwo = {Precision::kFp32, Precision::kTf32};
  BackendEntry narrow{};
  narrow.name = "narrow";
  narrow.precisions = kTwo;
  require_precision(narrow, Precision::kTf32);
  BackendEntry wide = test::fake_backends()[0];
  wide.name = "wide";
  const std::array table = {narrow, wide};
  test::expect_need([&] { require_precision(narrow, Precision::kFp16, table); },
                    need::ChosenPrecision{{"fp32", "tf32"}, {"wide"}});
  expect_message(message_of([&] { require_precision(narrow, Precision::kFp16); }),
                 "the narrow backend computes in fp32, tf32, not in fp16");
}

TEST(BackendsOfRanks, AreOneForAllOrOneARank) {
  RankOptions options;
  options.table = test::fake_backends();
  const auto names = [&](const Names& asked, std::size_t ranks) {
    options.backends = asked;
    Names found;
    for (const BackendEntry* entry : backends_of_ranks(options, ranks))
      found.emplace_back(entry->name);
    return found;
  };
  EXPECT_EQ(names({"auto"}, 2), (Names{"fake", "fake"}));
  EXPECT_EQ(names({"fake-device", "fake"}, 2), (Names{"fake-device", "fake"}));
  expect_message(message_of([&] { names({"fake", "fake"}, 3); }), "2 backends");
  expect_message(message_of([&] { names({"none"}, 3); }), "known are auto, fake, fake-device");
}

std::vector<RankDevice> fakes(std::size_t ranks, int cores) {
  return std::vector<RankDevice>(ranks, {&test::fake_backends()[0], cores, Precision::kFp16});
}

TEST(MakeRankBackend, RanksOfAHostTakeCoresOfTheirOwn) {
  const std::vector<int> allowed = allowed_cores();
  if (allowed.size() < 2) GTEST_SKIP() << "one core";
  test::run_ranks(2, [&](mpi::Transport& transport) {
    const RankBackend mine = make_rank_backend(transport, {}, fakes(2, 1));
    EXPECT_EQ(mine.cores, std::vector<int>{allowed[transport.rank().index()]});
    EXPECT_EQ(mine.backend->threads(), 1);
    EXPECT_EQ(mine.backend->precision(), Precision::kFp16);
  });
}

std::vector<int> cores_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

/// A machine whose first core is a NUMA node of its own, with the second GPU; the first GPU lies
/// with all other cores.
class NumaMachine : public testing::Test {
 protected:
  NumaMachine() {
    const std::vector<int> allowed = allowed_cores();
    others_.assign(allowed.begin() + 1, allowed.end());
    std::string list;
    for (const int core : others_) list += (list.empty() ? "" : ",") + std::to_string(core);
    put("sys/devices/system/node/node0/cpulist", std::to_string(allowed.front()));
    put("sys/devices/system/node/node1/cpulist", list);
    put("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1");
    put("sys/bus/pci/devices/0000:86:00.0/numa_node", "0");
    gpu_.kind = kGpuKind;
    gpu_.visible_devices = [] { return Names{"GPU-a", "GPU-b"}; };
    gpu_.device_addresses = [] { return Names{"00000000:3B:00.0", "00000000:86:00.0"}; };
    options_.root = root_.path();
  }
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_.path() / name).parent_path());
    root_.put(name, text + "\n");
  }

  const test::TemporaryFolder root_;
  std::vector<int> others_;
  BackendEntry gpu_ = test::fake_backends()[0];
  RankOptions options_;
};

TEST_F(NumaMachine, RanksAreNearTheirGpus) {
  if (others_.empty()) GTEST_SKIP() << "one core";
  test::run_ranks(2, [&](mpi::Transport& transport) {
    const bool first = transport.rank() == Rank(0);
    const RankBackend mine = make_rank_backend(
        transport, options_, std::vector<RankDevice>(2, {&gpu_, 1, Precision::kFp32}));
    const std::vector<int> node = first ? others_ : std::vector<int>{allowed_cores().front()};
    EXPECT_EQ(mine.cores, std::vector<int>{node.front()});
    EXPECT_EQ(cores_of_this_thread(), node);
  });
}

TEST(MakeRankBackend, TooFewCoresAreRefusedByAllOrShared) {
  const int many = static_cast<int>(allowed_cores().size());
  const auto texts = test::messages_of_ranks(
      {.backends = {"fake", "fake"}},
      [&](mpi::Transport& transport) { make_rank_backend(transport, {}, fakes(2, many)); });
  for (const std::string& text : texts) {
    expect_message(text, "want " + std::to_string(2 * many) + " cores");
    EXPECT_EQ(text, texts.front());
  }
  test::run_ranks(2, [&](mpi::Transport& transport) {
    RankOptions options;
    options.share_cores = true;
    EXPECT_TRUE(make_rank_backend(transport, options, fakes(2, many)).cores.empty());
  });
}

}  // namespace
}  // namespace hios::job

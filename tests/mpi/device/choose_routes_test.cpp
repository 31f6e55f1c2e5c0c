#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>

#include "support/device_ranks.h"
#include "support/complaint.h"
#include "support/expect_error.h"

namespace hios::test {
namespace {

using mpi::Route;
using mpi::RouteHints;
using mpi::RouteTable;
using mpi::Transport;

/// A job as choose_routes finds it: what each rank is, and what its MPI does with device memory.
struct World {
  std::size_t ranks = 2;
  DeviceShy::Device mpi = DeviceShy::Device::kRefused;
  std::function<bool(Rank)> has_device = [](Rank) { return true; };
  std::function<std::string(Rank)> host = [](Rank) { return "node1"; };
  std::function<void(Rank, FakeOptions&)> with = [](Rank, FakeOptions&) {};
  std::function<RouteHints(Rank)> hints = [](Rank) { return RouteHints{}; };
};

/// Calls choose_routes on every rank of the world.
void on_ranks(const World& world,
              const std::function<void(const std::function<RouteTable()>&)>& body) {
  const auto machine = make_fake_machine();
  run_ranks(world.ranks, [&](Transport& plain) {
    const Rank rank = plain.rank();
    DeviceShy transport(plain, world.mpi, world.host(rank));
    FakeOptions options;
    options.seed = rank.index();
    options.identity = "FAKE-" + std::to_string(rank.index());
    world.with(rank, options);
    std::optional<FakeAccelerator> device;
    if (world.has_device(rank)) device.emplace(machine, options);
    body([&] {
      return mpi::choose_routes(transport, device ? &*device : nullptr, world.hints(rank));
    });
  });
}

/// What all ranks choose, which is the same.
RouteTable chosen(const World& world) {
  RouteTable first;
  std::atomic<bool> same = true;
  std::mutex mutex;
  on_ranks(world, [&](const auto& choose) {
    const RouteTable paths = choose();
    const std::lock_guard lock(mutex);
    if (first.ranks == 0) first = paths;
    same = same && paths.by_pair == first.by_pair && paths.why_not == first.why_not;
  });
  EXPECT_TRUE(same);
  return first;
}

void expect_refusal(const World& world, std::initializer_list<std::string_view> words) {
  std::atomic<std::size_t> refusals = 0;
  on_ranks(world, [&](const auto& choose) {
    expect_error<InputError>(choose, words);
    ++refusals;
  });
  EXPECT_EQ(refusals, world.ranks);
}

RouteHints aware(Rank) { return {true, std::nullopt}; }

TEST(RouteTable, HaveNames) {
  EXPECT_EQ(mpi::parse_route("auto"), std::nullopt);
  for (const Route path : {Route::kIpc, Route::kCudaAware, Route::kStaged}) {
    EXPECT_EQ(mpi::parse_route(mpi::name(path)), path);
  }
  for (const char* const wrong : {"host", "", "IPC"}) {
    expect_complaint(complaint_of([&] { mpi::parse_route(wrong); }),
                     "there are auto, ipc, cuda-aware and staged");
  }
}

TEST(RouteTable, AreShownAsATable) {
  const RouteTable paths{2,
                         {Route::kHost, Route::kCudaAware, Route::kStaged, Route::kHost},
                         {"", "no ipc: on different hosts", "", ""}};
  EXPECT_EQ(paths.table(),
            "from \\ to  0             1\n"
            "0          -             cuda-aware\n"
            "1          staged        -\n"
            "0-1: no ipc: on different hosts\n");
}

TEST(ChoosePaths, TakesIpcWithinAHost) {
  World world;
  world.ranks = 3;
  const RouteTable paths = chosen(world);
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t to = 0; to < 3; ++to) {
      EXPECT_EQ(paths.at(Rank(from), Rank(to)), from == to ? Route::kHost : Route::kIpc);
      EXPECT_EQ(paths.why_not[from * 3 + to], "");
    }
  }
}

TEST(ChoosePaths, TwoRanksMayShareADevice) {
  World world;
  world.with = [](Rank, FakeOptions& options) { options.identity = "FAKE-0"; };
  EXPECT_EQ(chosen(world).at(Rank(0), Rank(1)), Route::kIpc);
}

TEST(ChoosePaths, HasNothingToChooseForOneRankOrHosts) {
  World world;
  world.ranks = 1;
  EXPECT_EQ(chosen(world).by_pair, std::vector<Route>{Route::kHost});
  world.ranks = 2;
  world.has_device = [](Rank) { return false; };
  EXPECT_EQ(chosen(world).by_pair, std::vector<Route>(4, Route::kHost));
}

TEST(ChoosePaths, StagesBetweenADeviceAndAHost) {
  World world;
  world.ranks = 3;
  world.has_device = [](Rank rank) { return rank != Rank(1); };
  world.hints = [](Rank) { return RouteHints{false, Route::kIpc}; };  // for pairs of devices
  const RouteTable paths = chosen(world);
  EXPECT_EQ(paths.at(Rank(0), Rank(1)), Route::kStaged);
  EXPECT_EQ(paths.at(Rank(1), Rank(2)), Route::kStaged);
  EXPECT_EQ(paths.at(Rank(2), Rank(0)), Route::kIpc);
  EXPECT_EQ(paths.why_not[1], "one of the two has no device");
}

TEST(ChoosePaths, FallsBackPairByPair) {
  World world;
  world.ranks = 3;
  world.mpi = DeviceShy::Device::kTaken;
  world.hints = aware;
  world.with = [](Rank rank, FakeOptions& options) { options.imports = rank != Rank(2); };
  const RouteTable paths = chosen(world);
  EXPECT_EQ(paths.at(Rank(0), Rank(1)), Route::kIpc);
  EXPECT_EQ(paths.at(Rank(0), Rank(2)), Route::kCudaAware);
  EXPECT_EQ(paths.at(Rank(2), Rank(1)), Route::kCudaAware);
  EXPECT_EQ(paths.why_not[2], "no ipc: rank 2: FAKE-2 has no peer access to what was exported");
}

TEST(ChoosePaths, StagesBetweenHostsWithoutAnAwareMpi) {
  World world;
  world.host = [](Rank rank) { return "node" + std::to_string(rank.index()); };
  const RouteTable paths = chosen(world);
  EXPECT_EQ(paths.at(Rank(0), Rank(1)), Route::kStaged);
  EXPECT_EQ(paths.why_not[1],
            "no ipc: on different hosts; no cuda-aware: this MPI is not CUDA-aware");
}

TEST(ChoosePaths, DoesNotBelieveAnMpiThatManglesDeviceMemory) {
  World world;
  world.mpi = DeviceShy::Device::kMangled;
  world.hints = aware;
  world.host = [](Rank rank) { return "node" + std::to_string(rank.index()); };
  const RouteTable paths = chosen(world);
  EXPECT_EQ(paths.at(Rank(0), Rank(1)), Route::kStaged);
  EXPECT_NE(paths.why_not[1].find("no cuda-aware: "), std::string::npos) << paths.why_not[1];
  EXPECT_NE(paths.why_not[1].find("what came was not what was sent"), std::string::npos)
      << paths.why_not[1];
}

/// The library says yes and then refuses; and ranks of which only one says yes.
TEST(ChoosePaths, DoesNotBelieveAnMpiThatThrows) {
  World world;
  world.hints = aware;
  world.with = [](Rank, FakeOptions& options) { options.exports = false; };
  const RouteTable paths = chosen(world);
  EXPECT_EQ(paths.at(Rank(0), Rank(1)), Route::kStaged);
  EXPECT_NE(paths.why_not[1].find("deaf MPI"), std::string::npos) << paths.why_not[1];
  world.hints = [](Rank rank) { return RouteHints{rank == Rank(0), std::nullopt}; };
  EXPECT_NE(chosen(world).why_not[1].find("not CUDA-aware"), std::string::npos);
}

TEST(ChoosePaths, TakesWhatIsForced) {
  World world;
  world.mpi = DeviceShy::Device::kTaken;
  for (const Route path : {Route::kIpc, Route::kCudaAware, Route::kStaged}) {
    world.hints = [&](Rank) { return RouteHints{true, path}; };
    EXPECT_EQ(chosen(world).at(Rank(1), Rank(0)), path);
  }
}

TEST(ChoosePaths, RefusesAForcedPathThatFails) {
  World world;
  world.ranks = 3;
  world.with = [](Rank rank, FakeOptions& options) { options.imports = rank != Rank(2); };
  world.hints = [](Rank) { return RouteHints{true, Route::kIpc}; };
  expect_refusal(
      world, {"between rank 0 and rank 2", "no ipc: rank 2", "no peer access", "--transport auto"});
  world.hints = [](Rank) { return RouteHints{false, Route::kCudaAware}; };
  expect_refusal(world, {"rank 0 and rank 1", "this MPI is not CUDA-aware"});
  world.hints = [](Rank rank) {
    return RouteHints{false, rank == Rank(0) ? Route::kIpc : Route::kStaged};
  };
  expect_refusal(world, {"--transport differs", "rank 0 has ipc"});
}

/// A device whose copies are wrong can go no way at all, and nobody computes with what it sends.
TEST(ChoosePaths, RefusesADeviceThatCopiesWrongly) {
  World world;
  world.ranks = 3;
  world.with = [](Rank rank, FakeOptions& options) { options.copies_wrongly = rank == Rank(1); };
  expect_refusal(world, {"rank 0 and rank 1", "no ipc", "no staged", "not what was sent"});
}

/// A rank whose device fails leaves the others neither waiting nor believing.
TEST(ChoosePaths, RefusesADeviceThatFails) {
  World world;
  world.with = [](Rank rank, FakeOptions& options) {
    if (rank == Rank(1)) options.memory_bytes = 100;
  };
  expect_refusal(world, {"rank 1: out of memory on FAKE-1", "trying paths"});
}

}  // namespace
}  // namespace hios::test

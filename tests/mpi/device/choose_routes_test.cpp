#include "mpi/device/choose_routes.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "hios/flight/recorder.h"
#include "mpi/pair_rounds.h"
#include "mpi/session/heartbeat_transport.h"
#include "support/expect_error.h"
#include "support/transports/device_ranks.h"

namespace hios::test {
namespace {

using mpi::Route;
using mpi::RouteTable;
using mpi::Transport;

/// A job for choose_routes: the properties of each rank, and its MPI's treatment of device memory.
struct World {
  std::size_t ranks = 2;
  DeviceShy::Device mpi = DeviceShy::Device::kRefused;
  std::function<bool(Rank)> has_device = [](Rank) { return true; };
  std::function<std::string(Rank)> host = [](Rank) { return "node1"; };
  std::function<void(Rank, FakeOptions&)> with = [](Rank, FakeOptions&) {};
  /// Claims of each rank's MPI.
  std::function<bool(Rank)> claims = [](Rank) { return false; };
  std::function<const Route*(Rank)> forced = [](Rank) { return nullptr; };
  std::chrono::milliseconds patience = mpi::kRoutePatience;
  std::function<flight::Recorder*(Rank)> recorder = [](Rank) { return nullptr; };
};

/// Calls choose_routes on every rank of the world.
void on_ranks(const World& world,
              const std::function<void(const std::function<RouteTable()>&)>& body) {
  const auto machine = make_fake_machine();
  run_ranks(world.ranks, [&](Transport& plain) {
    const Rank rank = plain.rank();
    DeviceShy shy(plain, world.mpi, world.host(rank), world.claims(rank));
    mpi::HeartbeatTransport transport(shy, world.recorder(rank));
    FakeOptions options;
    options.seed = rank.index();
    options.identity = "FAKE-" + std::to_string(rank.index());
    world.with(rank, options);
    std::optional<FakeAccelerator> device;
    if (world.has_device(rank)) device.emplace(machine, options);
    body([&] {
      return mpi::choose_routes(transport, device ? &*device : nullptr, world.forced(rank),
                                world.patience);
    });
  });
}

/// Returns the choice of all ranks, which is the same.
RouteTable chosen(const World& world) {
  RouteTable first;
  std::atomic<bool> same = true;
  std::mutex mutex;
  on_ranks(world, [&](const auto& choose) {
    const RouteTable table = choose();
    const std::lock_guard lock(mutex);
    if (first.ranks == 0) first = table;
    same = same && table.by_pair == first.by_pair && table.why_not == first.why_not;
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

bool all_claim(Rank) { return true; }

/// Returns the name of the route between two ranks.
std::string_view between(const RouteTable& table, std::size_t from, std::size_t to) {
  return table.at(Rank(from), Rank(to)).name;
}

std::vector<std::string_view> names(const RouteTable& table) {
  std::vector<std::string_view> names;
  for (const Route* const route : table.by_pair) names.push_back(route->name);
  return names;
}

TEST(ChooseRoutes, TakesIpcWithinAHost) {
  World world;
  world.ranks = 3;
  const RouteTable table = chosen(world);
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t to = 0; to < 3; ++to) {
      EXPECT_EQ(between(table, from, to), from == to ? "host" : "ipc");
      EXPECT_EQ(table.why_not[from * 3 + to], "");
    }
  }
}

TEST(ChooseRoutes, TwoRanksMayShareADevice) {
  World world;
  world.with = [](Rank, FakeOptions& options) { options.identity = "FAKE-0"; };
  EXPECT_EQ(between(chosen(world), 0, 1), "ipc");
}

TEST(ChooseRoutes, HasNothingToChooseForOneRankOrHosts) {
  World world;
  world.ranks = 1;
  EXPECT_EQ(names(chosen(world)), std::vector<std::string_view>{"host"});
  world.ranks = 2;
  world.has_device = [](Rank) { return false; };
  EXPECT_EQ(names(chosen(world)), std::vector<std::string_view>(4, "host"));
  EXPECT_FALSE(chosen(world).devices);
}

TEST(ChooseRoutes, StagesBetweenADeviceAndAHost) {
  World world;
  world.ranks = 3;
  world.has_device = [](Rank rank) { return rank != Rank(1); };
  world.forced = [](Rank) { return mpi::parse_route("ipc"); };  // for pairs of devices
  const RouteTable table = chosen(world);
  EXPECT_EQ(between(table, 0, 1), "staged");
  EXPECT_EQ(between(table, 1, 2), "staged");
  EXPECT_EQ(between(table, 2, 0), "ipc");
  EXPECT_EQ(table.why_not[1], "one of the two has no device");
}

TEST(ChooseRoutes, FallsBackPairByPair) {
  World world;
  world.ranks = 3;
  world.mpi = DeviceShy::Device::kTaken;
  world.claims = all_claim;
  world.with = [](Rank rank, FakeOptions& options) { options.imports = rank != Rank(2); };
  const RouteTable table = chosen(world);
  EXPECT_EQ(between(table, 0, 1), "ipc");
  EXPECT_EQ(between(table, 0, 2), "cuda-aware");
  EXPECT_EQ(between(table, 2, 1), "cuda-aware");
  EXPECT_EQ(table.why_not[2], "no ipc: rank 2: FAKE-2 has no peer access to what was exported");
}

TEST(ChooseRoutes, StagesBetweenHostsWithoutAnAwareMpi) {
  World world;
  world.host = [](Rank rank) { return "node" + std::to_string(rank.index()); };
  const RouteTable table = chosen(world);
  EXPECT_EQ(between(table, 0, 1), "staged");
  EXPECT_EQ(table.why_not[1],
            "no ipc: on different hosts; no cuda-aware: this MPI is not CUDA-aware; no nccl: no "
            "library joins these devices");
}

/// Expects that an MPI which claims to take device memory is found out between two hosts.
void expect_found_out(DeviceShy::Device mpi) {
  World world;
  world.mpi = mpi;
  world.claims = all_claim;
  world.host = [](Rank rank) { return "node" + std::to_string(rank.index()); };
  const RouteTable table = chosen(world);
  EXPECT_EQ(between(table, 0, 1), "staged");
  EXPECT_NE(table.why_not[1].find("no cuda-aware: "), std::string::npos) << table.why_not[1];
  EXPECT_NE(table.why_not[1].find("the received bytes differ from the sent ones"),
            std::string::npos)
      << table.why_not[1];
}

TEST(ChooseRoutes, DoesNotBelieveAnMpiThatManglesDeviceMemory) {
  expect_found_out(DeviceShy::Device::kMangled);
}

/// Libraries send large messages by another protocol than small ones.
TEST(ChooseRoutes, DoesNotBelieveAnMpiThatManglesLargeMessages) {
  expect_found_out(DeviceShy::Device::kMangledWhereLarge);
}

/// A rank that crashes within a library has the route in its record.
TEST(ChooseRoutes, RecordsTheRouteThatIsTried) {
  World world;
  flight::Recorder recorder;
  recorder.set_enabled(true);
  recorder.phase("setting up");
  world.recorder = [&](Rank rank) { return rank == Rank(0) ? &recorder : nullptr; };
  world.with = [](Rank, FakeOptions& options) { options.exports = false; };
  EXPECT_EQ(between(chosen(world), 0, 1), "staged");
  std::vector<std::string> phases;
  for (const flight::Event& event : recorder.read().events) {
    if (event.kind == flight::EventKind::kPhase) phases.push_back(event.text);
  }
  const std::vector<std::string> expected = {"setting up", "trying the route ipc between ranks",
                                             "trying the route nccl between ranks",
                                             "trying the route staged between ranks", "setting up"};
  EXPECT_EQ(phases, expected);
}

/// The library claims support and then refuses; or only one rank's library claims it.
TEST(ChooseRoutes, DoesNotBelieveAnMpiThatThrows) {
  World world;
  world.claims = all_claim;
  world.with = [](Rank, FakeOptions& options) { options.exports = false; };
  const RouteTable table = chosen(world);
  EXPECT_EQ(between(table, 0, 1), "staged");
  EXPECT_NE(table.why_not[1].find("deaf MPI"), std::string::npos) << table.why_not[1];
  world.claims = [](Rank rank) { return rank == Rank(0); };
  EXPECT_NE(chosen(world).why_not[1].find("not CUDA-aware"), std::string::npos);
}

/// Pairs are tried at the same time; one whose memory cannot be mapped leaves the others alone.
TEST(ChooseRoutes, APairThatFailsDoesNotHarmTheOthersOfItsRound) {
  World world;
  world.ranks = 4;
  world.with = [](Rank rank, FakeOptions& options) { options.imports = rank != Rank(3); };
  const RouteTable table = chosen(world);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) {
      EXPECT_EQ(between(table, a, b), b == 3 ? "staged" : "ipc");
    }
  }
}

/// Returns the number of pairs, of those above the diagonal, whose reasons say so.
std::ptrdiff_t pairs_with(const RouteTable& table, std::string_view words) {
  std::ptrdiff_t count = 0;
  for (std::size_t from = 0; from < table.ranks; ++from) {
    for (std::size_t to = from + 1; to < table.ranks; ++to) {
      count += table.why_not[from * table.ranks + to].find(words) != std::string::npos;
    }
  }
  return count;
}

/// An MPI that loses device memory costs the patience once for each way in which two GPUs can lie,
/// not once for each pair.
TEST(ChooseRoutes, TriesARouteWithoutAnAnswerOnlyOnceBetweenGpusThatLieAlike) {
  World world;
  world.mpi = DeviceShy::Device::kLost;
  world.claims = all_claim;
  world.with = [](Rank, FakeOptions& options) { options.exports = false; };
  // The patience, within which a route that works must end next to other tests.
  std::string no_answer;
  const auto chosen_in_time = [&] {
    for (const int patience_s : {4, 16, 60}) {
      world.patience = std::chrono::seconds(patience_s);
      no_answer = "not all messages arrived within " + std::to_string(patience_s) + " s";
      try {
        return chosen(world);
      } catch (const InputError&) {  // a machine that was too busy
        if (patience_s == 60) throw;
      }
    }
    return chosen(world);
  };
  world.ranks = 8;
  const RouteTable near = chosen_in_time();
  EXPECT_EQ(near.used().size(), 1u);
  EXPECT_EQ(between(near, 6, 7), "staged");
  const std::string not_tried = "not tried, since between ";
  EXPECT_EQ(pairs_with(near, no_answer), 28);  // four of a round, and those that were not tried
  EXPECT_EQ(pairs_with(near, not_tried + "rank 0 and rank 1, which lie alike, it failed: "), 24);

  world.ranks = 4;
  world.host = [](Rank rank) { return "node" + std::to_string(rank.index() / 2); };
  const RouteTable far = chosen_in_time();
  EXPECT_EQ(pairs_with(far, no_answer), 6);  // a round near, one far, and two that were not tried
  EXPECT_EQ(pairs_with(far, not_tried + "rank 0 and rank 2, which lie alike, it failed: "), 2);
}

/// A message that was given up may still arrive: into memory that nobody else has by then.
TEST(ChooseRoutes, KeepsTheMemoryOfMessagesThatMayStillArrive) {
  const auto machine = make_fake_machine();
  run_ranks(2, [&](Transport& plain) {
    DeviceShy lossy(plain, DeviceShy::Device::kLost);
    FakeOptions options;
    options.exports = false;
    FakeAccelerator device(machine, options);
    EXPECT_EQ(between(mpi::choose_routes(lossy, &device, nullptr, std::chrono::seconds(10)), 0, 1),
              "staged");
    EXPECT_GT(lossy.received_at().size(), 0u);
    for (const std::byte* const at : lossy.received_at()) EXPECT_TRUE(FakeAccelerator::owns(at));
  });
}

TEST(DisjointRounds, AreAsFewAsCanBeAndUseNoRankTwice) {
  for (const std::size_t ranks : {2u, 3u, 8u, 11u}) {
    std::vector<mpi::RankPair> pairs;
    for (std::size_t a = 0; a < ranks; ++a) {
      for (std::size_t b = a + 1; b < ranks; ++b) pairs.emplace_back(Rank(a), Rank(b));
    }
    std::size_t placed = 0;
    const auto rounds = mpi::disjoint_rounds(pairs);
    for (const auto& round : rounds) {
      std::set<Rank> used;
      for (const auto& [a, b] : round) EXPECT_TRUE(used.insert(a).second && used.insert(b).second);
      placed += round.size();
    }
    EXPECT_EQ(placed, pairs.size());
    EXPECT_LE(rounds.size(), std::bit_ceil(ranks) - 1);
  }
}

TEST(ChooseRoutes, TakesWhatIsForced) {
  World world;
  world.mpi = DeviceShy::Device::kTaken;
  world.claims = all_claim;
  for (const Route& route : mpi::routes()) {
    if (!route.serves.devices || route.join) continue;
    world.forced = [&](Rank) { return &route; };
    EXPECT_EQ(between(chosen(world), 1, 0), route.name);
  }
}

TEST(ChooseRoutes, RefusesAForcedRouteThatFails) {
  World world;
  world.ranks = 3;
  world.with = [](Rank rank, FakeOptions& options) { options.imports = rank != Rank(2); };
  world.claims = all_claim;
  world.forced = [](Rank) { return mpi::parse_route("ipc"); };
  expect_refusal(world, {"between rank 0 and rank 2", "no ipc: rank 2", "no peer access"});
  world.claims = [](Rank) { return false; };
  world.forced = [](Rank) { return mpi::parse_route("cuda-aware"); };
  expect_refusal(world, {"rank 0 and rank 1", "this MPI is not CUDA-aware"});
  world.forced = [](Rank rank) { return mpi::parse_route(rank == Rank(0) ? "ipc" : "staged"); };
  expect_refusal(world,
                 {"the transport asked for differs: rank 0 has ipc, ranks 1 and 2 have staged"});
}

/// A device whose copies are wrong has no route at all, and no rank computes with its data.
TEST(ChooseRoutes, RefusesADeviceThatCopiesWrongly) {
  World world;
  world.ranks = 3;
  world.with = [](Rank rank, FakeOptions& options) { options.copies_wrongly = rank == Rank(1); };
  expect_refusal(world, {"rank 0 and rank 1", "no ipc", "no staged", "differ from the sent ones"});
}

/// A rank whose device fails leaves the others neither waiting nor with a route.
TEST(ChooseRoutes, RefusesADeviceThatFails) {
  World world;
  world.with = [](Rank rank, FakeOptions& options) {
    if (rank == Rank(1)) options.memory_bytes = 100;
  };
  expect_refusal(world, {"rank 1: out of memory on FAKE-1", "trying routes"});
}

}  // namespace
}  // namespace hios::test

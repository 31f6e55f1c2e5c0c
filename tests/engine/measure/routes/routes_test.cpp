// Sets of routes carry bytes as they should, with ranks as threads. Rates themselves are not
// judged.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/measure/routes/disk_file.h"
#include "engine/measure/routes/route_rates.h"
#include "hios/base/error.h"
#include "support/fakes/fake_backend.h"
#include "support/message.h"
#include "support/programs/temporary_folder.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

/// A source that counts its moves.
class CountingSource final : public RouteSource {
 public:
  explicit CountingSource(std::vector<Bytes>& moves) : moves_(moves) {}
  void move(Bytes size_bytes) override { moves_.push_back(size_bytes); }

 private:
  std::vector<Bytes>& moves_;
};

class FailingSource final : public RouteSource {
 public:
  void move(Bytes) override { throw RunError("the disk is gone"); }
};

/// Three routes, two of which end at rank 0. Returns the moves of each.
std::vector<std::vector<Bytes>> moves_of_three(bool one_thread) {
  std::vector<std::vector<Bytes>> moves(3);
  std::vector<RouteFigures> figures(2);
  test::run_ranks(2, [&](mpi::Transport& transport) {
    const std::size_t rank = transport.rank().index();
    RouteSources mine;
    mine.emplace(rank == 0 ? 0 : 1, std::make_unique<CountingSource>(moves[rank == 0 ? 0 : 1]));
    if (rank == 0) mine.emplace(2, std::make_unique<CountingSource>(moves[2]));
    std::size_t last = 0;
    figures[rank] = route_figures(transport, mine, 3,
                                  {.window_ms = 0,
                                   .rounds = 3,
                                   .one_thread = one_thread,
                                   .progress = [&](auto done, auto all) {
                                     EXPECT_EQ(done, last++);
                                     EXPECT_EQ(all, 21u)
                                         << "three alone, three pairs, all at once, three times";
                                   }});
    EXPECT_EQ(last, 21u);
  });
  for (const RouteFigures& each : figures) {
    EXPECT_EQ(each.rates.alone, figures[0].rates.alone);
    EXPECT_EQ(each.rates.pairs, figures[0].rates.pairs);
    EXPECT_EQ(each.rates.together, figures[0].rates.together);
    EXPECT_EQ(each.latency_ms, figures[0].latency_ms);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_GT(each.rates.alone[i], 0);
      EXPECT_GT(each.rates.together[i], 0);
      for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(each.rates.pairs[i][j] > 0, i != j);
    }
  }
  return moves;
}

TEST(RouteRates, EachRouteCarriesBytesAloneInPairsAndAllAtOnce) {
  for (const bool one_thread : {false, true}) {
    for (const std::vector<Bytes>& moves : moves_of_three(one_thread)) {
      EXPECT_EQ(std::ranges::count(moves, kLargestMove), 3 * (1 + 2 + 1));
      EXPECT_GT(std::ranges::count(moves, kSmallestMove), 1) << "for the latency";
    }
  }
}

/// Counts that grow by a thousand switches at each reading.
class BusyMachine final : public DisturbanceReader {
 public:
  DisturbanceCounts read() override {
    ++readings;
    return {0, 1000 * readings};
  }
  std::uint64_t readings = 0;
};

// Rank 0 has two routes, whose threads may take cores from each other. Of seven sets it has one
// route in four, as rank 1 has.
TEST(RouteRates, DisturbancesAreCountedWhereARankHasOneRoute) {
  std::vector<std::vector<Bytes>> moves(3);
  test::run_ranks(2, [&](mpi::Transport& transport) {
    const bool first = transport.rank() == Rank(0);
    RouteSources mine;
    mine.emplace(first ? 0 : 1, std::make_unique<CountingSource>(moves[first ? 0 : 1]));
    if (first) mine.emplace(2, std::make_unique<CountingSource>(moves[2]));
    BusyMachine busy;
    const RouteProtocol protocol{
        .window_ms = 0, .rounds = 1, .disturbance = first ? nullptr : &busy};
    EXPECT_TRUE(route_figures(transport, mine, 3, protocol).disturbed) << "on all ranks";
    EXPECT_EQ(busy.readings, first ? 0u : 8u);
    BusyMachine of_both;
    EXPECT_TRUE(
        route_figures(transport, mine, 3, {.window_ms = 0, .rounds = 1, .disturbance = &of_both})
            .disturbed);
    EXPECT_EQ(of_both.readings, 8u);
    EXPECT_FALSE(route_figures(transport, mine, 3, {.window_ms = 0, .rounds = 1}).disturbed);
  });
}

TEST(RouteRates, PairsOfTooManyRoutesAreNotMeasured) {
  std::vector<Bytes> moves;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    RouteSources mine;
    for (std::size_t i = 0; i < 3; ++i) mine.emplace(i, std::make_unique<CountingSource>(moves));
    const RouteProtocol protocol{
        .window_ms = 0, .rounds = 1, .one_thread = true, .most_in_pairs = 2};
    const RouteFigures figures = route_figures(transport, mine, 3, protocol);
    EXPECT_EQ(std::ranges::count(moves, kLargestMove), 3 + 3) << "alone and all at once";
    EXPECT_EQ(figures.rates.pairs[0][1], figures.rates.alone[0]);
    EXPECT_EQ(figures.rates.together.size(), 3u);
    EXPECT_DOUBLE_EQ(expected_seconds(3, {.window_ms = 100, .rounds = 3, .most_in_pairs = 2}), 1.2);
    EXPECT_DOUBLE_EQ(expected_seconds(3, {.window_ms = 100, .rounds = 3}), 2.1);
  });
}

TEST(RouteRates, AFailureOnAThreadReachesTheCaller) {
  std::vector<Bytes> moves;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    RouteSources mine;
    mine.emplace(0, std::make_unique<CountingSource>(moves));
    mine.emplace(1, std::make_unique<FailingSource>());
    EXPECT_THROW(route_figures(transport, mine, 2, {.window_ms = 0}), RunError);
  });
}

TEST(RouteSources, MemoryArrivesInTheDevice) {
  test::FakeBackend backend;
  const auto source = memory_source(backend, {}, 3 * kLargestMove);
  for (int i = 0; i < 7; ++i) source->move(kLargestMove);  // more than once around
  const auto on_node =
      memory_source(backend, gives_memory_of(0) ? std::optional(0u) : std::nullopt, kLargestMove);
  on_node->move(kSmallestMove);
}

TEST(RouteSources, MemoryOfANodeThatIsNotThereIsRefused) {
  test::FakeBackend backend;
  EXPECT_FALSE(gives_memory_of(1023));
  EXPECT_THROW(memory_source(backend, 1023, kLargestMove), RunError);
}

TEST(RouteSources, ADiskIsReadAgainFromItsBeginning) {
  const test::TemporaryFolder folder;
  const auto file = new_disk_file_name(folder.path());
  create_disk_file(file);
  EXPECT_NE(new_disk_file_name(folder.path()), file);
  const auto opened = std::make_shared<const DirectFile>(file);
  const Descriptor fill = open_to_fill(file);
  remove_disk_file(file);
  fill_disk_file(fill, file, 2 * kLargestMove);
  test::FakeBackend backend;
  const auto source = disk_source(backend, opened, 2 * kLargestMove, kLargestMove);
  for (int i = 0; i < 5; ++i) source->move(kLargestMove);
  source->move(kSmallestMove);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RouteSources, FilesInMemoryAreNotReadDirectly) {
  const auto file = new_disk_file_name("/dev/shm");
  create_disk_file(file);
  const DirectFile opened(file);
  remove_disk_file(file);
  EXPECT_FALSE(opened.direct()) << "a file system in memory, also where it accepts the flag";
  EXPECT_FALSE(fills_cache(opened)) << "its pages were there before";
}

// Folders of sysfs: a disk with a partition, a volume on it, one on that, and one on two disks.
TEST(RouteSources, ADiskIsFoundBelowPartitionsAndVolumes) {
  const test::TemporaryFolder folder;
  const auto& sys = folder.path();
  for (const char* name : {"block/sda/sda1/partition", "block/sdb", "block/dm-0/slaves",
                           "block/dm-1/slaves", "block/dm-2/slaves"})
    std::filesystem::create_directories(sys / name);
  const auto lies_on = [&](const std::string& volume, const std::string& device) {
    std::filesystem::create_directory_symlink(
        sys / "block" / device,
        sys / "block" / volume / "slaves" / std::filesystem::path(device).filename());
  };
  lies_on("dm-0", "sda/sda1");
  lies_on("dm-1", "dm-0");
  lies_on("dm-2", "sda/sda1");
  lies_on("dm-2", "sdb");
  using Names = std::vector<std::string>;
  EXPECT_EQ(block_device_names(sys / "block/sda/sda1"), (Names{"sda1", "sda"}));
  EXPECT_EQ(block_device_names(sys / "block/sdb"), (Names{"sdb"}));
  EXPECT_EQ(block_device_names(sys / "block/dm-1"), (Names{"dm-1", "dm-0", "sda1", "sda"}));
  EXPECT_EQ(block_device_names(sys / "block/dm-2"), (Names{"dm-2"}));
  EXPECT_EQ(block_device_names(sys / "block/nowhere"), Names{});
}

TEST(RouteSources, AFolderThatTakesNoFileIsNamed) {
  test::expect_message(test::message_of([] { create_disk_file("/proc/hios-disk"); }),
                       "/proc: takes no file (");
}

}  // namespace
}  // namespace hios

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
  const auto on_node = memory_source(backend, 0, kLargestMove);
  on_node->move(kSmallestMove);
}

TEST(RouteSources, ADiskIsReadAgainFromItsBeginning) {
  const test::TemporaryFolder folder;
  const auto file = new_disk_file_name(folder.path());
  create_disk_file(file);
  EXPECT_NE(new_disk_file_name(folder.path()), file);
  const Descriptor direct = open_direct(file);
  const Descriptor fill = open_to_fill(file);
  remove_disk_file(file);
  fill_disk_file(fill, file, 2 * kLargestMove);
  // A file system in memory has no direct reads; other reads of the file give the same bytes.
  Descriptor open_file = duplicate(direct.is_open() ? direct : fill);
  if (direct.is_open()) {
    test::FakeBackend backend;
    const auto source = disk_source(backend, std::move(open_file), 2 * kLargestMove, kLargestMove);
    for (int i = 0; i < 5; ++i) source->move(kLargestMove);
    source->move(kSmallestMove);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RouteSources, AFolderThatTakesNoFileIsNamed) {
  test::expect_message(test::message_of([] { create_disk_file("/proc/hios-disk"); }),
                       "/proc: takes no file (");
}

}  // namespace
}  // namespace hios

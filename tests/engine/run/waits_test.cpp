// Each kind of wait of an executor, made endless: the watchdog of every rank that waits names the
// tensor, the operator and the stage, and the rank that it waits for; that of a rank that computes
// names the operator.

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <optional>

#include "engine/job/ranks/watch.h"
#include "hios/base/error.h"
#include "hios/model/model.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

/// Two operators on rank 0 and one on rank 1 between them: relu_1 (0) → relu_2 (1) → relu_3 (0).
struct ThereAndBack {
  ThereAndBack() {
    ModelBuilder b("there_and_back", {1, 4, 4, 4});
    const TensorId head = b.relu("head", b.input());
    const TensorId middle = b.relu("middle", head);
    b.relu("tail", middle);
    model.emplace(std::move(b).build());
    coarse.emplace(coarsen(*model));
    schedule.devices.resize(2);
    schedule.devices[0] = {{{{OpId(0)}}}, {{{OpId(2)}}}};
    schedule.devices[1] = {{{{OpId(1)}}}};
  }
  std::optional<Model> model;
  std::optional<CoarseGraph> coarse;
  Schedule schedule;
};

/// The line of each rank's watchdog, by rank; empty: none.
using LineOfRank = std::map<std::size_t, std::string>;

/// Runs iterations until every rank of `expected` has printed its position, then ends the ranks.
/// `spoil` is called on each rank with its backend; it may throw RankDied for a rank that leaves.
LineOfRank hang_ranks(const test::ThreadOptions& options, std::size_t expected,
                      const std::function<void(mpi::Transport&, test::FakeBackend&,
                                               std::shared_future<void>)>& spoil) {
  const ThereAndBack network;
  std::mutex mutex;
  LineOfRank lines;
  std::promise<void> all_spoke;
  std::shared_future<void> released = all_spoke.get_future().share();
  std::atomic<std::size_t> spoke = 0;
  const auto body = [&](mpi::Transport& transport) {
    const std::size_t rank = transport.rank().index();
    test::FakeBackend backend;
    test::FakeSource source;
    const auto on_stall = [&](const std::string& line) {
      {
        const std::lock_guard lock(mutex);
        lines[rank] = line;
      }
      if (++spoke == expected) all_spoke.set_value();
      released.wait();
      try {
        transport.abort(3);
      } catch (const RunError&) {
      }
    };
    job::Watch watch(transport, 1, nullptr, on_stall);
    const RankPlan plan = plan_rank(*network.coarse, network.schedule, transport.rank());
    Executor executor({*network.coarse, *network.model, backend, transport, source}, plan);
    spoil(transport, backend, released);
    const auto watching = watch.runs(watched(executor));
    for (int i = 0; i < 3; ++i) executor.run_once();
  };
  test::ThreadOptions patient = options;
  patient.detect_deadlock = false;
  EXPECT_THROW(test::run_ranks(2, body, patient), RunError);
  return lines;
}

void nothing(mpi::Transport&, test::FakeBackend&, std::shared_future<void>) {}

TEST(Waits, AnEndlessOperatorIsNamedByItsRankAndByWhoWaitsForIt) {
  const LineOfRank lines =
      hang_ranks({}, 2, [](mpi::Transport& transport, test::FakeBackend& backend, auto released) {
        if (transport.rank() == Rank(0)) return;
        backend.on_run = [released](const std::string&) {
          released.wait();
          throw RunError("the operator was ended by the test");
        };
      });
  EXPECT_NE(lines.at(1).find("stage 0: relu_2"), std::string::npos) << lines.at(1);
  EXPECT_NE(
      lines.at(0).find("waiting for relu_2 from rank 1 (256 bytes), which stage 1 needs: relu_3"),
      std::string::npos)
      << lines.at(0);
}

TEST(Waits, ALostTensorIsNamed) {
  test::ThreadOptions options;
  options.lost = test::LostMessage{Rank(1), Rank(0), 1, 1};
  // Rank 1 hangs, too, and either may print first: both lines are expected.
  const LineOfRank lines = hang_ranks(options, 2, nothing);
  EXPECT_NE(lines.at(0).find("waiting for relu_2 from rank 1"), std::string::npos) << lines.at(0);
}

TEST(Waits, ARankThatDoesNotComeIsNamedByItsSender) {
  // Rank 1 never starts its iteration: nothing is received, and the sends of rank 0 do not end.
  const LineOfRank lines =
      hang_ranks({}, 1, [](mpi::Transport& transport, test::FakeBackend&, auto released) {
        if (transport.rank() == Rank(0)) return;
        released.wait();
        throw RunError("this rank left early");
      });
  ASSERT_TRUE(lines.contains(0));
  EXPECT_NE(lines.at(0).find("from rank 1"), std::string::npos) << lines.at(0);
}

TEST(Waits, TheEndOfSendsIsNamed) {
  // Rank 0's last message of an iteration is lost: it waits for the message's end after all steps.
  const ThereAndBack network;
  Schedule schedule;
  schedule.devices.resize(2);
  schedule.devices[0] = {{{{OpId(0)}}}};
  schedule.devices[1] = {{{{OpId(1)}}}, {{{OpId(2)}}}};
  test::ThreadOptions options;
  options.detect_deadlock = false;
  std::promise<std::string> said;
  auto line = said.get_future();
  const auto body = [&](mpi::Transport& transport) {
    test::FakeBackend backend;
    test::FakeSource source;
    job::Watch watch(transport, 1, nullptr, [&](const std::string& text) {
      said.set_value(text);
      try {
        transport.abort(3);
      } catch (const RunError&) {
      }
    });
    const RankPlan plan = plan_rank(*network.coarse, schedule, transport.rank());
    Executor executor({*network.coarse, *network.model, backend, transport, source}, plan);
    if (transport.rank() == Rank(1)) {
      transport.barrier();  // until rank 0's watchdog has ended the run
      return;
    }
    const auto watching = watch.runs(watched(executor));
    executor.run_once();
  };
  EXPECT_THROW(test::run_ranks(2, body, options), RunError);
  EXPECT_NE(line.get().find("waiting for the end of its sends"), std::string::npos);
}

/// The collective calls: rank 1 makes none of them.
TEST(Waits, ACallOfAllRanksIsNamed) {
  const std::map<std::string, std::function<void(mpi::Transport&)>> calls = {
      {"(barrier)", [](mpi::Transport& transport) { transport.barrier(); }},
      {"(gather)", [](mpi::Transport& transport) { transport.all_gather("x"); }},
      {"(broadcast)", [](mpi::Transport& transport) { transport.broadcast("x"); }},
      {"(maximum)", [](mpi::Transport& transport) {
         double value = 1;
         transport.all_reduce_max({&value, 1});
       }}};
  for (const auto& [name, call] : calls) {
    std::promise<std::string> said;
    auto line = said.get_future().share();
    test::ThreadOptions options;
    options.detect_deadlock = false;
    const auto body = [&, make = call](mpi::Transport& transport) {
      if (transport.rank() == Rank(1)) {
        line.wait();
        throw RunError("this rank does not come");
      }
      job::Watch watch(transport, 1, nullptr,
                       [&](const std::string& text) { said.set_value(text); });
      watch.phase("setting up");
      make(watch.transport());
    };
    EXPECT_THROW(test::run_ranks(2, body, options), RunError) << name;
    EXPECT_NE(line.get().find("setting up: waiting for"), std::string::npos) << line.get();
    EXPECT_NE(line.get().find(name), std::string::npos) << line.get();
  }
}

}  // namespace
}  // namespace hios

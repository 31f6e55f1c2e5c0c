#include "engine/job/ranks/watchdog.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "hios/base/error.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"
#include "support/programs/stop.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using namespace std::chrono_literals;

// A pipe instead of standard error.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_), 0); }
  ~Pipe() {
    close_writer();
    close(ends_[0]);
  }
  int writer() const { return ends_[1]; }
  std::string text() {
    close_writer();
    std::string all(4096, '\0');
    const auto size = read(ends_[0], all.data(), all.size());
    all.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return all;
  }

 private:
  void close_writer() {
    if (open_) close(ends_[1]);
    open_ = false;
  }
  int ends_[2] = {0, 0};
  bool open_ = true;
};

TEST(Watchdog, NamesWhoHangsAndWhereOnce) {
  Pipe standard_error;
  std::promise<void> stalled;
  int calls = 0;
  {
    const Watchdog watchdog({[] { return 7u; }, [] { return "stage 3: conv_7"; }},
                            {0.05, "rank 1 on node7", standard_error.writer(), 0.01, "--timeout"},
                            [&](const std::string& line) {
                              EXPECT_TRUE(line.starts_with("rank 1 on node7: no progress"));
                              ++calls;
                              stalled.set_value();
                            });
    stalled.get_future().wait();
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(standard_error.text(),
            "error: rank 1 on node7: no progress for 0.05 s (--timeout), stage 3: conv_7\n");
}

TEST(Watchdog, LetsAloneWhatMoves) {
  Pipe standard_error;
  std::atomic<std::uint64_t> looks = 0;
  std::atomic<bool> seen_often = false;
  {
    // There is progress between any two looks, for far more looks than in the time-out.
    const Watchdog watchdog(
        {[&] {
           if (looks.fetch_add(1) > 20) {
             seen_often = true;
             seen_often.notify_all();
           }
           return looks.load();
         },
         [] { return "a step"; }},
        {0.02, "rank 0", standard_error.writer(), 0.005},
        [](const std::string&) { ADD_FAILURE() << "it was taken for stalled"; });
    seen_often.wait(false);
  }
  EXPECT_EQ(standard_error.text(), "");
}

TEST(Watchdog, EndsAtOnceWhenTheWatchIsOver) {
  const Watchdog watchdog({[] { return 0u; }, [] { return ""; }}, {3600, "rank 0", 2, 3600},
                          [](const std::string&) {});
}

/// Ends with 0 if a watchdog lets alone a process that is stopped for longer than the time-out, in
/// a moment in which nothing moves, and moves again when it is continued.
[[noreturn]] void stop_and_move_again() {
  test::continue_after_a_stop_of(800ms);
  std::atomic<int> looks = 0;
  std::atomic<bool> moves_again = false;
  const auto progress = [&] {
    const int look = ++looks;
    if (look == 3) raise(SIGSTOP);
    moves_again = look > 6;
    moves_again.notify_all();
    return static_cast<std::uint64_t>(look == 3 ? 2 : look);
  };
  const Watchdog watchdog({progress, [] { return "a step"; }}, {0.4, "rank 0", 2, 0.05},
                          [](const std::string&) { _exit(1); });
  moves_again.wait(false);
  _exit(0);
}

TEST(WatchdogDeathTest, AStopOfTheWholeProcessIsNoStall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(stop_and_move_again(), testing::ExitedWithCode(0), "^$");
}

TEST(Watchdog, EscapesInvisibleCharactersOfTheStep) {
  Pipe standard_error;
  std::promise<void> stalled;
  const Watchdog watchdog({[] { return 7u; }, [] { return "stage 3: a\u202eb"; }},
                          {0.05, "rank 0", standard_error.writer(), 0.01},
                          [&](const std::string&) { stalled.set_value(); });
  stalled.get_future().wait();
  EXPECT_EQ(standard_error.text(), "error: rank 0: no progress for 0.05 s, stage 3: a\\u202eb\n");
}

// A message is lost. The rank that waits for it says so; the test ends the ranks, as main ends the
// process.
TEST(Watchdog, ALostMessageIsNamed) {
  const test::RandomNetwork network = test::random_network(12, 4);
  const Graph& graph = network.coarse.graph;
  Schedule schedule;
  schedule.devices.resize(2);
  for (const OpId op : graph.topological()) {
    const bool second = !graph.in_edges(op).empty() && op.index() % 2 == 1;
    schedule.devices[second ? 1 : 0].push_back({{{op}}});
  }
  const RankPlan victim = plan_rank(network.coarse, schedule, Rank(1));
  ASSERT_FALSE(victim.receives.empty());
  const PlannedMessage& lost = victim.receives.front();

  Pipe standard_error;
  test::ThreadOptions options;
  options.lost = test::LostMessage{lost.peer, Rank(1), lost.tag, 1};
  // The transport notices the deadlock itself and ends the ranks, but only after the watchdog has
  // printed: its stall is delayed until then.
  options.detect_deadlock = false;
  std::atomic<int> iterations = 0;
  const auto body = [&](mpi::Transport& transport) {
    const RankPlan plan = plan_rank(network.coarse, schedule, transport.rank());
    test::FakeBackend backend;
    test::FakeSource source;
    Executor executor({network.coarse, network.model, backend, transport, source}, plan);
    std::optional<Watchdog> watchdog;
    if (transport.rank() == Rank(1)) {
      watchdog.emplace(watched(executor),
                       Watchdog::Options{1, "rank 1 on threads", standard_error.writer(), 0.02},
                       [&](const std::string&) {
                         try {
                           transport.abort(3);
                         } catch (const RunError&) {
                         }
                       });
    }
    for (int i = 0; i < 3; ++i) {
      transport.barrier();
      executor.run_once();
      ++iterations;
    }
  };
  EXPECT_THROW(test::run_ranks(2, body, options), RunError);
  const std::string text = standard_error.text();
  EXPECT_NE(text.find("rank 1 on threads: no progress"), std::string::npos) << text;
  EXPECT_NE(text.find("waiting for " + graph.op(lost.op).name + " from rank 0"), std::string::npos)
      << text;
  EXPECT_LE(iterations, 3) << "nobody finished the iteration that lost it, but one sender at most";
}

}  // namespace
}  // namespace hios

// Groups on core shares: everything runs once, in order and on the right cores, and an exception
// arrives on the main thread.
#include "engine/cpu/streams.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

#include "engine/cpu/kernels/parallel.h"
#include "engine/host/cores.h"

namespace hios::cpu {
namespace {

/// An operator that calls a function.
class Task final : public BoundOperator {
 public:
  explicit Task(std::function<void()> body) : body_(std::move(body)) {}
  void run() override { body_(); }

 private:
  std::function<void()> body_;
};

/// A stage of `groups` groups on a device of `threads` cores.
class StageOnCores {
 public:
  StageOnCores(Streams& streams, std::size_t groups, int threads)
      : streams_(streams), shares_(core_shares(groups, threads)), groups_(groups) {
    for (const CoreShare& share : shares_) streams_.prepare(share);
  }
  void add(std::size_t group, std::function<void()> body) {
    tasks_.push_back(std::make_unique<Task>(std::move(body)));
    groups_[group].push_back(tasks_.back().get());
  }
  void run(void (*poll)(void*) = nullptr, void* argument = nullptr) {
    streams_.run(groups_, shares_, poll, argument);
  }
  const CoreShare& share(std::size_t group) const { return shares_[group]; }

 private:
  Streams& streams_;
  std::vector<CoreShare> shares_;
  std::vector<BoundGroup> groups_;
  std::vector<std::unique_ptr<Task>> tasks_;
};

struct StageShape {
  int threads;
  std::size_t groups;
};

class CpuStreams : public testing::TestWithParam<StageShape> {};

TEST_P(CpuStreams, EveryOperatorRunsOnceAndInOrder) {
  const auto [threads, groups] = GetParam();
  Streams streams(threads, {});
  StageOnCores stage(streams, groups, threads);
  constexpr int kOperators = 5, kRounds = 200;
  std::vector<int> done(groups);
  std::atomic<int> out_of_order = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    for (int i = 0; i < kOperators; ++i) {
      stage.add(g, [&, g, i] {
        if (done[g] % kOperators != i) ++out_of_order;
        ++done[g];
      });
    }
  }
  for (int round = 0; round < kRounds; ++round) stage.run();
  EXPECT_EQ(done, std::vector<int>(groups, kOperators * kRounds));
  EXPECT_EQ(out_of_order, 0);
}

TEST_P(CpuStreams, AnOperatorHasTheThreadsOfItsLane) {
  const auto [threads, groups] = GetParam();
  Streams streams(threads, {});
  StageOnCores stage(streams, groups, threads);
  std::vector<std::atomic<int>> members(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    stage.add(g, [&, g] { parallel(stage.share(g).threads, [&](int, int) { ++members[g]; }); });
  }
  stage.run();
  for (std::size_t g = 0; g < groups; ++g) EXPECT_EQ(members[g], stage.share(g).threads);
}

TEST_P(CpuStreams, AnExceptionEndsTheStageAndNotTheStreams) {
  const auto [threads, groups] = GetParam();
  Streams streams(threads, {});
  for (std::size_t failing = 0; failing < groups; ++failing) {
    StageOnCores stage(streams, groups, threads);
    std::vector<int> reached(groups);
    bool fail = true;
    for (std::size_t g = 0; g < groups; ++g) {
      stage.add(g, [&, g] {
        if (fail && g == failing) throw std::runtime_error("group " + std::to_string(g));
      });
      stage.add(g, [&, g] { ++reached[g]; });
    }
    try {
      stage.run();
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "group " + std::to_string(failing));
    }
    EXPECT_EQ(reached[failing], 0);
    fail = false;
    std::fill(reached.begin(), reached.end(), 0);
    stage.run();
    EXPECT_EQ(reached, std::vector<int>(groups, 1));
  }
}

TEST_P(CpuStreams, PollsOnTheMainThread) {
  const auto [threads, groups] = GetParam();
  Streams streams(threads, {});
  StageOnCores stage(streams, groups, threads);
  for (std::size_t g = 0; g < groups; ++g) {
    for (int i = 0; i < 3; ++i) stage.add(g, [] {});
  }
  struct Polls {
    std::thread::id main = std::this_thread::get_id();
    int here = 0, elsewhere = 0;
  } polls;
  stage.run(
      [](void* argument) {
        auto& seen = *static_cast<Polls*>(argument);
        ++(std::this_thread::get_id() == seen.main ? seen.here : seen.elsewhere);
      },
      &polls);
  EXPECT_EQ(polls.elsewhere, 0);
  // Crews may finish before the main thread polls them; in the main thread's own group the number
  // of polls is known.
  const bool crews = groups > 1 && stage.share(0).threads > 1;
  EXPECT_GE(polls.here, crews ? 0 : 2);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CpuStreams,
                         testing::Values(StageShape{1, 1}, StageShape{1, 3}, StageShape{2, 1},
                                         StageShape{2, 2}, StageShape{2, 3}, StageShape{3, 2},
                                         StageShape{4, 2}, StageShape{4, 3}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.threads) + "_threads_" +
                                  std::to_string(shape.param.groups) + "_groups";
                         });

TEST(CpuStreamsConcurrency, GroupsOfAStageRunAtTheSameTime) {
  for (const int threads : {2, 4}) {
    SCOPED_TRACE(threads);
    Streams streams(threads, {});
    StageOnCores stage(streams, 2, threads);
    // Each group waits for the other, so they only end if they run at the same time.
    std::atomic<bool> arrived[2] = {false, false};
    for (const std::size_t g : {0u, 1u}) {
      stage.add(g, [&, g] {
        arrived[g] = true;
        while (!arrived[1 - g]) std::this_thread::yield();
      });
    }
    stage.run();
    EXPECT_TRUE(arrived[0] && arrived[1]);
  }
}

/// Returns the one core that the calling thread may use; −1 if it may use several.
int own_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  if (CPU_COUNT(&set) != 1) return -1;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) return core;
  }
  return -1;
}

TEST(CpuStreamsPinning, ThreadsKeepToTheCoresOfTheirLanes) {
  const std::vector<int> allowed = allowed_cores();
  std::vector<int> cores;
  for (std::size_t i = 0; i < 4; ++i) cores.push_back(allowed[i % allowed.size()]);
  const std::vector<int> before = allowed_cores();
  {
    Streams streams(4, cores);
    for (const std::size_t groups : {1u, 2u, 3u, 4u, 1u}) {
      SCOPED_TRACE(groups);
      StageOnCores stage(streams, groups, 4);
      std::vector<int> seen(4, -2);
      for (std::size_t g = 0; g < groups; ++g) {
        const CoreShare share = stage.share(g);
        stage.add(g, [&seen, share] {
          parallel(share.threads, [&](int worker, int) {
            seen[static_cast<std::size_t>(share.first_core + worker)] = own_core();
          });
        });
      }
      stage.run();
      EXPECT_EQ(seen, cores);
    }
  }
  EXPECT_EQ(allowed_cores(), before);
}

TEST(CpuStreamsEnvironment, NamesWhatLibgompReads) {
  for (const auto& [name, value] : recommended_openmp_environment()) {
    EXPECT_TRUE(name.starts_with("GOMP_") || name.starts_with("OMP_")) << name;
    EXPECT_FALSE(value.empty()) << name;
  }
}

}  // namespace
}  // namespace hios::cpu

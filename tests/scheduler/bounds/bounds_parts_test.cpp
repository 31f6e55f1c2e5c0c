#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/bounds/graph/allowed_devices.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/dominators.h"
#include "scheduler/bounds/graph/heads.h"
#include "scheduler/bounds/graph/shares.h"
#include "scheduler/bounds/relaxations/preemptive.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

// Compares the parts of the bounds with their definitions.

namespace hios::scheduler {
namespace {

TEST(PreemptiveSchedule, IsTheMaximumOverSetsOfJobs) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "jobs");
    std::vector<Job> jobs(random.below(9));
    for (Job& job : jobs) {
      const double most = seed % 2 == 0 ? 3 : 10;
      job = {random.uniform(0, most), random.uniform(0, 2), random.uniform(0, most)};
      if (seed % 3 == 0) job.head_ms = static_cast<double>(random.below(3));
    }
    const double speed = random.uniform(0.5, 4);
    double worst = 0;
    for (unsigned set = 1; set < 1u << jobs.size(); ++set) {
      double head = std::numeric_limits<double>::infinity(), tail = head, work = 0;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!(set >> i & 1)) continue;
        head = std::min(head, jobs[i].head_ms);
        tail = std::min(tail, jobs[i].tail_ms);
        work += jobs[i].work_ms;
      }
      worst = std::max(worst, head + work / speed + tail);
    }
    EXPECT_NEAR(preemptive_ms(jobs, speed), worst, 1e-9);
  }
}

/// A stage that starts at 0, with its operators' virtual times and shares.
struct Timed {
  double cost_ms = 0;
  std::vector<double> begin, end, path, work, window;  // by operator of the stage
  std::vector<std::size_t> group;
};

Timed timed(const Stage& stage, DeviceId device, const CostModel& costs, const Shares& shares,
            bool measured) {
  Timed result;
  result.cost_ms = costs.stage_ms(stage, device);
  std::vector<double> length;
  for (const Group& group : stage.groups) {
    length.push_back(0);
    for (OpId op : group) length.back() += costs.operator_ms(op, device);
  }
  const double longest = *std::max_element(length.begin(), length.end());
  const double squeeze =
      measured && longest > 0 ? std::min(1.0, result.cost_ms / longest) : 1;  // f_S / t
  for (std::size_t g = 0; g < stage.groups.size(); ++g) {
    double before = 0;
    for (OpId op : stage.groups[g]) {
      const double own = costs.operator_ms(op, device) * squeeze;
      result.begin.push_back(before);
      before += own;
      result.end.push_back(result.cost_ms - (length[g] * squeeze - before));
      result.path.push_back(shares.path_ms(op, device));
      result.work.push_back(shares.work_ms(op, device));
      result.window.push_back(shares.window_ms(op, device));
      result.group.push_back(g);
    }
  }
  return result;
}

void expect_shares_hold(const Timed& stage, std::size_t groups, Random& random) {
  const double slack = 1e-9;
  std::vector<double> path(groups, 0);
  double work = 0;
  for (std::size_t i = 0; i < stage.path.size(); ++i) {
    path[stage.group[i]] += stage.path[i];
    work += stage.work[i];
    EXPECT_LE(stage.window[i], stage.work[i] + slack);
    EXPECT_LE(stage.work[i], stage.path[i] + slack);
    EXPECT_GE(stage.end[i] - stage.begin[i], stage.path[i] - slack);
  }
  for (double sum : path) EXPECT_LE(sum, stage.cost_ms + slack);
  EXPECT_LE(work, stage.cost_ms + slack);
  for (int i = 0; i < 8; ++i) {  // windows between the start of one and the end of another
    const double a = stage.begin[random.below(stage.begin.size())];
    const double b = stage.end[random.below(stage.end.size())];
    double inside = 0;
    for (std::size_t v = 0; v < stage.begin.size(); ++v) {
      if (stage.begin[v] >= a && stage.end[v] <= b) inside += stage.window[v];
    }
    if (inside == 0) continue;
    EXPECT_LE(inside, std::min(b, stage.cost_ms) - std::max(0.0, a) + slack);
  }
}

TEST(Shares, HoldInEveryStage) {
  for (std::uint64_t seed = 0; seed < test::tries(2000u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "shares");
    test::CostStyle style;
    style.overlap = seed % 5 != 0;
    const bool profiled = seed % 2 == 0;
    Graph graph = test::random_graph(4 + seed % 12, 0.15, style, random);
    const Platform platform = test::devices(2, 2 + static_cast<int>(seed % 4));
    const Profile profile = profiled ? test::random_profile(graph, platform, random) : Profile{};
    const CostModel costs = profiled ? CostModel::from_profile(graph, platform, profile)
                                     : CostModel::from_graph(graph, platform);
    const Shares shares(graph, costs);
    for (int i = 0; i < 4; ++i) {
      const Schedule schedule = test::random_schedule(graph, platform, random);
      for (std::size_t d = 0; d < 2; ++d) {
        for (const Stage& stage : schedule.devices[d]) {
          const Timed times = timed(stage, DeviceId(d), costs, shares, profiled);
          expect_shares_hold(times, stage.groups.size(), random);
        }
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
}

struct Whole {
  Whole(const Graph& graph, const CostModel& costs)
      : shares(graph, costs),
        allowed(graph, costs),
        bound_graph(BoundGraphs(graph, shares, allowed).whole()) {}
  Shares shares;
  AllowedDevices allowed;
  BoundGraph bound_graph;
};

// More ancestors and more contention never lower a head.
TEST(Heads, RiseWithAncestorsAndContention) {
  for (std::uint64_t seed = 0; seed < test::tries(100u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "heads");
    const Graph graph = test::random_graph(30, 0.1, {}, random);
    const Platform platform = test::devices(3, 2);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Whole whole(graph, costs);
    std::vector<double> before(graph.size(), 0);
    for (std::size_t ancestors : {1, 2, 4, 8, 30}) {
      const auto now = heads(whole.bound_graph, Contention::kOneDevice, ancestors);
      const auto filled = heads(whole.bound_graph, Contention::kAllDevices, ancestors);
      for (std::size_t v = 0; v < graph.size(); ++v) {
        EXPECT_GE(now[v], before[v]);
        EXPECT_GE(filled[v], now[v]);
      }
      before = now;
    }
  }
}

TEST(Heads, OnOneDeviceAreTheWorkOfAllAncestors) {
  const Graph graph = test::small_graph({1, 2, 3, 4}, {{1, 2, 5}, {1, 3, 5}, {2, 4, 5}, {3, 4, 5}});
  const Platform platform = test::devices(1, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Whole whole(graph, costs);
  EXPECT_EQ(heads(whole.bound_graph, Contention::kOneDevice, 9), (std::vector<double>{0, 1, 1, 6}));
  const TimeWindows both = time_windows(whole.bound_graph, Contention::kOneDevice, 9);
  EXPECT_EQ(both.tail, (std::vector<double>{9, 4, 4, 0}));
}

/// Returns up to six devices of which some have links of their own, of two speeds: many are alike.
Platform some_linked_alike(Random& random) {
  const std::size_t count = 2 + random.below(5);
  std::vector<Device> devices;
  for (std::size_t d = 0; d < count; ++d)
    devices.push_back({"d" + std::to_string(d), "cpu", 1, 1, 0, ""});
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links;
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to || random.below(3) != 0) continue;
      links.emplace_back(DeviceId(from), DeviceId(to), Link{0.001, random.below(2) == 0 ? 1. : 4.});
    }
  }
  return Platform(std::move(devices), std::move(links), Link{0.002, 2});
}

TEST(AllowedDevices, HaveTheCheapestTransferOfAllTheirPairs) {
  for (std::uint64_t seed = 0; seed < test::tries(500u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "allowed");
    const Platform platform = some_linked_alike(random);
    std::vector<Operator> operators(2);
    for (Operator& op : operators) {
      op.name = &op == operators.data() ? "a" : "b";
      op.time_ms = 1;
      op.has_time = true;
      for (const Device& device : platform.devices()) {
        if (random.below(3) != 0) op.allowed.push_back(device.name);
      }
    }
    Edge edge;
    edge.from = OpId(0);
    edge.to = OpId(1);
    edge.size_bytes = 1 << 20;
    const Graph graph("pair", operators, {edge});
    const CostModel costs = CostModel::from_graph(graph, platform);
    AllowedDevices allowed(graph, costs);
    if (allowed.must_share(OpId(0), OpId(1))) continue;
    double least = std::numeric_limits<double>::infinity();
    for (DeviceId from : allowed.devices(OpId(0))) {
      for (DeviceId to : allowed.devices(OpId(1))) {
        if (from != to) least = std::min(least, costs.transfer_ms(EdgeId(0), from, to));
      }
    }
    EXPECT_EQ(allowed.transfer_ms(EdgeId(0)), least);
  }
}

/// Returns true if every path from an operator without inputs to v goes through s.
bool dominates(const BoundGraph& graph, std::size_t s, std::size_t v) {
  std::vector<bool> around(graph.size(), false);  // reached without s
  for (std::size_t x = 0; x <= v; ++x) {
    if (x == s) continue;
    const auto inputs = graph.edges.inputs(x);
    around[x] = inputs.empty() || std::any_of(inputs.begin(), inputs.end(),
                                              [&](const Arc& arc) { return around[arc.other]; });
  }
  return !around[v];
}

TEST(Dominators, AreTheLastOperatorsOnEveryPath) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "dominators");
    const Graph graph = test::random_graph(12, 0.25, {}, random);
    const Platform platform = test::devices(2, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Whole whole(graph, costs);
    const auto found = immediate_dominators(whole.bound_graph, 100);
    for (std::size_t v = 0; v < graph.size(); ++v) {
      std::size_t last = kNoDominator;
      for (std::size_t s = 0; s < v; ++s) {
        if (dominates(whole.bound_graph, s, v)) last = s;
      }
      EXPECT_EQ(found[v], last);
    }
  }
}

}  // namespace
}  // namespace hios::scheduler

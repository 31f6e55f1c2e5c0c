#include "scheduler/pipeline/slicing/slicing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "hios/evaluate/blocks.h"
#include "hios/evaluate/validate.h"
#include "scheduler/pipeline/period_bounds.h"
#include "scheduler/pipeline/slicing/peak_scan.h"
#include "scheduler/pipeline/slicing/segment_scan.h"
#include "scheduler/pipeline/slicing/slice_graph.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/pipeline_cases.h"

namespace hios::scheduler::pipeline {
namespace {

using test::PipelineCase;
using test::plain_block_ms;
using test::plain_optimum_ms;
using test::plain_period_ms;
using test::random_case;

std::vector<std::size_t> devices_of(const Graph& graph, const Schedule& schedule) {
  std::vector<std::size_t> device(graph.size(), 0);
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      for (const Group& group : stage.groups) {
        for (const OpId op : group) device[op.index()] = d;
      }
    }
  }
  return device;
}

/// Returns all topological orders of the vertices.
void each_order(const PipelineProblem& problem, std::vector<Vertex>& order,
                const std::function<void()>& visit) {
  if (order.size() == problem.size()) return visit();
  for (Vertex v = 0; v < problem.size(); ++v) {
    const auto there = [&](Vertex each) {
      return std::find(order.begin(), order.end(), each) != order.end();
    };
    const std::vector<Vertex>& before = problem.vertices()[v].predecessors;
    if (there(v) || !std::all_of(before.begin(), before.end(), there)) continue;
    order.push_back(v);
    each_order(problem, order, visit);
    order.pop_back();
  }
}

/// Checks a schedule's blocks by period_of() against Eq. 3.
void expect_sound(const PipelineCase& made, const CostModel& costs, const Schedule& schedule,
                  double period_ms) {
  EXPECT_TRUE(validate(made.graph, made.platform, schedule).empty());
  EXPECT_TRUE(cycle_of_blocks(made.graph, schedule).empty());
  const Period period = period_of(made.graph, schedule, costs);
  EXPECT_NEAR(period.ms(), period_ms, kRounding);
  for (std::size_t d = 0; d < made.platform.size(); ++d) {
    std::vector<OpId> block;
    for (const Stage& stage : schedule.devices[d]) block.push_back(stage.groups.front().front());
    EXPECT_NEAR(period.blocks[d].ms(), plain_block_ms(made, costs, block, DeviceId(d)), kRounding);
  }
}

TEST(Slicing, TheBestOrderSlicedIsTheOptimum) {
  constexpr std::uint64_t kSeed = 2026;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  int possible = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made = random_case(1 + random.below(6), 1 + random.below(3),
                                          {.limits = random.below(2) == 0}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const PipelineProblem problem(made.graph, costs);
    const Slicer slicer(problem);
    double best = kInfinity;
    std::vector<Vertex> order;
    each_order(problem, order, [&] {
      const Slicing found = slicer.slice(order);
      if (found.period_ms < best)
        expect_sound(made, costs, schedule_of(problem, order, found), found.period_ms);
      best = std::min(best, found.period_ms);
    });
    const double optimum = plain_optimum_ms(made, costs);
    if (optimum == kInfinity) {
      EXPECT_EQ(best, kInfinity);
    } else {
      ++possible;
      EXPECT_NEAR(best, optimum, kRounding);
      EXPECT_LE(slicer.simple_bound_ms(), optimum + kRounding);
      EXPECT_LE(simple_period_bound(made.graph, costs).ms, optimum + kRounding);
    }
  }
  EXPECT_GT(possible, 75);
}

/// Returns the optimum over all cuts of an order and all assignments of the blocks to devices.
double plain_slicing_ms(const PipelineCase& made, const CostModel& costs,
                        const PipelineProblem& problem, const std::vector<Vertex>& order,
                        std::size_t from, std::set<std::size_t> used) {
  if (from == order.size()) return 0;
  double best = kInfinity;
  std::vector<OpId> block;
  for (std::size_t to = from; to < order.size(); ++to) {
    const std::vector<OpId>& ops = problem.vertices()[order[to]].ops;
    block.insert(block.end(), ops.begin(), ops.end());
    for (std::size_t d = 0; d < made.platform.size(); ++d) {
      if (used.contains(d)) continue;
      const double ms = plain_block_ms(made, costs, block, DeviceId(d));
      if (ms >= best) continue;
      std::set<std::size_t> more = used;
      more.insert(d);
      best =
          std::min(best, std::max(ms, plain_slicing_ms(made, costs, problem, order, to + 1, more)));
    }
  }
  return best;
}

TEST(Slicing, IsTheBestOfAllSlicingsOfAnOrder) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made =
        random_case(1 + random.below(7), 1 + random.below(3),
                    {.overflow = true, .limits = random.below(3) == 0}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const PipelineProblem problem(made.graph, costs);
    std::vector<double> priorities(problem.size());
    for (double& each : priorities) each = random.uniform();
    const std::vector<Vertex> order = order_by_priority(problem, priorities);
    const Slicing found = Slicer(problem).slice(order);
    const double optimum = plain_slicing_ms(made, costs, problem, order, 0, {});
    if (optimum == kInfinity) {
      EXPECT_EQ(found.period_ms, kInfinity);
      continue;
    }
    EXPECT_NEAR(found.period_ms, optimum, kRounding);
    expect_sound(made, costs, schedule_of(problem, order, found), found.period_ms);
    EXPECT_EQ(Slicer(problem).slice(order, found.period_ms).period_ms, kInfinity);
  }
}

/// Returns the optimal slicing for alike devices by the plain dynamic program: every block with one
/// end from the shortest on, the first of the cheapest.
Slicing plain_slicing(const PipelineProblem& problem, const std::vector<Vertex>& order) {
  const PipelineClass& device = problem.classes().front();
  const std::size_t devices = device.devices.size();
  std::vector<std::vector<double>> value(order.size() + 1,
                                         std::vector<double>(devices + 1, kInfinity));
  std::vector<std::vector<std::size_t>> choice(order.size() + 1,
                                               std::vector<std::size_t>(devices + 1, 0));
  value[0].assign(devices + 1, 0);
  SegmentScan scan(problem, order);
  while (scan.advance()) {
    const std::size_t end = scan.end() + 1;
    double work_ms = 0;
    while (scan.begin() > 0) {
      scan.extend();
      work_ms += device.work_ms[order[scan.begin()]];
      const double ms = work_ms + scan.traffic().receive_ms * device.charge.receive +
                        scan.traffic().send_ms * device.charge.send;
      for (std::size_t used = 1; used <= devices; ++used) {
        const double most = std::max(value[scan.begin()][used - 1], ms);
        if (most >= value[end][used]) continue;
        value[end][used] = most;
        choice[end][used] = scan.begin();
      }
    }
  }
  Slicing found;
  found.period_ms = value[order.size()][devices];
  for (std::size_t end = order.size(), used = devices; end > 0; end = found.slices[0].begin) {
    found.slices.insert(found.slices.begin(), {choice[end][used--], end, 0, 0});
  }
  return found;
}

/// To the last bit and block, whatever the first pass.
TEST(Slicing, DecidesAsThePlainProgramDoes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "slicing");
    test::CostStyle style;
    style.small_integers = seed % 2 == 0;  // many equal periods
    const Graph graph =
        test::random_graph(1 + random.below(90), random.uniform(0, 0.1), style, random);
    const Platform platform = test::devices(1 + random.below(6), 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const PipelineProblem problem(graph, costs);
    ASSERT_EQ(problem.classes().size(), 1u);
    for (const std::vector<Vertex>& order : {problem.given_order(), depth_first_order(problem)}) {
      const Slicing plain = plain_slicing(problem, order);
      for (const std::size_t stride : {0u, 1u, 2u, 7u, 64u}) {
        const Slicing found = Slicer(problem, stride).slice(order);
        EXPECT_EQ(found.period_ms, plain.period_ms);
        ASSERT_EQ(found.slices.size(), plain.slices.size());
        for (std::size_t i = 0; i < plain.slices.size(); ++i) {
          EXPECT_EQ(found.slices[i].begin, plain.slices[i].begin) << "stride " << stride;
        }
      }
    }
    if (HasFailure()) return;
  }
}

/// Lemma B.2 of the paper: an order whose best slicing is k times the optimum.
TEST(Slicing, CanBeAsBadAsOneBlock) {
  constexpr std::size_t kDevices = 3;
  constexpr double kLight = 0.125;
  std::vector<Operator> ops(2 * kDevices);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops[i].name = "op" + std::to_string(i);
    ops[i].has_time = true;
    ops[i].time_ms = i < kDevices ? 1 - kLight : kLight;
  }
  const Graph graph("worst", std::move(ops), {{OpId(0), OpId(kDevices), 0, 10.0 * kDevices}});
  const Platform platform = test::devices(kDevices, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const PipelineProblem problem(graph, costs);
  EXPECT_DOUBLE_EQ(Slicer(problem).slice(std::vector<Vertex>{0, 1, 2, 5, 4, 3}).period_ms, 3);
  EXPECT_DOUBLE_EQ(Slicer(problem).slice(std::vector<Vertex>{0, 3, 1, 4, 2, 5}).period_ms, 1);
  const TimedSchedule found = slice_graph(graph, costs, {}, 1, {});
  EXPECT_DOUBLE_EQ(period_of(graph, found.schedule, costs).ms(), 1);
}

TEST(Slicing, TakesManyUnlikeDevicesInOrder) {
  Random random(3);
  Graph graph = test::random_graph(30, 0.1, {.overlap = false}, random);
  std::vector<Device> devices;
  const Platform alike = test::devices(14, 1);
  for (const Device& device : alike.devices()) {
    devices.push_back(device);
    devices.back().io_charge.emplace().send = random.uniform();
  }
  const PipelineCase made{std::move(graph), Platform(std::move(devices))};
  const CostModel costs = CostModel::from_graph(made.graph, made.platform);
  const PipelineProblem problem(made.graph, costs);
  ASSERT_EQ(problem.classes().size(), 14u);
  const Slicing found = Slicer(problem).slice(problem.given_order());
  ASSERT_LT(found.period_ms, kInfinity);
  EXPECT_GE(found.period_ms, Slicer(problem).simple_bound_ms());
  expect_sound(made, costs, schedule_of(problem, problem.given_order(), found), found.period_ms);
}

/// Returns the optimum over all cuts of an order from a vertex on, where blocks run on devices in
/// the order of their classes and each device may stay unused. REQUIRES: one device a class.
double plain_in_order_ms(const PipelineCase& made, const CostModel& costs,
                         const PipelineProblem& problem, const std::vector<Vertex>& order,
                         std::size_t from, std::size_t device_class) {
  if (from == order.size()) return 0;
  if (device_class == problem.classes().size()) return kInfinity;
  double best = plain_in_order_ms(made, costs, problem, order, from, device_class + 1);
  std::vector<OpId> block;
  for (std::size_t to = from; to < order.size(); ++to) {
    const std::vector<OpId>& ops = problem.vertices()[order[to]].ops;
    block.insert(block.end(), ops.begin(), ops.end());
    const DeviceId device = problem.classes()[device_class].devices.front();
    const double ms = plain_block_ms(made, costs, block, device);
    if (ms >= best) continue;
    best = std::min(best, std::max(ms, plain_in_order_ms(made, costs, problem, order, to + 1,
                                                         device_class + 1)));
  }
  return best;
}

TEST(Slicing, LeavesOutUnlikeDevicesInOrder) {
  constexpr std::size_t kDevices = 14;
  const Platform platform = test::devices(kDevices, 1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "left out");
    const Graph drawn = test::random_graph(4, 0.4, {.overlap = false}, random);
    std::vector<Operator> ops(drawn.operators().begin(), drawn.operators().end());
    for (Operator& op : ops) {
      op.has_time = false;
      for (const Device& device : platform.devices()) {
        op.time_by_device[device.name] = random.uniform(1, 10);
      }
    }
    const PipelineCase made{
        Graph("unlike", std::move(ops), {drawn.edges().begin(), drawn.edges().end()}), platform};
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const PipelineProblem problem(made.graph, costs);
    ASSERT_EQ(problem.classes().size(), kDevices);
    const std::vector<Vertex>& order = problem.given_order();
    const Slicing found = Slicer(problem).slice(order);
    EXPECT_NEAR(found.period_ms, plain_in_order_ms(made, costs, problem, order, 0, 0), kRounding);
    expect_sound(made, costs, schedule_of(problem, order, found), found.period_ms);
  }
}

TEST(Slicing, EndsOnRequest) {
  Random random(1);
  const Graph graph = test::random_graph(200, 0.05, {.overlap = false}, random);
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const PipelineProblem problem(graph, costs);
  EXPECT_EQ(Slicer(problem)
                .slice(problem.given_order(), kInfinity, Deadline([] { return true; }))
                .period_ms,
            kInfinity);
  const TimedSchedule found = slice_graph(graph, costs, {}, 1, Deadline([] { return true; }));
  EXPECT_TRUE(found.timed_out);
  EXPECT_TRUE(validate(graph, platform, found.schedule).empty());
}

TEST(SliceGraph, EverySearchGivesSoundBlocksAndTheSameForASeed) {
  Random random(5);
  const PipelineCase made = random_case(30, 3, {}, random);
  const CostModel costs = CostModel::from_graph(made.graph, made.platform);
  const double given_ms =
      period_of(made.graph,
                slice_graph(made.graph, costs, {.order = OrderSearch::kGiven}, 1, {}).schedule,
                costs)
          .ms();
  for (const char* name : {"given", "random", "brkga", "mla", "mla-weighted"}) {
    SCOPED_TRACE(name);
    const SliceGraphOptions options{order_search_named(name), 10, 10};
    const Schedule found = slice_graph(made.graph, costs, options, 9, {}).schedule;
    EXPECT_EQ(found, slice_graph(made.graph, costs, options, 9, {}).schedule);
    EXPECT_LE(period_of(made.graph, found, costs).ms(), given_ms);
    EXPECT_NEAR(plain_period_ms(made, costs, devices_of(made.graph, found)),
                period_of(made.graph, found, costs).ms(), kRounding);
  }
}

TEST(PeakScan, FindsTheBytesHeldInEverySegment) {
  constexpr std::uint64_t kSeed = 77;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made =
        random_case(30, 2, {.overflow = true, .limits = round % 2 == 0}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const PipelineProblem problem(made.graph, costs);
    const std::vector<Vertex>& order = problem.given_order();
    PeakScan peaks(problem, order);
    SegmentScan traffic(problem, order);
    while (traffic.advance()) {
      peaks.restart(traffic.end());
      std::vector<OpId> block;
      EXPECT_EQ(peaks.bytes(), 0);
      while (traffic.begin() > 0) {
        traffic.extend();
        peaks.extend();
        const std::vector<OpId>& ops = problem.vertices()[order[traffic.begin()]].ops;
        block.insert(block.begin(), ops.begin(), ops.end());
        EXPECT_EQ(traffic.received_bytes() + peaks.bytes(), peak_bytes(made.graph, block));
      }
    }
  }
}

TEST(Slicing, WithoutTimeIsCoarseAndKeepsTheRules) {
  constexpr std::uint64_t kSeed = 78;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  int coarse = 0;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made = random_case(
        20, 1 + random.below(4), {.overflow = true, .limits = random.below(2) == 0}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const PipelineProblem problem(made.graph, costs);
    const Slicing found = Slicer(problem).coarse(problem.given_order());
    if (found.period_ms == kInfinity) continue;
    ++coarse;
    const Schedule schedule = schedule_of(problem, problem.given_order(), found);
    EXPECT_TRUE(validate(made.graph, made.platform, schedule, Objective::kThroughput).empty());
    EXPECT_NEAR(period_of(made.graph, schedule, costs).ms(), found.period_ms, kRounding);
    const TimedSchedule late = slice_graph(made.graph, costs, {}, 1, Deadline([] { return true; }));
    EXPECT_TRUE(late.timed_out);
    EXPECT_LE(period_of(made.graph, late.schedule, costs).ms(), found.period_ms + kRounding);
  }
  EXPECT_GT(coarse, 40);
}

}  // namespace
}  // namespace hios::scheduler::pipeline

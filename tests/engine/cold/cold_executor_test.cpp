// Cold starts on the CPU's backend: what is loaded while operators run gives the bits of a run with
// all parameters there, and what is not loaded shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "engine/backend/operation.h"
#include "engine/backends.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/run/executor.h"
#include "hios/base/error.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/network.h"
#include "hios/graph/parameters.h"
#include "hios/model/networks/networks.h"
#include "support/expect_error.h"
#include "support/graphs/cold_cases.h"
#include "support/networks/random_network.h"
#include "support/oracles/plan_checker.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

/// A random schedule of squeezenet, in which each device loads its own parameters, in two lanes, in
/// an order of the seed.
Schedule cold_schedule(const Graph& graph, std::size_t devices, std::uint64_t seed) {
  Schedule schedule = test::random_schedule(graph, devices, 2, seed);
  Weights weights;
  weights.load_first = seed % 5 == 4;
  for (std::size_t d = 0; d < devices; ++d) {
    std::vector<Load> loads;
    for (const Stage& stage : schedule.devices[d]) {
      for (const Group& group : stage.groups) {
        for (const OpId op : group) {
          if (graph.op(op).parameter_bytes > 0) loads.push_back({op, StoreId(0), DeviceId(d)});
        }
      }
    }
    if (seed % 2 == 1) std::ranges::reverse(loads);
    const auto half = loads.begin() + static_cast<std::ptrdiff_t>(loads.size() / 2);
    weights.lanes.emplace_back(loads.begin(), half);
    weights.lanes.emplace_back(half, loads.end());
  }
  schedule.weights = std::move(weights);
  return schedule;
}

struct Small {
  Model model = models::squeezenet(1, 48, 48);
  CoarseGraph coarse = coarsen(model);
};

std::vector<float> resident_output(const Small& net, OpId op) {
  std::vector<float> output;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = test::cpu_backend(1);
    SeededSource source(7);
    const auto order = net.coarse.graph.topological();
    const Schedule schedule{{one_operator_stages({order.begin(), order.end()})}};
    const RankPlan plan = plan_rank(net.coarse, schedule, Rank(0));
    Executor executor({net.coarse, net.model, *backend, transport, source}, plan);
    executor.run_once();
    output = executor.output(op);
  });
  return output;
}

TEST(ColdExecutor, GivesTheBitsOfParametersThatWereThere) {
  const Small net;
  const OpId last = *net.coarse.producer(net.model.named_outputs().front().tensor);
  const std::vector<float> expected = resident_output(net, last);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t ranks = 1 + seed % 3;
    const Schedule schedule = cold_schedule(net.coarse.graph, ranks, seed);
    test::run_ranks(ranks, [&](mpi::Transport& transport) {
      const auto backend = test::cpu_backend(1);
      SeededSource source(7);
      const RankPlan plan = plan_rank(net.coarse, schedule, transport.rank());
      Executor executor({net.coarse, net.model, *backend, transport, source}, plan);
      executor.record_stages(true);
      for (int iteration = 0; iteration < 3; ++iteration) {
        executor.forget_parameters();
        transport.barrier();
        executor.run_once();
        if (std::ranges::count(plan.outputs, last) > 0) {
          EXPECT_EQ(executor.output(last), expected);
        }
      }
      std::size_t loads = 0;
      for (const auto& lane : plan.lanes) loads += lane.size();
      EXPECT_EQ(executor.timeline().loads.size(), loads);
    });
  }
}

/// Moves every second operator with parameters out of the lanes: it reads them in place.
void read_half_in_place(const Graph& graph, Schedule& schedule) {
  Weights& weights = *schedule.weights;
  for (Lane& lane : weights.lanes) {
    Lane loaded;
    for (const Load& load : lane) {
      if (load.of.index() % 2 == 0) {
        weights.in_place.push_back({load.of, StoreId(0)});
      } else {
        loaded.push_back(load);
      }
    }
    lane = loaded;
  }
  for (auto& stages : schedule.devices) {
    std::vector<OpId> order;
    for (const Stage& stage : stages) {
      for (const Group& group : stage.groups) order.insert(order.end(), group.begin(), group.end());
    }
    stages = one_operator_stages(order);
  }
  ASSERT_GT(graph.size(), weights.in_place.size());
}

TEST(ColdExecutor, ReadsInPlaceGiveTheSameBits) {
  const Small net;
  const OpId last = *net.coarse.producer(net.model.named_outputs().front().tensor);
  const std::vector<float> expected = resident_output(net, last);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t ranks = 1 + seed % 3;
    Schedule schedule = cold_schedule(net.coarse.graph, ranks, seed);
    read_half_in_place(net.coarse.graph, schedule);
    test::run_ranks(ranks, [&](mpi::Transport& transport) {
      const auto backend = test::cpu_backend(1);
      SeededSource source(7);
      const RankPlan plan = plan_rank(net.coarse, schedule, transport.rank());
      Executor executor({net.coarse, net.model, *backend, transport, source}, plan);
      for (int iteration = 0; iteration < 2; ++iteration) {
        executor.forget_parameters();
        // The memory of a resident copy is there, and stays overwritten.
        for (const OpId op : plan.in_place) {
          const auto memory =
              backend->parameter_memory(operation_of(net.coarse, net.model, op), source);
          ASSERT_FALSE(memory.empty());
          for (const auto& part : memory) {
            EXPECT_EQ(std::ranges::count(part, std::byte{0xff}), std::ssize(part));
          }
        }
        transport.barrier();
        executor.run_once();
        if (std::ranges::count(plan.outputs, last) > 0) {
          EXPECT_EQ(executor.output(last), expected);
        }
      }
    });
  }
}

/// Random weights of all kinds: lanes over several devices, loads from devices, reads in place,
/// evictions, residents.
Schedule schedule_of_all_kinds(const Graph& graph, std::size_t devices, std::uint64_t seed) {
  Random random(seed);
  Schedule schedule = test::random_schedule(graph, devices, 2, seed);
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.in_place_ms = 1;
  const Graph timed(graph.name(), std::move(operators),
                    {graph.edges().begin(), graph.edges().end()});
  const Platform platform = test::random_topology(devices, 2, false, random);
  schedule.weights = test::random_weights(timed, platform, schedule, 1 + random.below(4), random);
  const auto findings = validate(timed, platform, schedule);
  EXPECT_TRUE(findings.empty()) << findings.front().text;
  return schedule;
}

TEST(ColdExecutor, RanksThatExchangeLoadsGiveTheSameBits) {
  const Small net;
  const OpId last = *net.coarse.producer(net.model.named_outputs().front().tensor);
  const std::vector<float> expected = resident_output(net, last);
  std::atomic<std::size_t> sends = 0, batons = 0, evictions = 0, reports = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t ranks = 2 + seed % 3;
    const Schedule schedule = schedule_of_all_kinds(net.coarse.graph, ranks, seed);
    test::ThreadOptions delays;
    delays.seed = seed;
    delays.max_delay_ms = 0.2;
    test::run_ranks(
        ranks,
        [&](mpi::Transport& transport) {
          const auto backend = test::cpu_backend(1);
          SeededSource source(7);
          const RankPlan plan = plan_rank(net.coarse, schedule, transport.rank());
          EXPECT_EQ(test::findings_in(net.coarse, plan), std::vector<std::string>());
          sends += plan.exchange.sends.size();
          batons += plan.exchange.batons_sent.size();
          reports += plan.exchange.reports_from.size();
          evictions += plan.evictions.size();
          Executor executor({net.coarse, net.model, *backend, transport, source}, plan,
                            {.overwrites_evicted = true});
          executor.record_stages(true);
          for (int iteration = 0; iteration < 3; ++iteration) {
            executor.forget_parameters();
            transport.barrier();
            if (iteration == 1) {
              executor.load_alone();
              executor.start(Start::kResident);
              transport.barrier();
            }
            executor.run_once();
            executor.start(Start::kCold);
            if (std::ranges::count(plan.outputs, last) > 0) {
              EXPECT_EQ(executor.output(last), expected);
            }
          }
          std::size_t loads = 0;
          for (const auto& lane : plan.lanes) loads += lane.size();
          EXPECT_EQ(executor.timeline().loads.size(), loads);
          EXPECT_EQ(executor.timeline().sent_loads.size(), plan.exchange.sends.size());
          transport.barrier();
        },
        delays);
  }
  EXPECT_GT(sends, 10u);
  EXPECT_GT(batons, 10u);
  EXPECT_GT(evictions, 10u);
  EXPECT_GT(reports, 0u);
}

// Cold and resident starts, from stores and from other ranks, in the order in which stages can run.
TEST(ColdExecutor, StagesInAnyOrderGiveTheSameBits) {
  const Small net;
  const OpId last = *net.coarse.producer(net.model.named_outputs().front().tensor);
  const std::vector<float> expected = resident_output(net, last);
  std::atomic<std::size_t> sends = 0, evictions = 0, reports = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t ranks = 1 + seed % 4;
    const Schedule schedule = ranks == 1 ? cold_schedule(net.coarse.graph, ranks, seed)
                                         : schedule_of_all_kinds(net.coarse.graph, ranks, seed);
    test::ThreadOptions delays;
    delays.seed = seed;
    delays.max_delay_ms = 0.2;
    test::run_ranks(
        ranks,
        [&](mpi::Transport& transport) {
          const auto backend = test::cpu_backend(1);
          SeededSource source(7);
          const RankPlan plan =
              plan_rank(net.coarse, schedule, transport.rank(), {.any_order = true});
          sends += plan.exchange.sends.size();
          reports += plan.exchange.reports_from.size();
          evictions += plan.evictions.size();
          Executor executor({net.coarse, net.model, *backend, transport, source}, plan,
                            {.overwrites_evicted = true});
          executor.record_stages(true);
          for (const Start start : {Start::kCold, Start::kResident, Start::kCold}) {
            executor.forget_parameters();
            transport.barrier();
            if (start == Start::kResident) {
              executor.load_alone();
              executor.start(Start::kResident);
              transport.barrier();
            }
            executor.run_once();
            executor.start(Start::kCold);
            if (std::ranges::count(plan.outputs, last) > 0) {
              EXPECT_EQ(executor.output(last), expected);
            }
          }
          transport.barrier();
        },
        delays);
  }
  EXPECT_GT(sends, 10u);
  EXPECT_GT(evictions, 10u);
  EXPECT_GT(reports, 0u);
}

/// A pace that holds the only load of lane 1 back until the rank waits for nothing else.
class HeldLoad final : public LoadPace {
 public:
  std::atomic<const Executor*> executor = nullptr;
  std::string text;  // of the rank that waits

  void load(std::size_t lane, std::size_t, const std::atomic<bool>& stop) override {
    while (lane == 1 && !stop) {
      text = executor.load()->current_step();
      if (text.starts_with("waiting for load") && text.find("other") == std::string::npos) return;
      std::this_thread::yield();
    }
  }
  void idle() override { std::this_thread::yield(); }
  void all_loaded(bool) override {}
};

TEST(ColdExecutor, AStageWhoseParametersAreLateIsOvertaken) {
  ModelBuilder b("branches", {1, 3, 8, 8});
  const Conv conv{4, {1, 1}, {1, 1}, {0, 0}};
  const TensorId late = b.conv("late", b.input(), conv), early = b.conv("early", b.input(), conv);
  const Model model = std::move(b).build();
  const CoarseGraph coarse = coarsen(model);
  const std::vector<OpId> ops = {*coarse.producer(late), *coarse.producer(early)};
  Schedule schedule{{one_operator_stages(ops)}};
  schedule.weights.emplace().lanes = {{{ops[1], StoreId(0), DeviceId(0)}},
                                      {{ops[0], StoreId(0), DeviceId(0)}}};
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = test::cpu_backend(1);
    SeededSource source(7);
    const RankPlan plan = plan_rank(coarse, schedule, Rank(0), {.any_order = true});
    HeldLoad pace;
    LoadOptions loads;
    loads.pace = &pace;
    Executor executor({coarse, model, *backend, transport, source}, plan, {.loads = loads});
    pace.executor = &executor;
    executor.record_stages(true);
    executor.run_once();
    const auto& stages = executor.clocks().stages;
    EXPECT_LE(stages[1].end_ms, stages[0].start_ms);
    EXPECT_EQ(pace.text.find("waiting for load 0 of lane 1, the parameters of " +
                             coarse.graph.op(ops[0]).name),
              0u)
        << pace.text;
    const auto waits = executor.timeline().load_waits;
    ASSERT_FALSE(waits.empty());
    EXPECT_EQ(waits.front().of, ops[0]);
  });
}

/// A network's operators in order on one rank.
Schedule in_order(const Graph& graph) {
  const auto order = graph.topological();
  return {{one_operator_stages({order.begin(), order.end()})}};
}

// An eviction shows: parameters that a wrong plan still read are gone; and those that were there
// from the beginning are there again in the next iteration.
TEST(ColdExecutor, EvictedParametersAreGoneUntilTheNextIteration) {
  const Small net;
  const Graph& graph = net.coarse.graph;
  const OpId last = *net.coarse.producer(net.model.named_outputs().front().tensor);
  Schedule schedule = in_order(graph);
  OpId first = last;
  schedule.weights.emplace();
  for (const OpId op : graph.topological()) {
    if (graph.op(op).parameter_bytes == 0) continue;
    schedule.weights->resident.push_back({op, DeviceId(0)});
    if (first == last) first = op;
  }
  schedule.weights->evictions = {{first, DeviceId(0), last}};
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = test::cpu_backend(1);
    SeededSource source(7);
    const RankPlan plan = plan_rank(net.coarse, schedule, transport.rank());
    Executor executor({net.coarse, net.model, *backend, transport, source}, plan,
                      {.overwrites_evicted = true});
    executor.run_once();
    const std::vector<float> expected = executor.output(last);
    executor.run_once();
    EXPECT_NE(executor.output(last), expected);
    executor.forget_parameters();
    executor.run_once();
    EXPECT_EQ(executor.output(last), expected);
    executor.forget_parameters();
    executor.start(Start::kResident);
    for (int i = 0; i < 2; ++i) executor.run_once();
    EXPECT_EQ(executor.output(last), expected);
  });
}

// Values of another seed at the sender stand for another layout there.
TEST(ColdExecutor, RanksThatLayParametersOutInDifferentWaysAreRefused) {
  const Small net;
  const Graph& graph = net.coarse.graph;
  Schedule schedule = in_order(graph);
  schedule.devices.emplace_back();
  schedule.weights.emplace().lanes = {{}};
  for (const OpId op : graph.topological()) {
    if (graph.op(op).parameter_bytes == 0) continue;
    schedule.weights->resident.push_back({op, DeviceId(1)});
    schedule.weights->lanes[0].push_back({op, DeviceId(1), DeviceId(0)});
  }
  std::atomic<int> refused = 0;
  test::run_ranks(2, [&](mpi::Transport& transport) {
    const auto backend = test::cpu_backend(1);
    SeededSource source(transport.rank() == Rank(1) ? 8 : 7);
    const RankPlan plan = plan_rank(net.coarse, schedule, transport.rank());
    test::expect_error(
        [&] {
          Executor({net.coarse, net.model, *backend, transport, source}, plan);
        },
        {"rank 1 lays out the parameters of ", " otherwise than rank 0"});
    ++refused;
  });
  EXPECT_EQ(refused, 2);
}

// The other half of the proof: what a cold run did not load is not there.
TEST(ColdExecutor, ForgottenParametersShow) {
  const Small net;
  const OpId last = *net.coarse.producer(net.model.named_outputs().front().tensor);
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = test::cpu_backend(1);
    SeededSource source(7);
    const RankPlan plan =
        plan_rank(net.coarse, cold_schedule(net.coarse.graph, 1, 0), transport.rank());
    Executor executor({net.coarse, net.model, *backend, transport, source}, plan);
    executor.start(Start::kResident);
    executor.run_once();
    const std::vector<float> expected = executor.output(last);
    executor.forget_parameters();
    executor.run_once();
    EXPECT_NE(executor.output(last), expected);
    EXPECT_GE(executor.load_alone(), 0);
    executor.run_once();
    EXPECT_EQ(executor.output(last), expected);
  });
}

TEST(ColdExecutor, ABackendThatDoesNotShowParametersIsRefused) {
  const Small net;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = find_backend("reference").make({.threads = 1, .cores = {}});
    SeededSource source(7);
    const RankPlan plan = plan_rank(net.coarse, cold_schedule(net.coarse.graph, 1, 0), Rank(0));
    test::expect_error(
        [&] {
          Executor({net.coarse, net.model, *backend, transport, source}, plan);
        },
        {"the reference backend cannot load the parameters of "});
  });
}

}  // namespace
}  // namespace hios

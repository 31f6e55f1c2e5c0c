// Cold starts on the CPU's backend: what is loaded while operators run gives the bits of a run with
// all parameters there, and what is not loaded shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "engine/backend/operation.h"
#include "engine/backends.h"
#include "engine/cold/cold_networks.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/run/executor.h"
#include "hios/graph/network.h"
#include "support/expect_error.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

TEST(ColdExecutor, GivesTheBitsOfParametersThatWereThere) {
  const test::ColdNetwork net;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t ranks = 1 + seed % 3;
    const Schedule schedule = test::schedule_of_own_loads(net.coarse.graph, ranks, seed);
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
        if (std::ranges::count(plan.outputs, net.last) > 0) {
          EXPECT_EQ(executor.output(net.last), net.expected);
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
  const test::ColdNetwork net;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t ranks = 1 + seed % 3;
    Schedule schedule = test::schedule_of_own_loads(net.coarse.graph, ranks, seed);
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
        if (std::ranges::count(plan.outputs, net.last) > 0) {
          EXPECT_EQ(executor.output(net.last), net.expected);
        }
      }
    });
  }
}

TEST(ColdExecutor, RanksThatExchangeLoadsGiveTheSameBits) {
  const test::ColdNetwork net;
  test::ExchangeCounts counts;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t ranks = 2 + seed % 3;
    const Schedule schedule = test::schedule_of_all_kinds(net.coarse.graph, ranks, seed);
    test::expect_resident_bits(net, schedule, seed, {}, counts);
  }
  EXPECT_GT(counts.sends, 10u);
  EXPECT_GT(counts.batons, 10u);
  EXPECT_GT(counts.evictions, 10u);
  EXPECT_GT(counts.reports, 0u);
}

/// A network's operators in order on one rank.
Schedule in_order(const Graph& graph) {
  const auto order = graph.topological();
  return {{one_operator_stages({order.begin(), order.end()})}};
}

// An eviction shows: parameters that a wrong plan still read are gone; and those that were there
// from the beginning are there again in the next iteration.
TEST(ColdExecutor, EvictedParametersAreGoneUntilTheNextIteration) {
  const test::ColdNetwork net;
  const Graph& graph = net.coarse.graph;
  Schedule schedule = in_order(graph);
  OpId first = net.last;
  schedule.weights.emplace();
  for (const OpId op : graph.topological()) {
    if (graph.op(op).parameter_bytes == 0) continue;
    schedule.weights->resident.push_back({op, DeviceId(0)});
    if (first == net.last) first = op;
  }
  schedule.weights->evictions = {{first, DeviceId(0), net.last}};
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = test::cpu_backend(1);
    SeededSource source(7);
    const RankPlan plan = plan_rank(net.coarse, schedule, transport.rank());
    Executor executor({net.coarse, net.model, *backend, transport, source}, plan,
                      {.overwrites_evicted = true});
    executor.run_once();
    const std::vector<float> expected = executor.output(net.last);
    executor.run_once();
    EXPECT_NE(executor.output(net.last), expected);
    executor.forget_parameters();
    executor.run_once();
    EXPECT_EQ(executor.output(net.last), expected);
    executor.forget_parameters();
    executor.start(Start::kResident);
    for (int i = 0; i < 2; ++i) executor.run_once();
    EXPECT_EQ(executor.output(net.last), expected);
  });
}

// Values of another seed at the sender stand for another layout there.
TEST(ColdExecutor, RanksThatLayParametersOutInDifferentWaysAreRefused) {
  const test::ColdNetwork net;
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
  const test::ColdNetwork net;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = test::cpu_backend(1);
    SeededSource source(7);
    const RankPlan plan = plan_rank(net.coarse, test::schedule_of_own_loads(net.coarse.graph, 1, 0),
                                    transport.rank());
    Executor executor({net.coarse, net.model, *backend, transport, source}, plan);
    executor.start(Start::kResident);
    executor.run_once();
    const std::vector<float> expected = executor.output(net.last);
    executor.forget_parameters();
    executor.run_once();
    EXPECT_NE(executor.output(net.last), expected);
    EXPECT_GE(executor.load_alone(), 0);
    executor.run_once();
    EXPECT_EQ(executor.output(net.last), expected);
  });
}

TEST(ColdExecutor, ABackendThatDoesNotShowParametersIsRefused) {
  const test::ColdNetwork net;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    const auto backend = find_backend("reference").make({.threads = 1, .cores = {}});
    SeededSource source(7);
    const RankPlan plan =
        plan_rank(net.coarse, test::schedule_of_own_loads(net.coarse.graph, 1, 0), Rank(0));
    test::expect_error(
        [&] {
          Executor({net.coarse, net.model, *backend, transport, source}, plan);
        },
        {"the reference backend cannot load the parameters of "});
  });
}

}  // namespace
}  // namespace hios

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/cpu_backend.h"
#include "engine/run/executor.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/network.h"
#include "hios/model/networks/networks.h"
#include "support/graphs/cold_cases.h"
#include "support/networks/random_network.h"
#include "support/oracles/plan_checker.h"
#include "support/transports/thread_transport.h"

/// A network on the CPU's backend, its schedules for cold starts, and the bits that all of them
/// must give.
namespace hios::test {

struct ColdNetwork {
  Model model = models::squeezenet(1, 48, 48);
  CoarseGraph coarse = coarsen(model);
  OpId last = *coarse.producer(model.named_outputs().front().tensor);

  std::vector<float> expected = output_of_one_rank();  ///< which has all parameters

 private:
  std::vector<float> output_of_one_rank() const {
    std::vector<float> output;
    run_ranks(1, [&](mpi::Transport& transport) {
      const auto backend = cpu_backend(1);
      SeededSource source(7);
      const auto order = coarse.graph.topological();
      const Schedule schedule{{one_operator_stages({order.begin(), order.end()})}};
      const RankPlan plan = plan_rank(coarse, schedule, Rank(0));
      Executor executor({coarse, model, *backend, transport, source}, plan);
      executor.run_once();
      output = executor.output(last);
    });
    return output;
  }
};

/// Returns a random schedule in which each device loads its own parameters, in two lanes, in an
/// order of the seed.
inline Schedule schedule_of_own_loads(const Graph& graph, std::size_t devices, std::uint64_t seed) {
  Schedule schedule = random_schedule(graph, devices, 2, seed);
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

/// Returns a random schedule with weights of all kinds: lanes over several devices, loads from
/// devices, reads in place, evictions, residents.
inline Schedule schedule_of_all_kinds(const Graph& graph, std::size_t devices, std::uint64_t seed) {
  Random random(seed);
  Schedule schedule = random_schedule(graph, devices, 2, seed);
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.in_place_ms = 1;
  const Graph timed(graph.name(), std::move(operators),
                    {graph.edges().begin(), graph.edges().end()});
  const Platform platform = random_topology(devices, 2, false, random);
  schedule.weights = random_weights(timed, platform, schedule, 1 + random.below(4), random);
  const auto findings = validate(timed, platform, schedule);
  EXPECT_TRUE(findings.empty()) << findings.front().text;
  return schedule;
}

/// Counts of what plans had, over all ranks.
struct ExchangeCounts {
  std::atomic<std::size_t> sends = 0, batons = 0, evictions = 0, reports = 0;
};

/// Expects of a cold, a resident and a cold start, of messages that come late, the bits of one rank
/// that has all parameters; and times of all loads.
inline void expect_resident_bits(const ColdNetwork& net, const Schedule& schedule,
                                 std::uint64_t seed, const PlanOptions& options,
                                 ExchangeCounts& counts) {
  ThreadOptions delays;
  delays.seed = seed;
  delays.max_delay_ms = 0.2;
  const auto body = [&](mpi::Transport& transport) {
    const auto backend = cpu_backend(1);
    SeededSource source(7);
    const RankPlan plan = plan_rank(net.coarse, schedule, transport.rank(), options);
    if (!options.any_order) {  // the checker follows the plan's order
      EXPECT_EQ(findings_in(net.coarse, plan), std::vector<std::string>());
    }
    counts.sends += plan.exchange.sends.size();
    counts.batons += plan.exchange.batons_sent.size();
    counts.reports += plan.exchange.reports_from.size();
    counts.evictions += plan.evictions.size();
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
      if (std::ranges::count(plan.outputs, net.last) > 0) {
        EXPECT_EQ(executor.output(net.last), net.expected);
      }
    }
    std::size_t loads = 0;
    for (const auto& lane : plan.lanes) loads += lane.size();
    EXPECT_EQ(executor.timeline().loads.size(), loads);
    EXPECT_EQ(executor.timeline().sent_loads.size(), plan.exchange.sends.size());
    transport.barrier();
  };
  run_ranks(schedule.devices.size(), body, delays);
}

}  // namespace hios::test

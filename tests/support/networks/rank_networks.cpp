#include "support/networks/rank_networks.h"

#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/job/ranks/algorithm_agreement.h"
#include "engine/job/verification.h"
#include "engine/run/executor.h"
#include "hios/evaluate/validate.h"
#include "hios/model/networks/networks.h"
#include "mpi/device/choose_routes.h"
#include "mpi/device/tensor_transport.h"
#include "mpi/messages/serial.h"
#include "scheduler/registry.h"
#include "support/networks/made_up_profile.h"
#include "support/networks/random_network.h"
#include "support/programs/free_memory.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr int kStreams = 3;

/// A network and its schedules, alike on all ranks.
struct Problem {
  explicit Problem(Model network) : model(std::move(network)), coarse(coarsen(model)) {}

  Schedule sequential() const {
    const auto order = coarse.graph.topological();
    return {{one_operator_stages({order.begin(), order.end()})}};
  }
  Schedule computed(std::size_t ranks) const {
    const Platform platform = Platform::homogeneous(ranks, "gpu", 0, kStreams);
    const Profile profile = made_up_profile(coarse.graph, ranks, "gpu", 0);
    const CostModel costs = CostModel::from_profile(coarse.graph, platform, profile);
    const scheduler::Algorithm& algorithm = scheduler::built_in().find("hios-lp");
    return algorithm.run(scheduler::Problem(costs), Options(algorithm.options), {}).schedule;
  }

  const Model model;
  const CoarseGraph coarse;
};

Model model_of(const SmallNetwork& network) {
  return models::find(network.name)->build(1, network.size, network.size);
}

/// An executor with its plan and source, on one rank.
struct Run {
  Run(const Problem& problem, const Schedule& schedule, Rank rank, Backend& backend,
      mpi::Transport& transport, bool keep_all)
      : plan(plan_rank(problem.coarse, schedule, rank, {.keep_all = keep_all})),
        source(kSeed),
        executor({problem.coarse, problem.model, backend, transport, source}, plan) {}

  RankPlan plan;
  SeededSource source;
  Executor executor;
};

/// Returns every operator's output, by OpId, of the backend's own executor on one rank, which must
/// agree with operators run alone.
std::vector<std::vector<float>> outputs_of_one_rank(const Problem& problem, Backend& backend) {
  const auto alone = mpi::make_serial_transport();
  Run run(problem, problem.sequential(), Rank(0), backend, *alone, /*keep_all=*/true);
  run.executor.run_once();
  const job::OneRankRun operators(problem.coarse, problem.model, backend,
                                  std::vector<int>(problem.coarse.graph.size(), 1), run.source, "");
  std::vector<std::vector<float>> outputs;
  for (std::size_t i = 0; i < problem.coarse.graph.size(); ++i) {
    outputs.push_back(run.executor.output(OpId(i)));
    EXPECT_TRUE(job::compare(outputs.back(), operators.output(OpId(i)), {}).bitwise)
        << problem.coarse.graph.op(OpId(i)).name << " on one rank is not what it is alone";
  }
  run.executor.close();
  return outputs;
}

void expect_right(const Problem& problem, const std::vector<std::vector<float>>& outputs,
                  Backend& reference) {
  SeededSource source(kSeed);
  const job::OneRankRun expected(problem.coarse, problem.model, reference,
                                 std::vector<int>(problem.coarse.graph.size(), 1), source, "");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const job::Comparison comparison = job::compare(outputs[i], expected.output(OpId(i)), {});
    EXPECT_EQ(comparison.outside, 0u)
        << problem.coarse.graph.op(OpId(i)).name << ", largest difference " << comparison.max_abs;
  }
}

/// Chooses the routes again, as at the start of a program.
std::unique_ptr<mpi::Transport> tensor_transport(const RankJob& job, Backend& backend) {
  mpi::RouteTable table = mpi::choose_routes(job.transport, backend.accelerator(), job.route);
  const std::size_t self = job.transport.rank().index();
  for (std::size_t peer = 0; job.route != nullptr && peer < table.ranks; ++peer) {
    if (peer == self) continue;
    EXPECT_EQ(table.at(Rank(self), Rank(peer)).name, job.route->name);
  }
  return mpi::make_tensor_transport(job.transport, backend.accelerator(), std::move(table));
}

void expect_outputs(const Problem& problem, const Run& run, bool keep_all,
                    const std::vector<std::vector<float>>& expected, const std::string& where) {
  for (const Slot& slot : run.plan.slots) {
    if (!keep_all && !problem.coarse.graph.out_edges(slot.op).empty()) continue;
    EXPECT_TRUE(job::compare(run.executor.output(slot.op), expected[slot.op.index()], {}).bitwise)
        << problem.coarse.graph.op(slot.op).name << where;
  }
}

}  // namespace

void expect_as_one_rank(const RankJob& job, const SmallNetwork& network) {
  expect_as_one_rank(job, model_of(network));
}

void expect_as_one_rank(const RankJob& job, const Model& model) {
  const Problem problem(model);
  const std::size_t ranks = job.transport.size();
  Json algorithms = Json::object();
  std::vector<std::vector<float>> expected;
  for (const bool graphs : {false, true}) {
    const auto backend = job.make_backend(graphs, algorithms);
    algorithms = *job::agree_on_algorithms(job.transport, *backend, problem.coarse, problem.model,
                                           {algorithms}, Choosing::kByTiming)
                      .algorithms;
    if (expected.empty()) {
      expected = outputs_of_one_rank(problem, *backend);
      expect_right(problem, expected, *job.make_reference());
    }
    const auto transport = tensor_transport(job, *backend);
    for (const bool at_random : {false, true}) {
      const Schedule schedule = at_random
                                    ? random_schedule(problem.coarse.graph, ranks, kStreams, kSeed)
                                    : problem.computed(ranks);
      for (const bool keep_all : {true, false}) {
        Run run(problem, schedule, job.transport.rank(), *backend, *transport, keep_all);
        for (int iteration = 0; iteration < 3; ++iteration) {
          job.transport.barrier();
          run.executor.run_once();
          expect_outputs(problem, run, keep_all, expected,
                         " on rank " + std::to_string(job.transport.rank().index()) + ", " +
                             (at_random ? "random schedule" : "hios-lp") +
                             (graphs ? ", recorded" : ", queued") + ", iteration " +
                             std::to_string(iteration));
        }
        run.executor.close();
      }
    }
  }
}

void expect_no_growth(const RankJob& job, const SmallNetwork& network, int iterations) {
  // Memory that an allocator or a library may still add to its caches in each round; in a thousand
  // iterations a kilobyte each exceeds it.
  constexpr Bytes kHostSlack = Bytes{128} << 10;
  const Problem problem(model_of(network));
  const Schedule schedule =
      random_schedule(problem.coarse.graph, job.transport.size(), kStreams, kSeed);
  for (const bool graphs : {false, true}) {
    const auto backend = job.make_backend(graphs, Json::object());
    job::agree_on_algorithms(job.transport, *backend, problem.coarse, problem.model, {},
                             Choosing::kByTiming);
    const auto transport = tensor_transport(job, *backend);
    Run run(problem, schedule, job.transport.rank(), *backend, *transport, /*keep_all=*/false);
    const auto repeat = [&](int times) {
      for (int i = 0; i < times; ++i) {
        job.transport.barrier();
        run.executor.run_once();
      }
      job.transport.barrier();
    };
    malloc_trim(0);  // memory that set-up has freed would hide growth
    repeat(std::min(tries(100), iterations));
    bool host_kept = false;
    const auto round = [&] {
      const Bytes before = anonymous_bytes();
      job.transport.barrier();
      repeat(iterations / kMemoryRounds);
      host_kept = host_kept || anonymous_bytes() <= before + kHostSlack;
      job.transport.barrier();
    };
    EXPECT_TRUE(some_round_takes_nothing(*backend, round))
        << "device memory grew, graphs " << graphs;
    EXPECT_TRUE(host_kept) << "host memory grew, graphs " << graphs;
    run.executor.close();
  }
}

}  // namespace hios::test

// Each network, small, on one to four ranks (threads of this process). Every operator of every
// schedule gives, bit for bit, its result when operators run one after another on one rank.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/backends.h"
#include "engine/job/verification.h"
#include "engine/run/executor.h"
#include "hios/evaluate/validate.h"
#include "hios/model/networks/networks.h"
#include "scheduler/registry.h"
#include "support/networks/made_up_profile.h"
#include "support/networks/random_network.h"
#include "support/networks/small_network.h"
#include "support/oracles/plan_checker.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::SmallNetwork;

class Networks : public testing::TestWithParam<SmallNetwork> {
 protected:
  Networks()
      : model(models::find(GetParam().name)->build(1, GetParam().size, GetParam().size)),
        coarse(coarsen(model)) {}

  static std::string_view backend_name() { return find("cpu") ? "cpu" : "reference"; }
  static bool find(std::string_view name) {
    for (const BackendEntry& entry : backends()) {
      if (entry.name == name) return entry.make != nullptr;
    }
    return false;
  }

  ScheduleFile file_of(const Schedule& schedule, int threads) const {
    ScheduleFile file;
    const Platform platform = Platform::homogeneous(schedule.devices.size(), "cpu", threads, 8);
    file.devices.assign(platform.devices().begin(), platform.devices().end());
    file.schedule = schedule;
    EXPECT_TRUE(validate(coarse.graph, platform, schedule).empty());
    return file;
  }

  void expect_as_one_rank(const Schedule& schedule, int threads) {
    const auto alone = find_backend(backend_name()).make({threads, {}});
    SeededSource source(7);
    const job::OneRankRun expected(
        coarse, model, *alone, job::threads_of_operators(coarse.graph, file_of(schedule, threads)),
        source, "");
    test::run_ranks(schedule.devices.size(), [&](mpi::Transport& transport) {
      run_rank(schedule, threads, transport, expected, {.keep_all = true});
      run_rank(schedule, threads, transport, expected, {});
    });
  }

  // Compares every tensor that remains at the end, after each of two iterations.
  void run_rank(const Schedule& schedule, int threads, mpi::Transport& transport,
                const job::OneRankRun& expected, const PlanOptions& options) {
    const RankPlan plan = plan_rank(coarse, schedule, transport.rank(), options);
    EXPECT_EQ(test::findings_in(coarse, plan, options.keep_all), std::vector<std::string>{});
    const auto backend = find_backend(backend_name()).make({threads, {}});
    SeededSource source(7);
    Executor executor({coarse, model, *backend, transport, source}, plan);
    for (int iteration = 0; iteration < 2; ++iteration) {
      transport.barrier();
      executor.run_once();
      for (const Slot& slot : plan.slots) {
        if (!options.keep_all && !coarse.graph.out_edges(slot.op).empty()) continue;
        const auto mine = executor.output(slot.op);
        const auto theirs = expected.output(slot.op);
        EXPECT_TRUE(mine.size() == theirs.size() &&
                    std::memcmp(mine.data(), theirs.data(), mine.size() * sizeof(float)) == 0)
            << coarse.graph.op(slot.op).name << " on rank " << transport.rank().index();
      }
    }
  }

  Model model;
  CoarseGraph coarse;
};

TEST_P(Networks, RandomSchedulesOnOneToFourRanks) {
  for (std::size_t ranks = 1; ranks <= 4; ++ranks) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks, seed " + std::to_string(ranks));
    expect_as_one_rank(test::random_schedule(coarse.graph, ranks, 2, ranks), 1);
  }
}

TEST_P(Networks, GroupsThatDivideTheCoresOfARank) {
  expect_as_one_rank(test::random_schedule(coarse.graph, 2, 3, 5), 2);
}

TEST_P(Networks, ComputedSchedules) {
  for (const std::string_view name : {"hios-lp", "hios-mr"}) {
    for (const std::size_t ranks : {2, 4}) {
      SCOPED_TRACE(std::string(name) + " on " + std::to_string(ranks) + " ranks");
      const Platform platform = Platform::homogeneous(ranks, "cpu", 1, 2);
      const Profile profile = test::made_up_profile(coarse.graph, ranks);
      const CostModel costs = CostModel::from_profile(coarse.graph, platform, profile);
      const scheduler::Algorithm& algorithm = scheduler::built_in().find(name);
      expect_as_one_rank(
          algorithm.run(scheduler::Problem(costs), Options(algorithm.options), {}).schedule, 1);
    }
  }
}

TEST_P(Networks, SlotsAreReusedAlmostOptimally) {
  const auto order = coarse.graph.topological();
  const Schedule schedule{{one_operator_stages({order.begin(), order.end()})}};
  const RankPlan plan = plan_rank(coarse, schedule, Rank(0));
  const Bytes least = test::least_arena_bytes(coarse, plan);
  RecordProperty("arena", std::to_string(plan.arena_bytes) + " least " + std::to_string(least) +
                              " all " + std::to_string(plan.all_tensors_bytes));
  EXPECT_LT(static_cast<double>(plan.arena_bytes), 1.1 * static_cast<double>(least));
  EXPECT_LT(plan.arena_bytes, plan.all_tensors_bytes / 3);
}

INSTANTIATE_TEST_SUITE_P(Small, Networks,
                         testing::Values(SmallNetwork{"inception_v3", 75},
                                         SmallNetwork{"nasnet_large", 32},
                                         SmallNetwork{"squeezenet", 48},
                                         SmallNetwork{"randwire_large", 32}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace hios

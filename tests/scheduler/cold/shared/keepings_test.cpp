// Keepings by rules.
#include "scheduler/cold/shared/keepings.h"

#include <gtest/gtest.h>

#include <vector>

#include "scheduler/cold/loads.h"
#include "scheduler/scheduler.h"
#include "support/graphs/served_models.h"

namespace hios::scheduler::cold {
namespace {

/// Returns a judge whose plans run each model on gpu0, in topological order.
KeepingJudge judge_of_gpu0(const Server& server) {
  std::vector<std::vector<ColdPlan>> bases;
  for (std::size_t m = 0; m < server.models().size(); ++m) {
    const Graph& graph = server.graph(m);
    const std::vector<OpId> order(graph.topological().begin(), graph.topological().end());
    const Schedule base =
        with_loads(on_one_device(server.platform(), DeviceId(0), one_operator_stages(order)), graph,
                   server.platform());
    bases.push_back({plan_of(PlanProblem(*server.models()[m].costs), base)});
  }
  return {server, std::move(bases)};
}

// The middle set is there already, and needs none of the room.
TEST(Keepings, TheNextSetsGoOnAfterOneThatIsKept) {
  const test::ServedModels served({test::served_chain("a", {{1, 10}, {1, 50}, {1, 10}, {1, 10}})},
                                  test::served_platform({0, 0}), {1});
  const Server server = served.server(60);
  const KeepingJudge judge = judge_of_gpu0(server);
  for (const std::size_t holder : {0u, 1u}) {
    Keeping keeping(server);
    ASSERT_TRUE(keeping.keep(DeviceId(holder), 1));
    EXPECT_EQ(keep_next(keeping, judge, 0, DeviceId(0), 20), holder == 0 ? 10u : 20u)
        << "within the limit of its device";
    EXPECT_TRUE(keeping.has(DeviceId(0), 0));
    EXPECT_EQ(keeping.has(DeviceId(0), 2), holder == 1);
  }
}

TEST(Keepings, TheNextSetsStopAtOneThatIsTooLarge) {
  const test::ServedModels served({test::served_chain("a", {{1, 10}, {1, 50}, {1, 10}})},
                                  test::served_platform({0}), {1});
  const Server server = served.server(100);
  const KeepingJudge judge = judge_of_gpu0(server);
  Keeping keeping(server);
  EXPECT_EQ(keep_next(keeping, judge, 0, DeviceId(0), 20), 10u);
  EXPECT_EQ(keep_next(keeping, judge, 0, DeviceId(0), 20), 50u) << "at least one set";
}

}  // namespace
}  // namespace hios::scheduler::cold

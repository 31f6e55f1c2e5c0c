// Plans of networks whose operators are cut, followed step by step: rows of a tensor lie together
// whoever computes them, and none is read before it is there.
#include <gtest/gtest.h>

#include "engine/run/plan.h"
#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/network.h"
#include "hios/model/networks/networks.h"
#include "support/networks/random_network.h"
#include "support/oracles/plan_checker.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

/// Returns the network with some of its operators cut once or twice, at random rows.
Network randomly_cut(const Model& model, Random& random) {
  const Network whole(model);
  FusionRules rules;
  for (std::size_t i = 0; i < whole.coarse.graph.size(); ++i) {
    const std::int64_t height = whole.model.tensor(whole.coarse.operators[i].output).shape.h;
    if (height < 4 || random.below(3) == 0) continue;
    const auto at =
        1 + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(height) - 2));
    Cut cut{.op = whole.coarse.graph.op(OpId(i)).name, .at = {at}};
    if (random.below(3) == 0) cut.at.push_back(height - 1);
    rules.cuts.push_back(std::move(cut));
  }
  return Network(model, 4, rules);
}

TEST(CutPlans, ReadRowsThatAreThere) {
  const Model model = models::find("squeezenet")->build(1, 95, 95);
  std::size_t partial = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(tries(60)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cuts");
    const Network network = randomly_cut(model, random);
    const std::size_t ranks = 1 + seed % 4;
    const Schedule schedule = random_schedule(network.coarse.graph, ranks, 2, seed);
    PlanOptions options;
    options.any_order = seed % 3 == 0;
    options.keep_all = seed % 5 == 0;
    std::vector<RankPlan> plans;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      plans.push_back(plan_rank(network.coarse, schedule, Rank(rank), options));
      const RankPlan& plan = plans.back();
      if (!options.any_order) {
        EXPECT_EQ(findings_in(network.coarse, plan, options.keep_all), std::vector<std::string>{});
      }
      for (const PlannedMessage& message : plan.receives) {
        const Bytes all = network.coarse.graph.op(message.op).memory_bytes;
        partial += message.size_bytes() < all ? 1 : 0;
        EXPECT_GT(message.size_bytes(), 0u);
        EXPECT_LE(message.bytes.end, all);
      }
    }
    if (!options.any_order) {
      EXPECT_EQ(findings_in(network.coarse, plans), std::vector<std::string>{});
    }
  }
  EXPECT_GT(partial, 0u);
}

}  // namespace
}  // namespace hios::test

// Plans for several models that share a server.
#include "scheduler/cold/shared/plan_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/registry.h"
#include "support/expect_error.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/served_models.h"

namespace hios::scheduler::cold {
namespace {

using test::served_chain;
using test::served_platform;
using test::ServedModels;

constexpr Bytes kServerMillion = 1'000'000;

ServerOptions few_iterations() {
  ServerOptions options;
  options.exchanges = 30;
  options.search.iterations = 30;
  options.search.islands = 1;
  options.search.threads = 1;
  return options;
}

ServerResult plan_few(const Server& server, std::uint64_t seed = 0, const Deadline& deadline = {}) {
  Context context;
  context.seed = seed;
  context.deadline = deadline;
  return plan_server(server, few_iterations(), context, built_in().all());
}

/// Expects that each plan is valid, and that its numbers are those of its schedules.
void expect_sound(const ServedModels& served, const Server& server, const ServerResult& result) {
  ASSERT_FALSE(result.plans.empty());
  for (const ServerPlan& plan : result.plans) {
    SCOPED_TRACE(plan.name);
    double expected_ms = 0;
    for (std::size_t m = 0; m < plan.models.size(); ++m) {
      const ServedPlan& own = plan.models[m];
      const auto findings =
          validate(served.graph(m), served.platform(), own.schedule, Objective::kColdStart);
      ASSERT_TRUE(findings.empty()) << findings.front().text;
      EXPECT_EQ(own.schedule.weights->resident, plan.keeping.held(m).resident);
      const double ms = simulate(served.graph(m), own.schedule, served.costs(m)).latency_ms;
      EXPECT_DOUBLE_EQ(ms, own.latency_ms);
      EXPECT_LE(own.bound.ms, ms);
      expected_ms += server.models()[m].share * ms;
    }
    EXPECT_DOUBLE_EQ(plan.expected_ms, expected_ms);
    EXPECT_GE(plan.expected_ms, result.plans.front().expected_ms);
    EXPECT_LE(result.bound_ms, plan.expected_ms * (1 + 1e-12));
    for (std::size_t d = 0; d < served.platform().size(); ++d) {
      EXPECT_LE(plan.keeping.bytes(DeviceId(d)), server.limit(DeviceId(d)));
    }
  }
}

// Rare b hides its second load: keeping its first set, and all of a, saves all there is to save.
TEST(PlanServer, KeepsFirstParametersWhereOperatorsHideTheRest) {
  const ServedModels served({served_chain("a", {{1, 4 * kServerMillion}, {1, 2 * kServerMillion}}),
                             served_chain("b", {{6, 3 * kServerMillion}, {1, 5 * kServerMillion}})},
                            served_platform({0}), {2, 1});
  const Server server = served.server(9 * kServerMillion);
  const ServerResult result = plan_few(server);
  expect_sound(served, server, result);
  EXPECT_NEAR(result.plans.front().expected_ms, (2 * 2 + 1 * 7) / 3.0, 1e-6);
  EXPECT_EQ(result.plans.size(), 4u);
}

// The sibling's first two sets are a's. With them and both last ones, all 10 MB are kept.
TEST(PlanServer, ASiblingLoadsOnlyWhatDiffers) {
  const ServedModels served({served_chain("a", {{1, 4 * kServerMillion, "x"},
                                                {1, 2 * kServerMillion, "y"},
                                                {1, 2 * kServerMillion, "a's"}}),
                             served_chain("b", {{1, 4 * kServerMillion, "x"},
                                                {1, 2 * kServerMillion, "y"},
                                                {1, 2 * kServerMillion, "b's"}})},
                            served_platform({0}), {9, 1});
  const Server server = served.server(8 * kServerMillion);
  const ServerResult result = plan_few(server);
  expect_sound(served, server, result);
  EXPECT_NEAR(result.plans.front().models[0].latency_ms, 3, 1e-6);
  EXPECT_NEAR(result.plans.front().models[1].latency_ms, 3, 1e-6) << "2 ms of loads are hidden";
}

TEST(PlanServer, IsSoundOnRandomServers) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "servers");
    std::vector<Graph> graphs;
    for (const char* name : {"a", "b", "c"}) {
      Graph graph = test::with_parameters(
          test::random_graph(1 + random.below(8), random.uniform(0, 0.5), {}, random), false,
          random);
      std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
      for (Operator& op : operators) {
        op.parameters.clear();
        op.in_place_ms.reset();
        op.in_place_by_device.clear();
        if (random.below(4) == 0) op.allowed = {"gpu0"};
      }
      graphs.emplace_back(name, std::move(operators),
                          std::vector<Edge>(graph.edges().begin(), graph.edges().end()),
                          graph.stage_cost());
    }
    const ServedModels served(
        std::move(graphs), test::random_topology(1 + random.below(3), 1, false, random), {1, 2, 3});
    Bytes all = 0;
    const Server first = served.server(0);  // outlives the loop over its sets
    for (const SharedSet& set : first.sets()) all += set.size_bytes;
    const Server server = served.server(all / 6 * random.below(8));
    expect_sound(served, server, plan_few(server, seed));
  }
}

// The memory of gpu0 holds what is kept or what a model needs, not both.
TEST(PlanServer, KeptParametersLeaveRoomForAllModels) {
  const ServedModels served(
      {served_chain("a", {{1, 4 * kServerMillion}}), served_chain("b", {{1, 5 * kServerMillion}})},
      served_platform({7 * kServerMillion}), {1, 1});
  const Server server = served.server(std::numeric_limits<Bytes>::max());
  const ServerResult result = plan_few(server);
  expect_sound(served, server, result);
  EXPECT_EQ(result.plans.front().keeping.all_bytes(), 0u);
  std::vector<std::string> names;
  for (const ServerPlan& plan : result.plans) names.push_back(plan.name);
  EXPECT_EQ(names, (std::vector<std::string>{"planned", "in order of use", "nothing"}));
}

TEST(PlanServer, DevicesOfUnlikeMemoryKeepUnlikeBytes) {
  const ServedModels served({served_chain("a", {{1, 2 * kServerMillion}, {1, 3 * kServerMillion}})},
                            served_platform({4 * kServerMillion, 0}), {1});
  const Server server = served.server(5 * kServerMillion);
  const ServerResult result = plan_few(server);
  expect_sound(served, server, result);
  EXPECT_NEAR(result.plans.front().expected_ms, 2, 1e-6);
}

TEST(PlanServer, IsTheSameForTheSameSeed) {
  const ServedModels served({served_chain("a", {{1, 4 * kServerMillion}, {2, 2 * kServerMillion}}),
                             served_chain("b", {{3, 3 * kServerMillion}, {1, 5 * kServerMillion}})},
                            served_platform({0, 0}), {2, 1});
  const Server server = served.server(4 * kServerMillion);
  const ServerResult first = plan_few(server, 5), again = plan_few(server, 5);
  EXPECT_TRUE(first.plans.front().keeping == again.plans.front().keeping);
  EXPECT_EQ(first.bound_ms, again.bound_ms);
  for (std::size_t m = 0; m < 2; ++m) {
    EXPECT_EQ(first.plans.front().models[m].schedule, again.plans.front().models[m].schedule);
  }
}

TEST(PlanServer, AnExpiredDeadlineEndsEverySearch) {
  const ServedModels served({served_chain("a", {{1, 4 * kServerMillion}, {2, 2 * kServerMillion}}),
                             served_chain("b", {{3, 3 * kServerMillion}})},
                            served_platform({0}), {2, 1});
  const Server server = served.server(4 * kServerMillion);
  ServerOptions options;
  options.exchanges = std::int64_t{1} << 40;
  Context context;
  context.deadline = Deadline([] { return true; });
  const ServerResult result = plan_server(server, options, context, built_in().all());
  EXPECT_TRUE(result.timed_out);
  expect_sound(served, server, result);
}

TEST(PlanServer, NamesTheModelThatCannotRun) {
  std::vector<Operator> operators(1);
  operators[0].name = "v0";
  operators[0].time_ms = 1;
  operators[0].has_time = true;
  operators[0].parameter_bytes = 9;
  const ServedModels served({served_chain("a", {{1, 4}}), Graph("b", std::move(operators), {})},
                            served_platform({8}), {1, 1});
  test::expect_error<InputError>([&] { plan_few(served.server(4)); }, {"model 'b': "});
}

}  // namespace
}  // namespace hios::scheduler::cold

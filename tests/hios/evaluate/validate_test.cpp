#include "hios/evaluate/validate.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/networks/mutations.h"
#include "support/oracles/slow_simulator.h"

namespace hios {
namespace {

using test::stage;

/// Expects exactly one finding, of this rule, whose text has all of these parts.
void expect_finding(const Graph& graph, const Platform& platform, const Schedule& schedule,
                    Rule rule, std::initializer_list<std::string_view> parts) {
  const auto findings = validate(graph, platform, schedule);
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.text.find('\n'), std::string::npos);
  }
  ASSERT_EQ(findings.size(), 1u) << (findings.empty() ? "nothing" : findings.back().text);
  EXPECT_EQ(findings[0].rule, rule) << findings[0].text;
  for (std::string_view part : parts) {
    EXPECT_NE(findings[0].text.find(part), std::string::npos)
        << "no '" << part << "' in: " << findings[0].text;
  }
}

Graph chain(std::size_t n) {
  std::vector<Operator> operators(n);
  std::vector<Edge> edges(n - 1);
  for (std::size_t i = 0; i < n; ++i) {
    operators[i].name = std::string("v").append(std::to_string(i + 1));
    operators[i].has_time = true;
    operators[i].time_ms = 1;
    if (i + 1 == n) continue;
    edges[i].from = OpId(i);
    edges[i].to = OpId(i + 1);
  }
  return Graph("chain", operators, edges);
}

TEST(Validate, AValidScheduleHasNoFindings) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 2, 0}, {1, 3, 0}, {2, 4, 0}, {3, 4, 0}});
  const Schedule schedule{{{stage({{1}}), stage({{2}, {3}}), stage({{4}})}, {}}};
  EXPECT_TRUE(validate(graph, test::devices(2, 2), schedule).empty());
}

TEST(Validate, DeviceCount) {
  expect_finding(test::small_graph({1}, {}), test::devices(2, 1), {{{stage({{1}})}}},
                 Rule::kDeviceCount, {"1 devices", "platform 2"});
}

TEST(Validate, MissingAndTwice) {
  const Graph graph = test::small_graph({1, 1}, {});
  const Platform one = test::devices(1, 2);
  expect_finding(graph, one, {{{stage({{1}})}}}, Rule::kMissing, {"v2"});
  expect_finding(graph, one, {{{stage({{1}}), stage({{2}, {1}})}}}, Rule::kTwice,
                 {"v1", "gpu0", "stage 0", "stage 1"});
}

TEST(Validate, EmptyStagesAndGroups) {
  const Graph graph = test::small_graph({1}, {});
  const Platform one = test::devices(1, 2);
  expect_finding(graph, one, {{{stage({{1}}), stage({})}}}, Rule::kEmptyStage, {"stage 1", "gpu0"});
  expect_finding(graph, one, {{{stage({{1}, {}})}}}, Rule::kEmptyStage, {"group 1", "stage 0"});
}

TEST(Validate, TooManyGroups) {
  const Graph graph = test::small_graph({1, 1, 1}, {});
  expect_finding(graph, test::devices(1, 2), {{{stage({{1}, {2}, {3}})}}}, Rule::kTooManyGroups,
                 {"stage 0", "3 groups", "v3", "2 streams"});
}

TEST(Validate, DependentGroupsByAnEdge) {
  const Graph graph = test::small_graph({1, 1}, {{1, 2, 0}, {1, 2, 0}});
  expect_finding(graph, test::devices(1, 2), {{{stage({{1}, {2}})}}}, Rule::kDependentGroups,
                 {"v2", "v1", "group 0", "group 1", "stage 0", "gpu0"});
}

TEST(Validate, DependentGroupsThroughOtherOperators) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 2, 0}, {2, 3, 0}, {3, 4, 0}});
  const Schedule schedule{{{stage({{1}, {4}})}, {stage({{2}}), stage({{3}})}}};
  expect_finding(graph, test::devices(2, 2), schedule, Rule::kDependentGroups,
                 {"v4", "v1", "through v3"});
}

TEST(Validate, AGroupThatWaitsForItselfThroughOtherOperators) {
  const Graph graph = test::small_graph({1, 1, 1}, {{1, 2, 0}, {2, 3, 0}});
  const Schedule schedule{{{stage({{1, 3}})}, {stage({{2}})}}};
  expect_finding(graph, test::devices(2, 2), schedule, Rule::kCycle, {"v3", "v1", "through v2"});
}

TEST(Validate, OrderInGroup) {
  const Graph graph = test::small_graph({1, 1, 1}, {{1, 2, 0}});
  expect_finding(graph, test::devices(1, 1), {{{stage({{2, 3, 1}})}}}, Rule::kOrderInGroup,
                 {"v2", "v1", "stage 0"});
}

TEST(Validate, AnOperatorBeforeItsInputOnOneDevice) {
  const Graph graph = test::small_graph({1, 1}, {{1, 2, 0}});
  expect_finding(graph, test::devices(1, 1), {{{stage({{2}}), stage({{1}})}}}, Rule::kCycle,
                 {"v2", "stage 0", "before its input v1", "stage 1"});
}

TEST(Validate, CyclicWaitBetweenDevices) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 2, 0}, {3, 4, 0}});
  const Schedule schedule{{{stage({{4}}), stage({{1}})}, {stage({{2}}), stage({{3}})}}};
  expect_finding(graph, test::devices(2, 1), schedule, Rule::kCycle,
                 {"cyclic wait", "v3 for v4", "v1 for v2", "comes after", "gpu0", "gpu1"});
}

TEST(Validate, CyclicWaitThroughStages) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 2, 0}, {3, 4, 0}});
  const Schedule schedule{{{stage({{1}, {4}})}, {stage({{2}, {3}})}}};
  expect_finding(graph, test::devices(2, 2), schedule, Rule::kCycle, {"cyclic wait"});
}

TEST(Validate, ListsEveryCycle) {
  const Graph graph = test::small_graph({1, 1, 1, 1}, {{1, 2, 0}, {3, 4, 0}});
  const Schedule schedule{{{stage({{2}}), stage({{1}})}, {stage({{4}}), stage({{3}})}}};
  EXPECT_EQ(validate(graph, test::devices(2, 1), schedule).size(), 2u);
}

TEST(Validate, Memory) {
  Operator a, b;
  a.name = "a";
  a.memory_bytes = 60;
  b.name = "b";
  b.parameter_bytes = 41;
  const Graph graph("g", {a, b}, {});
  const Platform platform({{"gpu0", "gpu", 0, 1, 100, ""}, {"gpu1", "gpu", 0, 1, 0, ""}});
  const Schedule both{{{stage({{1}}), stage({{2}})}, {}}};
  expect_finding(graph, platform, both, Rule::kMemory, {"b", "gpu0", "101", "100"});
  EXPECT_TRUE(validate(graph, platform, {{{stage({{1}})}, {stage({{2}})}}}).empty());
  EXPECT_TRUE(validate(graph, platform, {{{}, {stage({{1}}), stage({{2}})}}}).empty());
  b.parameter_bytes = 40;  // all of the device
  EXPECT_TRUE(validate(Graph("g", {a, b}, {}), platform, both).empty());
  b.parameter_bytes = ~Bytes{0};  // the sum does not wrap
  expect_finding(Graph("g", {a, b}, {}), platform, both, Rule::kMemory, {"b"});
}

TEST(Validate, NotAllowed) {
  Operator named, timed;
  named.name = "named";
  named.allowed = {"gpu0"};
  timed.name = "timed";
  timed.time_by_device = {{"gpu0", 1}, {"npu", 1}};
  const Graph graph("g", {named, timed}, {});
  const Platform platform = test::devices(2, 1);
  expect_finding(graph, platform, {{{stage({{2}})}, {stage({{1}})}}}, Rule::kNotAllowed,
                 {"named", "gpu1", "`allowed`"});
  expect_finding(graph, platform, {{{stage({{1}})}, {stage({{2}})}}}, Rule::kNotAllowed,
                 {"timed", "gpu1", "`time_ms`"});
  EXPECT_TRUE(validate(graph, platform, {{{stage({{1}}), stage({{2}})}, {}}}).empty());
}

TEST(Validate, Colocate) {
  Operator a, b;
  a.name = "a";
  b.name = "b";
  a.colocate = b.colocate = "pair";
  const Graph graph("g", {a, b}, {});
  expect_finding(graph, test::devices(2, 1), {{{stage({{1}})}, {stage({{2}})}}}, Rule::kColocate,
                 {"a", "b", "pair", "gpu0", "gpu1"});
}

/// The rules that remain once every operator is in the schedule once.
bool may_get_stuck(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.rule == Rule::kCycle || finding.rule == Rule::kDependentGroups ||
           finding.rule == Rule::kOrderInGroup;
  });
}

TEST(Validate, AgreesWithAnExecutorThatGetsStuck) {
  std::size_t stuck = 0, fine = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "stuck");
    const Graph graph = test::random_graph(2 + random.below(14), 0.25, {}, random);
    const Platform platform = test::devices(1 + random.below(3), 4);
    Schedule schedule = test::random_schedule(graph, platform, random);
    ASSERT_TRUE(validate(graph, platform, schedule).empty());
    ASSERT_TRUE(test::runs_to_its_end(graph, schedule));
    schedule = test::mutated(std::move(schedule), test::rearrangements(), 1 + seed % 3, random);
    const bool runs = test::runs_to_its_end(graph, schedule);
    EXPECT_NE(runs, may_get_stuck(validate(graph, platform, schedule)));
    ++(runs ? fine : stuck);
  }
  EXPECT_GT(stuck, 500u);
  EXPECT_GT(fine, 500u);
}

// Fifty thousand operators in every bad order: n² steps would take too long.
TEST(Validate, LargeSchedules) {
  const std::size_t n = 50'000;
  const Graph graph = chain(n);
  const Platform platform = test::devices(2, 4);
  Schedule good, backward, paired;
  good.devices.resize(2);
  backward.devices.resize(2);
  paired.devices.resize(2);
  for (std::size_t i = 0; i < n; ++i) {
    good.devices[i % 2].push_back({{{OpId(i)}}});
    backward.devices[0].push_back({{{OpId(n - 1 - i)}}});
    if (i < n / 2) paired.devices[i % 2].push_back({{{OpId(i)}, {OpId(n - 1 - i)}}});
  }
  EXPECT_TRUE(validate(graph, platform, good).empty());
  for (const Schedule& bad : {backward, paired}) {
    const auto findings = validate(graph, platform, bad);
    EXPECT_TRUE(may_get_stuck(findings));
    EXPECT_LT(findings.size(), 100u);
  }
}

}  // namespace
}  // namespace hios

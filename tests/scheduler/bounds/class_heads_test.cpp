#include "scheduler/bounds/classes/class_heads.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "hios/schedule/assignment.h"
#include "scheduler/bounds/classes/class_candidates.h"
#include "scheduler/bounds/graph/class_costs.h"
#include "scheduler/registry.h"
#include "support/graphs/dag_generator.h"
#include "support/sanitized.h"

// Heads by class on a fork by hand, and against the schedules of several algorithms: no operator is
// on a class that is excluded for their latency.

namespace hios::scheduler {
namespace {

/// The parts of a bound by classes, with windows of the whole schedule.
class ByClass {
 public:
  ByClass(const Graph& graph, const CostModel& model)
      : shares_(graph, model),
        allowed_(graph, model),
        graphs_(graph, shares_, allowed_),
        whole_(graphs_.whole()),
        costs_(class_costs(whole_, BoundContext{graph, model, shares_, allowed_, deadline_})),
        windows_{std::vector<double>(graph.size(), 0), std::vector<double>(graph.size(), 0)},
        heads_(costs_.value(), deadline_) {}

  const ClassCosts& costs() const { return *costs_; }
  ClassCandidates candidates() { return {whole_, *costs_, windows_, &heads_}; }
  ClassCandidates without() const { return {whole_, *costs_, windows_}; }
  /// Returns the operator's number in the graph of the bound.
  std::size_t number(OpId op) const {
    std::size_t v = 0;
    while (whole_.ops[v] != op) ++v;
    return v;
  }
  std::size_t class_of(DeviceId device) const {
    for (std::size_t k = 0; k < costs_->classes(); ++k) {
      for (const DeviceId one : costs_->devices[k]) {
        if (one == device) return k;
      }
    }
    return costs_->classes();
  }

 private:
  Deadline deadline_;
  Shares shares_;
  AllowedDevices allowed_;
  BoundGraphs graphs_;
  BoundGraph whole_;
  std::optional<ClassCosts> costs_;
  TimeWindows windows_;
  ClassHeads heads_;
};

Operator on_both(const char* name, double a_ms, double b_ms) {
  Operator op;
  op.name = name;
  op.time_by_device = {{"a", a_ms}, {"b", b_ms}};
  return op;
}

// Three operators of 4 ms follow a fork on device a; b is slow and far. They end there at 1 + 12,
// or one of them elsewhere at 1 + 10 + 9 + 10. On b the join waits for the least of both ways.
TEST(ClassHeads, CountOperatorsThatShareADevice) {
  std::vector<Operator> list{on_both("fork", 1, 50), on_both("x", 4, 9), on_both("y", 4, 9),
                             on_both("z", 4, 9), on_both("join", 1, 50)};
  std::vector<Edge> edges;
  for (std::size_t middle = 1; middle <= 3; ++middle) {
    edges.push_back(Edge{OpId(0), OpId(middle), 0, 10});
    edges.push_back(Edge{OpId(middle), OpId(4), 0, 10});
  }
  const Graph graph("fork", std::move(list), std::move(edges));
  const Platform platform({{"a", "a", 0, 1, 0, ""}, {"b", "b", 1, 1, 0, ""}});
  const CostModel model = CostModel::from_graph(graph, platform);
  ByClass parts(graph, model);
  const std::size_t join = parts.number(OpId(4)), a = parts.class_of(DeviceId(0)), b = 1 - a;
  ClassCandidates plain = parts.without(), narrowed = parts.candidates();
  ASSERT_TRUE(plain.narrow(1000));
  ASSERT_TRUE(narrowed.narrow(1000));
  EXPECT_DOUBLE_EQ(plain.head(join, a), 5);
  EXPECT_DOUBLE_EQ(narrowed.head(join, a), 13);
  EXPECT_DOUBLE_EQ(plain.head(join, b), 15);
  EXPECT_GE(narrowed.head(join, b), 15);
  const std::size_t fork = parts.number(OpId(0));
  EXPECT_DOUBLE_EQ(narrowed.tail(fork, a), 13);
  // With 14 ms nothing can be on b, and with less there is no schedule.
  ASSERT_TRUE(narrowed.narrow(14));
  EXPECT_FALSE(narrowed.may_be(join, b));
  EXPECT_FALSE(parts.candidates().narrow(13.9));
}

TEST(ClassHeads, ExcludeNoClassThatAScheduleUses) {
  const char* families[] = {"layered,layers=8",  "tree",     "cholesky",
                            "dense,density=0.2", "forkjoin", "chain,width=3"};
  std::size_t excluded = 0, excluded_without = 0;
  for (std::uint64_t seed = 0; seed < test::tries(48u); ++seed) {
    const std::string words = std::string("family=") + families[seed % 6] +
                              ",n=60,speeds=1x2:0.5x2:0.3,spread=" + (seed % 4 == 0 ? "0" : "0.6") +
                              (seed % 5 == 0 ? ",allowed=0.5,colocate=0.2" : "") +
                              ",seed=" + std::to_string(seed);
    SCOPED_TRACE(words);
    const RandomProblem made =
        random_problem(parse_random_dag(words), test::devices(5, 1 + static_cast<int>(seed % 3)));
    const CostModel model = CostModel::from_graph(made.graph, made.platform);
    ByClass parts(made.graph, model);
    for (const char* name : {"heft", "hios-lp", "peft"}) {
      const Algorithm& algorithm = built_in().find(name);
      const auto result = algorithm.run(Problem(model), Options(algorithm.options), {});
      ClassCandidates candidates = parts.candidates(), plain = parts.without();
      ASSERT_TRUE(candidates.narrow(result.latency_ms));
      ASSERT_TRUE(plain.narrow(result.latency_ms));
      const Assignment on(made.graph.size(), result.schedule);
      for (std::size_t i = 0; i < made.graph.size(); ++i) {
        const std::size_t v = parts.number(OpId(i));
        EXPECT_TRUE(candidates.may_be(v, parts.class_of(on[OpId(i)].device))) << name << ' ' << i;
        for (std::size_t k = 0; k < parts.costs().classes(); ++k) {
          EXPECT_LE(candidates.may_be(v, k), plain.may_be(v, k));
          excluded += !candidates.may_be(v, k);
          excluded_without += !plain.may_be(v, k);
        }
      }
    }
  }
  EXPECT_GT(excluded, excluded_without);
}

// A hub of many inputs and consumers takes no more work than others.
TEST(ClassHeads, LookAtAFewOperatorsOfAHub) {
  const std::size_t n = test::tries(20'000u);
  std::vector<Operator> list(2 * n + 1, on_both("", 1, 2));
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].name = std::string("v").append(std::to_string(i));
    if (i < n) edges.push_back(Edge{OpId(i), OpId(n), 0, 0.5});
    if (i > n) edges.push_back(Edge{OpId(n), OpId(i), 0, 0.5});
  }
  const Graph graph("hub", std::move(list), std::move(edges));
  const Platform platform({{"a", "a", 0, 1, 0, ""}, {"b", "b", 1, 1, 0, ""}});
  const CostModel model = CostModel::from_graph(graph, platform);
  ByClass parts(graph, model);
  ClassCandidates candidates = parts.candidates();
  ASSERT_TRUE(candidates.narrow(1e6));
  // Sixteen of the hub's inputs run on its device, or one of them sends from the other.
  const std::size_t hub = parts.number(OpId(n));
  EXPECT_GE(candidates.head(hub, parts.class_of(DeviceId(0))), 1.5);
  EXPECT_LE(candidates.head(hub, parts.class_of(DeviceId(0))), 16);
}

}  // namespace
}  // namespace hios::scheduler

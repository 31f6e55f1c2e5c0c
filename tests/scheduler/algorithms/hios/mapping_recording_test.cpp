#include "scheduler/algorithms/hios/mapping_recording.h"

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/list/priorities.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/plain_mapping_recording.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::v;

/// Runs Alg. 3 line by line as the paper prints it, for alike devices; returns its earliest finish
/// of v_n.
double as_printed(const Graph& graph, const CostModel& costs, std::size_t M) {
  const std::vector<OpId> order = priority_order(graph, costs);
  const std::size_t n = order.size();
  const auto position = positions(order);
  std::vector<std::vector<double>> t(n, std::vector<double>(M, kInfinity));
  std::vector<std::vector<std::size_t>> g(n, std::vector<std::size_t>(M, 0));
  t[0][0] = costs.operator_ms(order[0], DeviceId(0));
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t j = 0; j < std::min(M, i + 1); ++j) {
      for (std::size_t k = 0; k < std::min(M, i); ++k) {
        std::vector<std::size_t> device(i);
        std::vector<double> finish(i);
        for (std::size_t l = i, m = k; l-- > 0; m = g[l][m]) {
          finish[l] = t[l][m];
          device[l] = m;
        }
        double start = 0;
        for (std::size_t l = 0; l < i; ++l) {
          if (device[l] == j) start = std::max(start, finish[l]);
        }
        for (EdgeId e : graph.in_edges(order[i])) {
          const std::size_t u = position[graph.edge(e).from.index()];
          start = std::max(start, finish[u] + (device[u] == j ? 0 : *graph.edge(e).transfer_ms));
        }
        const double end = start + costs.operator_ms(order[i], DeviceId(0));
        if (t[i][j] > end) {
          t[i][j] = end;
          g[i][j] = k;
        }
      }
    }
  }
  return *std::min_element(t[n - 1].begin(), t[n - 1].end());
}

TEST(MappingRecording, IsThePrintedAlgorithmOnGraphsWithOneOutput) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "printed");
    const Graph inner = test::random_graph(14, 0.2, {}, random);
    std::vector<Operator> operators(inner.operators().begin(), inner.operators().end());
    std::vector<Edge> edges(inner.edges().begin(), inner.edges().end());
    Operator last = operators.front();
    last.name = "last";
    for (std::size_t i = 0; i < operators.size(); ++i) {
      Edge edge;
      edge.from = OpId(i);
      edge.to = OpId(operators.size());
      edge.transfer_ms = random.uniform();
      if (inner.out_edges(OpId(i)).empty()) edges.push_back(edge);
    }
    operators.push_back(last);
    const Graph graph("one output", operators, edges);
    const std::size_t M = 1 + seed % 4;
    const Platform platform = test::devices(M, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Schedule schedule = record_mappings(graph, costs).schedule;
    EXPECT_DOUBLE_EQ(simulate(graph, schedule, costs).latency_ms, as_printed(graph, costs, M));
  }
}

// v4 needs v1, which is not the operator before it in the order: looking at v_{i−1} only would miss
// the transfer.
TEST(MappingRecording, AllPredecessorsCount) {
  const Graph graph = test::small_graph({3, 3, 1}, {{1, 3, 10}, {2, 3, 0}});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule schedule = record_mappings(graph, costs).schedule;
  EXPECT_TRUE(validate(graph, platform, schedule).empty());
  EXPECT_EQ(simulate(graph, schedule, costs).latency_ms, 4) << "v3 must be where v1 is";
}

// The operator of least priority ends early here; the long one decides.
TEST(MappingRecording, CountsTheLatencyOfAllOutputs) {
  const Graph graph = test::small_graph({5, 5, 1}, {});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(simulate(graph, record_mappings(graph, costs).schedule, costs).latency_ms, 6);
}

// By line 22 as printed, the operator of least priority ends at 1 while both long ones share the
// other device.
TEST(MappingRecording, TheLastLineAsPrintedConsidersTheLastOperatorAlone) {
  const Graph graph = test::small_graph({5, 5, 1}, {});
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule schedule = record_mappings(graph, costs, {}, LastRow::kPaper).schedule;
  EXPECT_EQ(simulate(graph, schedule, costs).latency_ms, 10);
}

TEST(MappingRecording, TheLastLineAsPrintedIsThePrintedAlgorithm) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "printed, many outputs");
    const Graph graph = test::random_graph(2 + random.below(12), 0.3, {}, random);
    const std::size_t M = 1 + seed % 4;
    const Platform platform = test::devices(M, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Schedule schedule = record_mappings(graph, costs, {}, LastRow::kPaper).schedule;
    const OpId last = priority_order(graph, costs).back();
    const Timeline timeline = simulate(graph, schedule, costs);
    double end_ms = 0;
    for (std::size_t d = 0; d < M; ++d) {
      for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
        if (schedule.devices[d][s].groups[0][0] == last) end_ms = timeline.stages[d][s].end_ms;
      }
    }
    EXPECT_DOUBLE_EQ(end_ms, as_printed(graph, costs, M));
    EXPECT_EQ(schedule, test::plain_mappings(graph, costs, LastRow::kPaper));
  }
}

TEST(MappingRecording, MoreDevicesThanOperators) {
  const Graph graph = test::small_graph({1, 1}, {});
  const Platform platform = test::devices(5, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule schedule = record_mappings(graph, costs).schedule;
  EXPECT_EQ(schedule.devices.size(), 5u);
  EXPECT_EQ(simulate(graph, schedule, costs).latency_ms, 1);
}

TEST(MappingRecording, OutOfTimeStillGivesAValidSchedule) {
  Random random(1, "late");
  const Graph graph = test::random_graph(40, 0.1, {}, random);
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  for (int rows : {0, 1, 2, 20, 39}) {
    int left = rows;
    const TimedSchedule found =
        record_mappings(graph, costs, Deadline([&] { return left-- == 0; }));
    EXPECT_TRUE(found.timed_out);
    EXPECT_TRUE(validate(graph, platform, found.schedule).empty());
  }
}

}  // namespace
}  // namespace hios::scheduler

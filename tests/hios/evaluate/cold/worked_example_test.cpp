// The worked example of docs/formats.md, "Simulated cold starts".

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios {
namespace {

using test::d0;
using test::d1;
using test::stage;

constexpr Bytes kExampleMegabyte = 1000000;
constexpr OpId a(0), b(1), c(2);

Timeline timeline_of_the_example() {
  std::vector<Operator> operators(3);
  const std::vector<std::string> names = {"a", "b", "c"};
  const std::vector<double> times_ms = {1, 1, 2};
  const std::vector<Bytes> megabytes = {4, 2, 6};
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = names[i];
    operators[i].time_ms = times_ms[i];
    operators[i].has_time = true;
    operators[i].parameter_bytes = megabytes[i] * kExampleMegabyte;
  }
  const Graph graph("example", operators, {{a, c, 2 * kExampleMegabyte, {}}});
  const Platform alike = test::devices(2, 1);
  const StoreId main_memory(0);
  const std::vector<BusId> loads{BusId(0)}, tensors{BusId(1)};
  const Platform platform({alike.devices().begin(), alike.devices().end()},
                          {{"dram", "", StoreKind::kMemory}}, {{"loads", 2}, {"tensors", 4}},
                          {{main_memory, d0, loads, 0, 100},
                           {main_memory, d1, loads, 0, 100},
                           {d0, d1, tensors, 0, 100},
                           {d1, d0, tensors, 0, 100}});
  Schedule schedule{{{stage({{1}}), stage({{2}})}, {stage({{3}})}}};
  schedule.weights =
      Weights{{{{a, main_memory, d0}, {b, main_memory, d0}}, {{c, main_memory, d1}}}};
  return simulate(graph, schedule, CostModel::from_graph(graph, platform));
}

/// Returns the beginning of a row of the table.
std::string row(const std::string& event, double start_ms, double end_ms) {
  char text[128];
  std::snprintf(text, sizeof text, "\n| %s | %g | %g |", event.c_str(), start_ms, end_ms);
  return text;
}

TEST(SimulateFlows, GivesTheWorkedExampleOfThePage) {
  const Timeline timeline = timeline_of_the_example();
  std::stringstream page;
  page << std::ifstream(HIOS_SOURCE_DIR "/docs/formats.md").rdbuf();
  ASSERT_EQ(timeline.loads.size(), 3u);
  ASSERT_EQ(timeline.transfers.size(), 1u);
  std::vector<std::string> rows;
  const std::vector<std::string> loads = {"load of a", "load of b", "load of c"};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    rows.push_back(row(loads[i], timeline.loads[i].start_ms, timeline.loads[i].end_ms));
  }
  const auto add_stage = [&](const std::string& name, const StageTimes& times) {
    rows.push_back(row(name, times.start_ms, times.end_ms));
  };
  add_stage("a runs", timeline.stages[0][0]);
  rows.push_back(row("its tensor", timeline.transfers[0].start_ms, timeline.transfers[0].end_ms));
  add_stage("b runs", timeline.stages[0][1]);
  add_stage("c runs", timeline.stages[1][0]);
  for (const std::string& each : rows) {
    EXPECT_NE(page.str().find(each), std::string::npos) << "docs/formats.md lacks" << each;
  }
}

}  // namespace
}  // namespace hios

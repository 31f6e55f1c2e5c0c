// Part of tests/fuzz/checks.h: graphs and platforms.

#include <nlohmann/json.hpp>

#include "fuzz/judged.h"
#include "fuzz/reading.h"
#include "hios/graph/graph_json.h"
#include "hios/platform/platform_json.h"
#include "support/corpus.h"
#include "support/programs/temporary_folder.h"

namespace hios::test {
namespace {

Json graph_json(const Graph& graph) { return to_json(graph); }
Json platform_json(const Platform& platform) { return to_json(platform); }

void judge_on(const Graph& graph, const Platform& platform) {
  if (!is_small(graph)) return;
  try {
    const CostModel costs = CostModel::from_graph(graph, platform);
    judge_algorithms(graph, platform, costs);
  } catch (const InputError& error) {
    promise_a_line(error.what());  // an operator without a time on these devices, a missing link
  }
}

const Graph& good_graph() {
  static const Graph graph = [] {
    const Json json = read_json(corpus() / "graph_ok.json");
    return graph_from_json(JsonView(json, "graph_ok.json"));
  }();
  return graph;
}

}  // namespace

int check_graph(std::string_view bytes) {
  const auto graph = read_or_refuse(bytes, graph_from_json);
  if (!graph) return 0;
  promise_same_when_reread(*graph, graph_from_json, graph_json);
  promise(graph->topological().size() == graph->size(),
          "an operator is missing in the topological order");
  judge_on(*graph, Platform::homogeneous(2, "gpu", 0, 2));
  return 0;
}

int check_platform(std::string_view bytes) {
  const auto platform = read_or_refuse(bytes, platform_from_json);
  if (!platform) return 0;
  promise_same_when_reread(*platform, platform_from_json, platform_json);
  constexpr std::size_t kFewDevices = 6;
  if (platform->size() > kFewDevices) return 0;
  for (std::size_t a = 0; a < platform->size(); ++a) {
    for (std::size_t b = 0; b < platform->size(); ++b) {
      const auto link = platform->link(DeviceId(a), DeviceId(b));
      if (link) promise_a_time(link->transfer_ms(static_cast<Bytes>(kMaxBytes)), "a transfer");
    }
  }
  judge_on(good_graph(), *platform);
  return 0;
}

}  // namespace hios::test

#include "scheduler/cold/search/stage_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "hios/schedule/assignment.h"

namespace hios::scheduler::cold {

// Starts alone do not order stages that take no time, so it is Kahn's order with the earliest start
// first.
std::vector<PlacedStage> ordered_stages(const Graph& graph, const Schedule& schedule,
                                        const Timeline& timeline) {
  const Assignment assignment(graph.size(), schedule);
  std::vector<PlacedStage> stages;
  std::vector<double> start_ms;
  std::vector<std::vector<std::size_t>> after;
  std::vector<std::size_t> waits;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
      const std::size_t number = stages.size();
      stages.push_back({DeviceId(d), schedule.devices[d][s]});
      start_ms.push_back(timeline.stages[d][s].start_ms);
      waits.push_back(s > 0 ? 1 : 0);
      after.emplace_back();
      if (s > 0) after[number - 1].push_back(number);
    }
  }
  for (const Edge& edge : graph.edges()) {
    const std::size_t from = assignment.stage_number(edge.from);
    const std::size_t to = assignment.stage_number(edge.to);
    if (from == to) continue;
    after[from].push_back(to);
    ++waits[to];
  }
  using Ready = std::pair<double, std::size_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (waits[s] == 0) ready.emplace(start_ms[s], s);
  }
  std::vector<PlacedStage> ordered;
  while (!ready.empty()) {
    const std::size_t stage = ready.top().second;
    ready.pop();
    ordered.push_back(std::move(stages[stage]));
    for (const std::size_t next : after[stage]) {
      if (--waits[next] == 0) ready.emplace(start_ms[next], next);
    }
  }
  return ordered;
}

Window window_of(const Graph& graph, const std::vector<PlacedStage>& stages,
                 const std::vector<std::size_t>& position, std::size_t at) {
  Window window{0, stages.size() - 1};
  for (const Group& group : stages[at].stage.groups) {
    for (const OpId op : group) {
      for (const EdgeId e : graph.in_edges(op)) {
        const std::size_t before = position[graph.edge(e).from.index()];
        if (before != at) window.first = std::max(window.first, before + 1);
      }
      for (const EdgeId e : graph.out_edges(op)) {
        const std::size_t next = position[graph.edge(e).to.index()];
        if (next != at) window.last = std::min(window.last, next - 1);
      }
    }
  }
  return window;
}

}  // namespace hios::scheduler::cold

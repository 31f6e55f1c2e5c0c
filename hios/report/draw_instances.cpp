#include "hios/report/draw_instances.h"

#include <string>

namespace hios {

void draw_instances(const Graph& graph, const Schedule& schedule,
                    const std::vector<InstanceStage>& stages, Trace& trace) {
  constexpr double kShortestWaitMs = 0.005;  // shorter ones would only blur the picture
  const std::string process = "in flight";
  for (const InstanceStage& each : stages) {
    const std::string lane = "rank " + std::to_string(each.rank);
    const Stage& stage = schedule.devices[each.rank % schedule.devices.size()][each.stage];
    std::string name;
    for (const Group& group : stage.groups) {
      for (const OpId op : group) name += (name.empty() ? "" : " + ") + graph.op(op).name;
    }
    if (each.start_ms - each.awaited_ms > kShortestWaitMs)
      trace.slice(process, lane, "waiting", each.awaited_ms, each.start_ms);
    trace.slice(process, lane, std::to_string(each.instance) + ": " + name, each.start_ms,
                each.end_ms, {{"instance", each.instance}, {"stage", each.stage}});
  }
}

}  // namespace hios

#include "hios/report/draw_inferences.h"

#include <nlohmann/json.hpp>
#include <string>

namespace hios {

void draw_inferences(const Graph& graph, const Schedule& schedule,
                     const std::vector<InferenceStage>& stages, Trace& trace) {
  constexpr double kShortestWaitMs = 0.005;  // shorter ones would clutter the picture
  const std::string process = "in flight";
  for (const InferenceStage& each : stages) {
    const std::string lane = "rank " + std::to_string(each.rank);
    const Stage& stage = schedule.devices[each.rank % schedule.devices.size()][each.stage];
    std::string name;
    for (const Group& group : stage.groups) {
      for (const OpId op : group) name += (name.empty() ? "" : " + ") + graph.op(op).name;
    }
    if (each.start_ms - each.awaited_ms > kShortestWaitMs)
      trace.slice(process, lane, "waiting", each.awaited_ms, each.start_ms);
    trace.slice(process, lane, std::to_string(each.inference) + ": " + name, each.start_ms,
                each.end_ms, Json{{"inference", each.inference}, {"stage", each.stage}});
  }
}

}  // namespace hios

#include "hios/report/why.h"

#include <nlohmann/json.hpp>

namespace hios {
namespace {

Json names_json(const std::vector<OpId>& operators, const Graph& graph) {
  Json names = Json::array();
  for (const OpId op : operators) names.push_back(graph.op(op).name);
  return names;
}

Json chain_json(const CriticalChain& chain, const Graph& graph) {
  Json transfers = Json::array();
  for (const ChainTransfer& each : chain.transfers) {
    transfers.push_back({{"operator", graph.op(each.producer).name},
                         {"from", each.from.index()},
                         {"to", each.to.index()},
                         {"ms", each.ms}});
  }
  Json json = {{"stages", chain.stages},
               {"stages_ms", chain.stages_ms},
               {"transfers_ms", chain.transfers_ms},
               {"other_ms", chain.other_ms},
               {"transfers", std::move(transfers)}};
  if (chain.loads.empty()) return json;
  json["loads_ms"] = chain.loads_ms;
  for (const ChainLoad& each : chain.loads) {
    json["loads"].push_back({{"operator", graph.op(each.of).name},
                             {"to", each.to.index()},
                             {"lane", each.lane},
                             {"ms", each.ms}});
  }
  return json;
}

void add_limits(Json& json, const Limits& limits, const Graph& graph) {
  json["limit"] = to_string(limits.limit);
  json["longest_path"] = {{"ms", limits.path.ms},
                          {"share_of_work", limits.path_share()},
                          {"operators", names_json(limits.path.operators, graph)}};
  json["work_ms"] = limits.work_ms;
  json["critical_chain"] = chain_json(limits.chain, graph);
  json["busiest"] = {{"device", limits.busiest.index()}, {"busy_share", limits.busy_share}};
}

Json devices_json(const Why& why, const Graph& graph) {
  Json devices = Json::array();
  for (std::size_t d = 0; d < why.times.size(); ++d) {
    const DeviceTimes& times = why.times[d];
    Json waits = Json::array();
    for (const WaitsFor& each : waits_by_device(times)) {
      waits.push_back({{"for", each.from.index()},
                       {"ms", each.ms},
                       {"operators", names_json(each.producers, graph)}});
    }
    devices.push_back({{"name", why.devices[d]},
                       {"busy_ms", times.busy_ms},
                       {"waiting_ms", times.waiting_ms()},
                       {"idle_ms", times.idle_ms},
                       {"waits", std::move(waits)}});
    for (const WaitsForLane& each : waits_by_lane(times)) {
      devices.back()["load_waits"].push_back(
          {{"lane", each.lane}, {"ms", each.ms}, {"operators", names_json(each.operators, graph)}});
    }
  }
  return devices;
}

Json gains_json(const Gains& gains) {
  Json list = Json::array();
  for (const Gain& gain : gains.gains) {
    list.push_back({{"devices", gain.devices},
                    {"at_most", gains.most(gain)},
                    {"lower_bound_ms", gain.bound_ms},
                    {"bound", gain.bound}});
  }
  return {{"like", gains.like.index()},
          {"one_ms", gains.one_ms},
          {"quick", gains.quick},
          {"bounds", std::move(list)}};
}

}  // namespace

Json to_json(const Why& why, const Graph& graph) {
  Json json = {{"algorithm", why.algorithm},
               {"measured", why.measured},
               {"latency_ms", why.latency_ms},
               {"sentences", sentences(why, graph)}};
  if (why.limits) add_limits(json, *why.limits, graph);
  json["devices"] = devices_json(why, graph);
  if (why.gains) json["gains"] = gains_json(*why.gains);
  if (why.threads) {
    json["more_threads"] = {{"threads", why.threads->threads},
                            {"sequential_ms", why.threads->sequential_ms}};
  }
  return json;
}

}  // namespace hios

#include "engine/emulated/planned_flows.h"

#include <algorithm>
#include <tuple>

#include "hios/graph/parameters.h"
#include "hios/schedule/assignment.h"

namespace hios::emulated {
namespace {

Flow flow_over(const Topology& topology, const Holder& from, DeviceId to, Bytes size_bytes) {
  const Route& route = topology.route(topology.find(from, to).value());
  Flow flow{{}, route.latency_ms, route.gb_per_s * kBytesPerMsOfGb, size_bytes};
  for (const BusId bus : route.over) flow.buses.push_back(bus.index());
  return flow;
}

}  // namespace

PlannedFlows::PlannedFlows(const Machine& machine, const CostModel& costs,
                           const Schedule& schedule) {
  if (schedule.weights) {
    add_loads(machine, *schedule.weights);
    add_reads(machine, schedule);
  }
  add_messages(machine, costs, schedule);
}

void PlannedFlows::add_loads(const Machine& machine, const Weights& weights) {
  const ParameterSets sets(machine.graph);
  for (const Lane& lane : weights.lanes) {
    first_of_lane_.push_back(flows_.size());
    for (const Load& load : lane) {
      const auto set = sets.of(load.of);
      const Bytes size_bytes = set ? sets.sets()[*set].size_bytes : 0;
      flows_.push_back(flow_over(*machine.platform.topology(), load.from, load.to, size_bytes));
    }
  }
}

// The flow's own limit makes an undisturbed read as long as the graph says.
void PlannedFlows::add_reads(const Machine& machine, const Schedule& schedule) {
  const Assignment assignment(machine.graph.size(), schedule);
  for (const ReadInPlace& read : schedule.weights->in_place) {
    const Operator& op = machine.graph.op(read.of);
    if (op.parameter_bytes == 0) continue;  // it runs as any other
    const DeviceId here = assignment[read.of].device;
    const double ms = in_place_ms(op, machine.platform.device(here)).value();
    Flow flow = flow_over(*machine.platform.topology(), read.from, here, in_place_bytes(op));
    if (flow.size_bytes == 0) {
      flow.latency_ms = std::max(flow.latency_ms, ms);
    } else if (ms > flow.latency_ms) {
      flow.most_bytes_per_ms = std::min(
          flow.most_bytes_per_ms, static_cast<double>(flow.size_bytes) / (ms - flow.latency_ms));
    }
    reads_.emplace(read.of, flows_.size());
    flows_.push_back(std::move(flow));
  }
}

// The edge with the longest time alone decides, where several lead to one device.
void PlannedFlows::add_messages(const Machine& machine, const CostModel& costs,
                                const Schedule& schedule) {
  const Graph& graph = machine.graph;
  const Assignment assignment(graph.size(), schedule);
  std::map<std::pair<OpId, DeviceId>, EdgeId> slowest;
  std::map<std::pair<OpId, DeviceId>, ByteRange> read;  // from the first byte to the last
  for (std::size_t e = 0; e < graph.edge_count(); ++e) {
    const Edge& edge = graph.edge(EdgeId(e));
    const DeviceId from = assignment[edge.from].device, to = assignment[edge.to].device;
    if (from == to) continue;
    const auto cost = [&](EdgeId id) {
      return std::tuple(costs.link_ms(id, from, to), graph.edge(id).size_bytes);
    };
    const auto [known, is_new] = slowest.try_emplace({edge.from, to}, EdgeId(e));
    if (!is_new && cost(EdgeId(e)) > cost(known->second)) known->second = EdgeId(e);
    const auto bytes = read.try_emplace({edge.from, to}, edge.read()).first;
    bytes->second = hull(bytes->second, edge.read());
  }
  for (const auto& [message, id] : slowest) {
    const auto& [producer, to] = message;
    const DeviceId from = assignment[producer].device;
    const Bytes size_bytes =
        costs.sends_ranges(producer) ? read.at(message).size() : graph.edge(id).size_bytes;
    Flow flow;
    if (const auto own_ms = costs.own_transfer_ms(id, from, to)) {
      flow.latency_ms = *own_ms;  // the graph's own time uses no bus
    } else {
      flow = flow_over(*machine.platform.topology(), from, to, size_bytes);
    }
    messages_.emplace(message, flows_.size());
    flows_.push_back(std::move(flow));
  }
}

std::optional<std::size_t> PlannedFlows::message(OpId producer, DeviceId to) const {
  const auto found = messages_.find({producer, to});
  return found == messages_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> PlannedFlows::read(OpId op) const {
  const auto found = reads_.find(op);
  return found == reads_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace hios::emulated

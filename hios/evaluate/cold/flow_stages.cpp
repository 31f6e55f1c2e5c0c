#include "hios/evaluate/cold/flow_stages.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "hios/base/error.h"

namespace hios {
namespace {

/// Makes the plan of a schedule, in linear time but for sorting.
class FlowPlanner {
 public:
  FlowPlanner(const Graph& graph, const Schedule& schedule, const CostModel& costs,
              const ParameterSets* sets)
      : graph_(graph),
        schedule_(schedule),
        costs_(costs),
        topology_(*costs.platform().topology()),
        sets_(sets),
        assignment_(graph.size(), schedule),
        in_place_(graph.size()) {
    if (!assignment_.is_complete()) {
      throw std::logic_error("simulate: an operator is missing from the schedule or in it twice");
    }
  }

  FlowPlan plan() {
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      plan_.stage_of.push_back(assignment_.stage_number(OpId(v)));
    }
    if (sets_) {
      for (const ReadInPlace& read : schedule_.weights->in_place) {
        if (sets_->of(read.of)) in_place_[read.of.index()] = read.from;
      }
    }
    for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
      plan_.first.push_back(plan_.stages.size());
      for (std::size_t s = 0; s < schedule_.devices[d].size(); ++s) add_stage(DeviceId(d), s);
    }
    for (std::size_t v = 0; v < graph_.size(); ++v) add_outputs(OpId(v));
    if (sets_) add_evictions();
    return std::move(plan_);
  }

 private:
  void add_stage(DeviceId device, std::size_t index) {
    const Stage& stage = schedule_.devices[device.index()][index];
    FlowStage planned{.device = device, .index = index, .waits = index > 0 ? 1u : 0u};
    for (const Group& group : stage.groups) {
      for (const OpId op : group) {
        if (const auto& store = in_place_[op.index()]) {
          if (stage.groups.size() > 1 || group.size() > 1) {
            refuse(op, "is read in place, and is not alone in its stage");
          }
          planned.read = read_in_place(op, *store, device);
          planned.cost_ms = *in_place_ms(graph_.op(op), costs_.platform().device(device));
        } else if (const auto set = sets_ ? sets_->of(op) : std::nullopt) {
          planned.sets.push_back(*set);
        }
      }
    }
    std::ranges::sort(planned.sets);
    planned.sets.erase(std::unique(planned.sets.begin(), planned.sets.end()), planned.sets.end());
    if (!planned.read) {
      const StageCost cost = costs_.stage(stage, device);
      planned.cost_ms = cost.ms;
      plan_.estimated += !cost.measured;
    }
    plan_.stages.push_back(std::move(planned));
  }

  /// Returns the flow of an operator that reads its parameters in place. Its own limit makes it as
  /// long as in_place_ms; the route may be slower.
  Flows::Flow read_in_place(OpId id, StoreId store, DeviceId device) const {
    const Operator& op = graph_.op(id);
    const auto ms = in_place_ms(op, costs_.platform().device(device));
    if (!ms) refuse(id, "has no in_place_ms for its device");
    const Route& route = route_to(store, device, id);
    const auto bytes = static_cast<double>(in_place_bytes(op));
    Flows::Flow flow{route.over, route.latency_ms, route.gb_per_s, bytes};
    if (bytes == 0) {
      flow.latency_ms = std::max(route.latency_ms, *ms);
    } else if (*ms > route.latency_ms) {
      flow.gb_per_s = std::min(route.gb_per_s, bytes / ((*ms - route.latency_ms) * 1e6));
    }
    return flow;
  }

  const Route& route_to(const Holder& from, DeviceId to, OpId op) const {
    const auto route = topology_.find(from, to);
    if (!route) {
      refuse(op, "needs a route to '" + printable(costs_.platform().device(to).name) +
                     "', which is missing");
    }
    return topology_.route(*route);
  }

  [[noreturn]] void refuse(OpId op, const std::string& reason) const {
    throw std::logic_error("simulate: '" + printable(graph_.op(op).name) + "' " + reason);
  }

  void add_outputs(OpId op) {
    const std::size_t from = plan_.stage_of[op.index()];
    const DeviceId device = plan_.stages[from].device;
    const std::size_t first = plan_.messages.size();
    for (const EdgeId e : graph_.out_edges(op)) {
      const std::size_t to = plan_.stage_of[graph_.edge(e).to.index()];
      if (to == from) continue;
      ++plan_.stages[to].waits;
      if (plan_.stages[to].device == device) {
        plan_.stages[from].consumers.push_back(to);
      } else {
        add_to_message(op, e, plan_.stages[to].device, first);
      }
    }
    const auto begin = plan_.messages.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, plan_.messages.end(),
              [](const FlowMessage& a, const FlowMessage& b) { return a.to < b.to; });
    for (std::size_t m = first; m < plan_.messages.size(); ++m) {
      set_flow(plan_.messages[m]);
      plan_.stages[from].messages.push_back(m);
      plan_.stages[first_reader(plan_.messages[m])].receives.push_back(m);
    }
  }

  /// Returns the first stage of the message's device that reads it.
  std::size_t first_reader(const FlowMessage& message) const {
    std::size_t first = plan_.stages.size();
    for (const EdgeId e : graph_.out_edges(message.producer)) {
      const std::size_t stage = plan_.stage_of[graph_.edge(e).to.index()];
      if (plan_.stages[stage].device == message.to) first = std::min(first, stage);
    }
    return first;
  }

  void add_to_message(OpId producer, EdgeId edge, DeviceId to, std::size_t first) {
    const DeviceId from = plan_.stages[plan_.stage_of[producer.index()]].device;
    // The longest time first: costs and bounds count each edge's own.
    const auto size = [&](EdgeId e) {
      return std::pair(costs_.link_ms(e, from, to), graph_.edge(e).size_bytes);
    };
    std::size_t m = first;
    while (m < plan_.messages.size() && plan_.messages[m].to != to) ++m;
    if (m == plan_.messages.size()) {
      plan_.messages.push_back({producer, from, to, edge, graph_.edge(edge).read(), {}, 0});
    } else if (size(edge) > size(plan_.messages[m].edge)) {
      plan_.messages[m].edge = edge;
    }
    ByteRange& bytes = plan_.messages[m].bytes;
    bytes = costs_.sends_ranges(producer) ? hull(bytes, graph_.edge(edge).read())
                                          : graph_.edge(plan_.messages[m].edge).read();
  }

  void set_flow(FlowMessage& message) const {
    const DeviceId from = message.from, to = message.to;
    message.least_ms = costs_.link_ms(message.edge, from, to);
    if (const auto own_ms = costs_.own_transfer_ms(message.edge, from, to)) {
      message.flow.latency_ms = *own_ms;
      return;
    }
    const Route& route = route_to(from, to, message.producer);
    message.flow = {route.over, route.latency_ms, route.gb_per_s,
                    static_cast<double>(message.bytes.size())};
    if (costs_.sends_ranges(message.producer)) {
      message.least_ms = costs_.message_ms(message.bytes.size(), from, to) - costs_.launch_ms(to);
    }
  }

  void add_evictions() {
    for (const Eviction& eviction : schedule_.weights->evictions) {
      const auto set = sets_->of(eviction.of);
      if (!set) refuse(eviction.of, "is evicted, and has no parameters");
      FlowStage& stage = plan_.stages[plan_.stage_of[eviction.after.index()]];
      if (stage.device != eviction.from) refuse(eviction.after, "runs on another device");
      if (std::ranges::count(stage.evicted, *set) == 0) stage.evicted.push_back(*set);
    }
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const CostModel& costs_;
  const Topology& topology_;
  const ParameterSets* sets_;
  const Assignment assignment_;
  std::vector<std::optional<StoreId>> in_place_;  // by operator
  FlowPlan plan_;
};

}  // namespace

FlowPlan plan_flow_stages(const Graph& graph, const Schedule& schedule, const CostModel& costs,
                          const ParameterSets* sets) {
  return FlowPlanner(graph, schedule, costs, sets).plan();
}

}  // namespace hios

#include "hios/evaluate/simulate.h"

#include <algorithm>
#include <stdexcept>

#include "hios/evaluate/cold/simulate_flows.h"
#include "hios/evaluate/message_run.h"
#include "hios/schedule/assignment.h"

// The stage graph has a node for each stage, an arc for every dependency between stages, and an arc
// from each stage to the next on its device. Nodes are visited in Kahn's order, each after all that
// it waits for, so each edge is visited once. Tests: an independent fixpoint simulator in
// tests/hios/evaluate/simulate_test.cpp, and every schedule of the oracle's tests.

namespace hios {
namespace {

struct WaitingStage {
  DeviceId device;
  std::size_t stage = 0;
  std::size_t waits = 0;  ///< arcs from stages that have not ended
};

class Simulation {
 public:
  Simulation(const Graph& graph, const Schedule& schedule, const CostModel& costs)
      : graph_(graph), schedule_(schedule), costs_(costs), assignment_(graph.size(), schedule) {
    list_nodes();
    count_waits();
  }

  Timeline run() {
    std::vector<std::size_t> ready;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].waits == 0) ready.push_back(n);
    }
    std::size_t done = 0;
    for (; !ready.empty(); ++done) {
      const std::size_t node = ready.back();
      ready.pop_back();
      time_stage(node);
      release(node, ready);
    }
    if (done != nodes_.size()) throw std::logic_error("simulate: the schedule waits in a cycle");
    list_transfers();
    return std::move(timeline_);
  }

 private:
  void list_nodes() {
    if (!assignment_.is_complete()) {
      throw std::logic_error("simulate: an operator is missing from the schedule or in it twice");
    }
    nodes_.reserve(assignment_.stage_count());
    for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
      const std::size_t stages = schedule_.devices[d].size();
      timeline_.stages.emplace_back(stages);
      for (std::size_t s = 0; s < stages; ++s) nodes_.push_back({DeviceId(d), s, s > 0 ? 1u : 0u});
    }
  }

  std::size_t node_of(OpId op) const { return assignment_.stage_number(op); }

  void count_waits() {
    for (const Edge& edge : graph_.edges()) {
      const std::size_t to = node_of(edge.to);
      if (node_of(edge.from) != to) ++nodes_[to].waits;
    }
  }

  template <class Visit>
  void for_each_operator(std::size_t node, Visit visit) const {
    const Stage& stage = schedule_.devices[nodes_[node].device.index()][nodes_[node].stage];
    for (const Group& group : stage.groups) {
      for (OpId op : group) visit(op);
    }
  }

  StageTimes& times(std::size_t node) {
    return timeline_.stages[nodes_[node].device.index()][nodes_[node].stage];
  }

  void time_stage(std::size_t node) {
    const DeviceId device = nodes_[node].device;
    StageTimes& own = times(node);
    for_each_operator(node, [&](OpId op) {
      for (EdgeId e : graph_.in_edges(op)) {
        const std::size_t producer = node_of(graph_.edge(e).from);
        if (producer == node) continue;
        const double there =
            times(producer).end_ms + costs_.transfer_ms(e, nodes_[producer].device, device);
        own.ready_ms = std::max(own.ready_ms, there);
      }
    });
    const bool first = nodes_[node].stage == 0;
    own.awaited_ms = first ? costs_.launch_ms(device) : times(node - 1).end_ms;
    own.start_ms = std::max(own.ready_ms, own.awaited_ms);
    const StageCost cost =
        costs_.stage(schedule_.devices[device.index()][nodes_[node].stage], device);
    own.end_ms = own.start_ms + cost.ms;
    if (!cost.measured) ++timeline_.estimated_stages;
    timeline_.latency_ms = std::max(timeline_.latency_ms, own.end_ms);
  }

  void release(std::size_t node, std::vector<std::size_t>& ready) {
    const auto arrived = [&](std::size_t next) {
      if (--nodes_[next].waits == 0) ready.push_back(next);
    };
    for_each_operator(node, [&](OpId op) {
      for (EdgeId e : graph_.out_edges(op)) {
        const std::size_t consumer = node_of(graph_.edge(e).to);
        if (consumer != node) arrived(consumer);
      }
    });
    const bool last =
        nodes_[node].stage + 1 == timeline_.stages[nodes_[node].device.index()].size();
    if (!last) arrived(node + 1);
  }

  void list_transfers() {
    for (std::size_t i = 0; i < graph_.size(); ++i) list_transfers_of(OpId(i));
    sort_transfers(timeline_.transfers);
  }

  void list_transfers_of(OpId producer) {
    const std::size_t node = node_of(producer);
    const DeviceId from = nodes_[node].device;
    const double start = times(node).end_ms;
    const std::size_t first = timeline_.transfers.size();
    for (EdgeId e : graph_.out_edges(producer)) {
      const DeviceId to = nodes_[node_of(graph_.edge(e).to)].device;
      if (to == from) continue;
      const double end = start + costs_.link_ms(e, from, to);
      const auto sent = std::find_if(timeline_.transfers.begin() + static_cast<long>(first),
                                     timeline_.transfers.end(),
                                     [to](const TransferTimes& t) { return t.to == to; });
      if (sent != timeline_.transfers.end()) {
        sent->end_ms = std::max(sent->end_ms, end);
        sent->size_bytes = std::max(sent->size_bytes, graph_.edge(e).size_bytes);
      } else {
        timeline_.transfers.push_back({producer, from, to, start, end, graph_.edge(e).size_bytes});
      }
    }
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const CostModel& costs_;
  const Assignment assignment_;
  std::vector<WaitingStage> nodes_;  // by number of the stage
  Timeline timeline_;
};

}  // namespace

Timeline simulate(const Graph& graph, const Schedule& schedule, const CostModel& costs) {
  if (costs.platform().topology()) return simulate_flows(graph, schedule, costs);
  return costs.messages_matter() ? simulate_messages(graph, schedule, costs)
                                 : Simulation(graph, schedule, costs).run();
}

}  // namespace hios

#include "scheduler/cold/sortinghat/planned_submodels.h"

#include <algorithm>
#include <set>

#include "scheduler/structures/saturating_sum.h"

// The state between two submodels (Table 1: PrevDTFin, PrevSGFin, PrevM, FixedNodes), by the MILP's
// own times, and the schedule that the solutions become:
//  - The operators of a device run one by one: subgraph by subgraph, within one in topological
//    order. A subgraph of the MILP starts when all that it needs is there; here each operator waits
//    for its own inputs and parameters.
//  - Each bus is a lane, which loads for one device at a time: submodel by submodel, subgraph by
//    subgraph in the MILP's round-robin order, within one in the order of use.
//  - (21) and (22) put copies from other devices, those of parameters too, inside the subgraph of
//    the receiver. Here copied parameters are lanes, one for each pair of devices, in the order in
//    which the receiver needs them: they travel while it computes. Tensors travel when they are
//    ready, as in every schedule. A set is copied to a device once, though the MILP counts it again
//    in every subgraph that reads it.
// Lanes of copies wait for lanes of buses only, and these for nothing: there is no deadlock.

namespace hios::scheduler::sortinghat {

PlannedSubmodels::PlannedSubmodels(const Graph& graph, const CostModel& costs, const Paths& paths,
                                   std::size_t subgraphs_per_device)
    : graph_(graph),
      costs_(costs),
      paths_(paths),
      subgraphs_per_device_(subgraphs_per_device),
      sets_(graph),
      operators_(graph.size()),
      loaded_(sets_.sets().size()),
      order_(costs.platform().size()),
      bus_free_ms_(paths.buses(), 0),
      used_bytes_(costs.platform().size(), 0) {
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    device_free_ms_.push_back(costs.launch_ms(DeviceId(d)));
  }
}

SubmodelProblem PlannedSubmodels::next(const std::vector<OpId>& operators) const {
  SubmodelProblem problem;
  problem.devices = costs_.platform().size();
  problem.subgraphs_per_device = subgraphs_per_device_;
  add_operators(problem, operators);
  add_edges(problem, operators);
  add_state(problem);
  return problem;
}

/// Adds operators and parameters, and as placeholders the parameters that are loaded.
void PlannedSubmodels::add_operators(SubmodelProblem& problem,
                                     const std::vector<OpId>& operators) const {
  std::map<std::size_t, std::size_t> nodes;  // by set
  std::vector<std::size_t> loaded;
  for (const OpId op : operators) {
    const auto set = sets_.of(op);
    if (!set || !nodes.emplace(*set, 0).second) continue;
    if (loaded_[*set]) {
      loaded.push_back(*set);
    } else {
      problem.parameters.push_back({*set, paths_.load_ms(sets_.sets()[*set].size_bytes)});
    }
  }
  std::size_t node = operators.size();
  for (const OpId op : operators) {
    problem.bytes.push_back(graph_.op(op).memory_bytes);
    problem.copy_ms.push_back(
        paths_.copy_ms({graph_.out_edges(op).begin(), graph_.out_edges(op).end()}));
  }
  const auto add_set = [&](std::size_t set) {
    nodes[set] = node++;
    problem.bytes.push_back(sets_.sets()[set].size_bytes);
    problem.copy_ms.push_back(paths_.copy_ms(sets_.sets()[set].size_bytes));
  };
  for (const auto& parameters : problem.parameters) add_set(parameters.set);
  for (const std::size_t set : loaded) {
    add_set(set);
    problem.fixed.push_back({loaded_[set]->device, loaded_[set]->finish_ms, true});
  }
  for (const OpId op : operators) {
    const auto set = sets_.of(op);
    problem.operators.push_back({op, paths_.loaded_ms(op), paths_.in_place_ms(op),
                                 set ? std::optional(nodes[*set]) : std::nullopt,
                                 graph_.op(op).colocate});
  }
}

/// Adds edges, by their ends in topological order, and as placeholders the producers of tensors
/// from earlier submodels.
void PlannedSubmodels::add_edges(SubmodelProblem& problem,
                                 const std::vector<OpId>& operators) const {
  std::map<OpId, std::size_t> nodes;
  for (std::size_t v = 0; v < operators.size(); ++v) nodes[operators[v]] = v;
  for (std::size_t v = 0; v < operators.size(); ++v) {
    std::set<std::size_t> from;
    if (const auto& reads = problem.operators[v].reads) from.insert(*reads);
    for (const EdgeId e : graph_.in_edges(operators[v])) {
      const OpId producer = graph_.edge(e).from;
      if (!nodes.contains(producer) && !operators_[producer.index()]) continue;
      const auto [known, added] = nodes.emplace(producer, problem.nodes());
      from.insert(known->second);
      if (!added) continue;
      const FixedAt& fixed = *operators_[producer.index()];
      problem.fixed.push_back({fixed.device, fixed.finish_ms, false});
      problem.bytes.push_back(graph_.op(producer).memory_bytes);
      problem.copy_ms.push_back(
          paths_.copy_ms({graph_.out_edges(producer).begin(), graph_.out_edges(producer).end()}));
    }
    for (const std::size_t node : from) problem.edges.emplace_back(node, v);
  }
}

void PlannedSubmodels::add_state(SubmodelProblem& problem) const {
  problem.bus_of = paths_.bus_of();
  problem.bus_free_ms = bus_free_ms_;
  problem.device_free_ms = device_free_ms_;
  for (std::size_t d = 0; d < problem.devices; ++d) {
    problem.room_bytes.emplace_back();
    const Bytes memory = costs_.platform().device(DeviceId(d)).memory_bytes;
    if (memory > 0) problem.room_bytes.back() = memory - std::min(memory, used_bytes_[d]);
  }
  problem.label_on.assign(labels_.begin(), labels_.end());
}

void PlannedSubmodels::fix(const SubmodelProblem& problem, const SubmodelAssignment& assignment,
                           const SubmodelTimes& times) {
  fix_operators(problem, assignment, times);
  fix_loads(problem, assignment, times);
  fix_memory(problem, assignment);
  for (std::size_t bus = 0; bus < bus_free_ms_.size(); ++bus) {
    const std::vector<SubgraphId> order = problem.transfer_order(bus);
    bus_free_ms_[bus] = times.loads_end_ms[order.back()];
  }
  for (std::size_t d = 0; d < problem.devices; ++d) {
    device_free_ms_[d] = times.end_ms[problem.first_of(d) + subgraphs_per_device_ - 1];
  }
  latency_ms_ = std::max(latency_ms_, times.latency_ms);
}

void PlannedSubmodels::fix_operators(const SubmodelProblem& problem,
                                     const SubmodelAssignment& assignment,
                                     const SubmodelTimes& times) {
  for (SubgraphId j = 1; j <= problem.subgraphs(); ++j) {
    const std::size_t device = problem.device_of(j);
    for (std::size_t v = 0; v < problem.operators.size(); ++v) {
      if (assignment.subgraph[v] != j) continue;
      const auto& node = problem.operators[v];
      order_[device].push_back(node.op);
      operators_[node.op.index()] = {device, times.end_ms[j]};
      if (!node.colocate.empty()) labels_[node.colocate] = device;
      if (!node.reads) continue;
      if (problem.in_place(j)) {
        in_place_.push_back({node.op, *paths_.store(device)});
        continue;
      }
      const std::size_t set = *sets_.of(node.op);
      const std::size_t at =
          loaded_[set] ? loaded_[set]->device : problem.device_of(assignment.subgraph[*node.reads]);
      if (at == device || !copied_.emplace(std::pair(set, device), true).second) continue;
      copies_[{at, device}].push_back({first_reader(set), DeviceId(at), DeviceId(device)});
    }
  }
}

void PlannedSubmodels::fix_loads(const SubmodelProblem& problem,
                                 const SubmodelAssignment& assignment, const SubmodelTimes& times) {
  for (std::size_t bus = 0; bus < bus_free_ms_.size(); ++bus) {
    for (const SubgraphId j : problem.transfer_order(bus)) {
      for (std::size_t p = 0; p < problem.parameters.size(); ++p) {
        const std::size_t node = problem.parameter_node(p);
        if (assignment.subgraph[node] != j) continue;
        double use_ms = times.latency_ms;
        for (const auto& [from, to] : problem.edges) {
          const SubgraphId reader = assignment.subgraph[to];
          if (from != node || problem.in_place(reader)) continue;
          use_ms = std::min(use_ms, times.start_ms[reader]);
        }
        const std::size_t set = problem.parameters[p].set, device = problem.device_of(j);
        loaded_[set] = {device, times.loads_end_ms[j]};
        loads_.push_back(
            {set, bus, {first_reader(set), *paths_.store(device), DeviceId(device)}, use_ms});
      }
    }
  }
}

void PlannedSubmodels::fix_memory(const SubmodelProblem& problem,
                                  const SubmodelAssignment& assignment) {
  std::set<std::pair<std::size_t, SubgraphId>> copies;
  for (std::size_t n = 0; n < problem.fixed_node(0); ++n) {
    const SubgraphId j = assignment.subgraph[n];
    if (j > 0) use_bytes(problem.device_of(j), problem.bytes[n]);
  }
  for (const auto& [from, to] : problem.edges) {
    const SubgraphId j = assignment.subgraph[to];
    if (!problem.counts(from, j) || !copies.emplace(from, j).second) continue;
    const std::size_t at = problem.is_fixed(from)
                               ? problem.fixed[from - problem.fixed_node(0)].device
                               : problem.device_of(assignment.subgraph[from]);
    if (at != problem.device_of(j)) use_bytes(problem.device_of(j), problem.bytes[from]);
  }
}

void PlannedSubmodels::use_bytes(std::size_t device, Bytes bytes) {
  used_bytes_[device] = saturating_sum(used_bytes_[device], bytes);
}

Schedule PlannedSubmodels::schedule(LaneOrder order) const {
  Schedule schedule;
  for (const std::vector<OpId>& ops : order_) schedule.devices.push_back(one_operator_stages(ops));
  std::vector<PlannedLoad> loads = loads_;
  if (order == LaneOrder::kUse) {
    std::ranges::stable_sort(
        loads, [](const PlannedLoad& a, const PlannedLoad& b) { return a.use_ms < b.use_ms; });
  }
  Weights weights;
  weights.in_place = in_place_;
  std::vector<Lane> lanes(paths_.buses());
  for (const PlannedLoad& load : loads) lanes[load.bus].push_back(load.load);
  for (const auto& [pair, lane] : copies_) lanes.push_back(lane);
  for (Lane& lane : lanes) {
    if (!lane.empty()) weights.lanes.push_back(std::move(lane));
  }
  schedule.weights = std::move(weights);
  return schedule;
}

}  // namespace hios::scheduler::sortinghat

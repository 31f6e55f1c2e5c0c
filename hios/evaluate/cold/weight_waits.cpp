#include "hios/evaluate/cold/weight_waits.h"

#include <algorithm>
#include <numeric>

// Loads wait for no stage, except for room (hios/evaluate/cold/weight_room.h), so a cycle consists
// of stages alone, or of loads alone, or goes through room. Linear in operators, edges and loads,
// and so is first_stages() for each device that needs it.

namespace hios {
namespace {

Arcs arcs_of(std::size_t nodes, const std::vector<WeightWaits::Arc>& list) {
  return Arcs(nodes, [&](const auto& visit) {
    for (const auto& [from, to] : list) visit(from, to);
  });
}

}  // namespace

WeightWaits::WeightWaits(const Graph& graph, const Schedule& schedule, const Assignment& assignment,
                         const Holdings& holdings, std::span<const Arc> more)
    : schedule_(schedule),
      assignment_(assignment),
      holdings_(holdings),
      list_(more.begin(), more.end()),
      arcs_(0, [](const auto&) {}) {
  list_stages(graph);
  list_loads();
  arcs_ = arcs_of(end_of_lanes() + 1, list_);
  component_ = strong_components(arcs_);
}

void WeightWaits::list_stages(const Graph& graph) {
  for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
    for (std::size_t s = 0; s < schedule_.devices[d].size(); ++s) {
      if (s > 0) list_.emplace_back(stages_.size() - 1, stages_.size());
      if (s == 0 && schedule_.weights->load_first)
        list_.emplace_back(end_of_lanes(), stages_.size());
      stages_.push_back({DeviceId(d), s});
    }
  }
  for (const Edge& edge : graph.edges()) {
    if (!assignment_.find(edge.from) || !assignment_.find(edge.to)) continue;
    const std::size_t from = assignment_.stage_number(edge.from);
    const std::size_t to = assignment_.stage_number(edge.to);
    if (from != to) list_.emplace_back(from, to);
  }
}

void WeightWaits::list_loads() {
  const auto& loads = holdings_.loads();
  for (std::size_t l = 0; l < loads.size(); ++l) {
    if (loads[l].index > 0) list_.emplace_back(load_node(l - 1), load_node(l));
    const auto* source = std::get_if<DeviceId>(&loads[l].load->from);
    const Holding* const there = source ? holdings_.find(*source, loads[l].load->of) : nullptr;
    if (there && there->load && !there->resident) {
      list_.emplace_back(load_node(*there->load), load_node(l));
    }
    if (schedule_.weights->load_first) list_.emplace_back(load_node(l), end_of_lanes());
  }
  for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
    for (const auto& [set, holding] : holdings_.on(DeviceId(d))) {
      if (!holding.load || holding.resident) continue;
      for (const OpId reader : holding.readers) {
        list_.emplace_back(load_node(*holding.load), assignment_.stage_number(reader));
      }
    }
  }
}

std::vector<std::vector<std::size_t>> WeightWaits::cycles() const {
  std::vector<std::size_t> size(arcs_.size(), 0);
  for (const std::size_t component : component_) ++size[component];
  std::vector<bool> seen(arcs_.size(), false);
  std::vector<std::vector<std::size_t>> cycles;
  // Loads come first: a cycle is described best from a load.
  for (std::size_t i = 0; i < arcs_.size(); ++i) {
    const std::size_t node = (stages_.size() + i) % arcs_.size();
    const bool loop = std::ranges::find(arcs_.from(node), node) != arcs_.from(node).end();
    if (seen[component_[node]] || (size[component_[node]] < 2 && !loop)) continue;
    seen[component_[node]] = true;
    cycles.push_back(loop ? std::vector{node} : cycle_through(arcs_, component_, node));
  }
  return cycles;
}

std::vector<std::size_t> WeightWaits::first_stages(DeviceId device) const {
  std::vector<std::size_t> order(arcs_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t node) { return component_[node]; });
  std::vector<std::size_t> first(arcs_.size(), kNever);
  for (const std::size_t node : order) {  // each after all that wait for it
    if (node < stages_.size() && stages_[node].device == device) first[node] = stages_[node].stage;
    for (const std::size_t later : arcs_.from(node)) {
      first[node] = std::min(first[node], first[later]);
    }
  }
  return first;
}

std::optional<std::size_t> WeightWaits::load_of(std::size_t node) const {
  if (node < stages_.size() || node == end_of_lanes()) return std::nullopt;
  return node - stages_.size();
}

std::string WeightWaits::name_of(std::size_t node, const Graph& graph,
                                 const Platform& platform) const {
  if (const auto load = load_of(node)) {
    return describe_load(graph, platform, holdings_.loads()[*load]);
  }
  if (node == end_of_lanes()) return "the end of all lanes";
  return "stage " + std::to_string(stages_[node].stage) + " of " +
         platform.device(stages_[node].device).name;
}

std::string WeightWaits::waits_for(std::size_t later, std::size_t earlier) const {
  const auto load = load_of(later), before = load_of(earlier);
  if (load && !before) return "needs the room after ";
  if (load && holdings_.loads()[*load].lane != holdings_.loads()[*before].lane) return "needs ";
  const bool neighbours = later == earlier + 1;
  return neighbours ? "comes after " : "needs ";
}

std::string WeightWaits::describe(const std::vector<std::size_t>& cycle, const Graph& graph,
                                  const Platform& platform) const {
  constexpr std::size_t kShown = 6;
  std::string text = "cyclic wait: " + name_of(cycle.front(), graph, platform);
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (i == kShown) return text + " … (" + std::to_string(cycle.size() - kShown) + " more)";
    const std::size_t earlier = cycle[(i + 1) % cycle.size()];
    text += (i > 0 ? ", which " : " ") + waits_for(cycle[i], earlier) +
            name_of(earlier, graph, platform);
  }
  return text;
}

std::string name_of_holder(const Platform& platform, const Holder& holder) {
  if (const auto* device = std::get_if<DeviceId>(&holder)) {
    if (device->index() < platform.size()) return platform.device(*device).name;
    return "device " + std::to_string(device->index());
  }
  const StoreId store = std::get<StoreId>(holder);
  const Topology* const topology = platform.topology();
  if (topology && store.index() < topology->stores().size()) return topology->store(store).name;
  return "store " + std::to_string(store.index());
}

std::string describe_load(const Graph& graph, const Platform& platform,
                          const Holdings::Listed& load) {
  return "the load of " + graph.op(load.load->of).name + " from " +
         name_of_holder(platform, load.load->from) + " to " +
         name_of_holder(platform, load.load->to) + " (lane " + std::to_string(load.lane) +
         ", index " + std::to_string(load.index) + ")";
}

}  // namespace hios

#include "hios/graph/parameters.h"

#include <cstdint>
#include <unordered_map>

#include "hios/base/error.h"

namespace hios {

ParameterSets::ParameterSets(const Graph& graph) : of_(graph.size(), SIZE_MAX) {
  std::unordered_map<std::string, std::size_t> by_label;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const Operator& op = graph.op(OpId(v));
    if (op.parameter_bytes == 0) continue;
    std::size_t set = sets_.size();
    if (!op.parameters.empty()) set = by_label.emplace(op.parameters, set).first->second;
    if (set == sets_.size()) {
      sets_.push_back({op.parameters.empty() ? op.name : op.parameters, op.parameter_bytes, {}});
    }
    const Set& shared = sets_[set];
    if (shared.size_bytes != op.parameter_bytes) {
      throw InputError("graph '" + printable(graph.name()) + "': '" + printable(op.name) +
                       "' and '" + printable(graph.op(shared.operators.front()).name) +
                       "' have parameters '" + printable(op.parameters) +
                       "' of different sizes; give both the same parameter_bytes");
    }
    of_[v] = set;
    sets_[set].operators.push_back(OpId(v));
  }
}

std::optional<std::size_t> ParameterSets::of(OpId op) const {
  const std::size_t set = of_[op.index()];
  return set == SIZE_MAX ? std::nullopt : std::optional(set);
}

std::optional<double> in_place_ms(const Operator& op, const Device& device) {
  for (const std::string& key : {device.name, device.kind}) {
    const auto time = op.in_place_by_device.find(key);
    if (time != op.in_place_by_device.end()) return time->second;
  }
  return op.in_place_ms;
}

}  // namespace hios

#include "scheduler/best/problem.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace hios::scheduler::best {

Problem::Problem(const CostModel& costs) : costs_(costs), rank_(costs.graph().size(), 0) {
  costs_.on_unmeasured({});
  const auto order = graph().topological();
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank_[order[i].index()] = static_cast<std::uint32_t>(i);
  }
  link_edges();
  gather_companions();
  constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
  for (const Operator& op : graph().operators()) {
    const Bytes room = kMost - op.memory_bytes;
    held_bytes_.push_back(op.memory_bytes + std::min(room, op.parameter_bytes));
    utilization_.push_back(op.utilization);
  }
}

void Problem::link_edges() {
  inputs_begin_.push_back(0);
  outputs_begin_.push_back(0);
  for (std::size_t i = 0; i < operators(); ++i) {
    for (EdgeId e : graph().in_edges(OpId(i))) inputs_.push_back({graph().edge(e).from, e});
    for (EdgeId e : graph().out_edges(OpId(i))) outputs_.push_back({graph().edge(e).to, e});
    inputs_begin_.push_back(inputs_.size());
    outputs_begin_.push_back(outputs_.size());
  }
}

void Problem::gather_companions() {
  std::map<std::string_view, std::vector<OpId>> by_label;
  for (std::size_t i = 0; i < operators(); ++i) {
    const std::string& label = graph().op(OpId(i)).colocate;
    if (!label.empty()) by_label[label].push_back(OpId(i));
  }
  for (auto& [label, members] : by_label) {
    if (members.size() > 1) labels_.push_back(std::move(members));
  }
  label_of_.assign(operators(), static_cast<std::uint32_t>(labels_.size()));
  for (std::size_t l = 0; l < labels_.size(); ++l) {
    for (OpId op : labels_[l]) label_of_[op.index()] = static_cast<std::uint32_t>(l);
  }
}

std::span<const OpId> Problem::companions(OpId op) const {
  const std::uint32_t label = label_of_[op.index()];
  return label < labels_.size() ? std::span<const OpId>(labels_[label]) : std::span<const OpId>();
}

}  // namespace hios::scheduler::best

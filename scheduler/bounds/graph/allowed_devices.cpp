#include "scheduler/bounds/graph/allowed_devices.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

#include "scheduler/list/placement.h"
#include "scheduler/structures/saturating_sum.h"

// A label is placed as one: on a device that can run all of its operators and has memory for their
// sum. Operators mostly have few different sets of devices, so that relations are kept by set.

namespace hios::scheduler {
namespace {

/// Operators that go together: those of a label, or one.
struct Party {
  std::vector<OpId> operators;
  Bytes memory_bytes = 0;  // saturated
};

std::vector<Party> parties(const Graph& graph) {
  std::vector<Party> result;
  std::map<std::string_view, std::size_t> by_label;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Operator& op = graph.op(OpId(i));
    std::size_t party = result.size();
    if (!op.colocate.empty()) party = by_label.emplace(op.colocate, party).first->second;
    if (party == result.size()) result.emplace_back();
    Party& own = result[party];
    own.operators.push_back(OpId(i));
    own.memory_bytes = saturating_sum(own.memory_bytes, held_bytes(op));
  }
  return result;
}

std::vector<DeviceId> possible_devices(const Party& party, const CostModel& costs) {
  std::vector<DeviceId> able;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    const DeviceId device(d);
    const Bytes limit = costs.platform().device(device).memory_bytes;
    const bool fits = limit == 0 || party.memory_bytes <= limit;
    const bool runs = std::all_of(party.operators.begin(), party.operators.end(),
                                  [&](OpId op) { return costs.can_run(op, device); });
    if (fits && runs) able.push_back(device);
  }
  return able;
}

std::vector<DeviceId> devices_that_run(OpId op, const CostModel& costs) {
  std::vector<DeviceId> able;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    if (costs.can_run(op, DeviceId(d))) able.emplace_back(d);
  }
  return able;
}

bool intersect(const std::vector<DeviceId>& a, const std::vector<DeviceId>& b) {
  std::vector<DeviceId> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return !common.empty();
}

}  // namespace

Places::Places(const Graph& graph, const CostModel& costs)
    : graph_(&graph), costs_(&costs), set_of_(graph.size()), home_(graph.size(), kNoHome) {
  std::map<std::vector<DeviceId>, std::size_t> known;
  for (const Party& party : parties(graph)) {
    const std::vector<DeviceId> able = possible_devices(party, costs);
    for (OpId op : party.operators) {
      std::vector<DeviceId> own = able.empty() ? devices_that_run(op, costs) : able;
      const auto [set, is_new] = known.emplace(std::move(own), sets_.size());
      if (is_new) sets_.push_back(set->first);
      set_of_[op.index()] = set->second;
    }
  }
  constexpr std::size_t kMostSets = 256;
  for (const auto& a : sets_) {
    if (sets_.size() > kMostSets) break;
    for (const auto& b : sets_) share_.push_back(intersect(a, b));
  }
  find_homes();
}

bool Places::may_share(OpId a, OpId b) const {
  const std::size_t one = set_of(a), other = set_of(b);
  if (one == other) return true;
  return share_.empty() ? intersect(sets_[one], sets_[other]) : share_[one * sets_.size() + other];
}

void Places::find_homes() {
  std::map<std::string_view, std::uint32_t> labels;
  for (std::size_t i = 0; i < graph_->size(); ++i) {
    const std::string& label = graph_->op(OpId(i)).colocate;
    const std::vector<DeviceId>& able = devices(OpId(i));
    if (able.size() == 1) {
      home_[i] = static_cast<std::uint32_t>(able.front().index());
    } else if (!label.empty()) {
      const auto next = static_cast<std::uint32_t>(costs_->platform().size() + labels.size());
      home_[i] = labels.emplace(label, next).first->second;
    }
  }
}

double Places::cheapest_ms(EdgeId edge) const {
  const Edge& e = graph_->edge(edge);
  double least = std::numeric_limits<double>::infinity();
  for (DeviceId from : devices(e.from)) {
    for (DeviceId to : devices(e.to)) {
      if (from != to) least = std::min(least, costs_->transfer_ms(edge, from, to));
    }
  }
  return least;
}

double Places::transfer_ms(EdgeId edge) {
  const Edge& e = graph_->edge(edge);
  if (e.transfer_ms) return *e.transfer_ms;
  if (e.transfer_by_pair) return cheapest_ms(edge);  // of this edge alone
  const std::tuple key(set_of(e.from), set_of(e.to), e.size_bytes);
  const auto found = cheapest_.find(key);
  if (found != cheapest_.end()) return found->second;
  return cheapest_.emplace(key, cheapest_ms(edge)).first->second;
}

}  // namespace hios::scheduler

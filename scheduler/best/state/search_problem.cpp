#include "scheduler/best/state/search_problem.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "scheduler/list/placement.h"
#include "scheduler/structures/saturating_sum.h"

namespace hios::scheduler::best {

namespace {

// Devices of a quarter of the fastest one's speed and more are drawn equally often, slower ones
// less.
constexpr double kFast = 0.25;
constexpr double kLeastSpeed = 0.02;

FlatGraph<SearchProblem::Link> links_of(const Graph& graph) {
  return {graph.size(),
          [&](std::size_t op, auto add) {
            for (EdgeId e : graph.in_edges(OpId(op))) add({graph.edge(e).from, e});
          },
          [&](std::size_t op, auto add) {
            for (EdgeId e : graph.out_edges(OpId(op))) add({graph.edge(e).to, e});
          }};
}

}  // namespace

SearchProblem::SearchProblem(const CostModel& costs)
    : costs_(costs), edges_(links_of(costs.graph())), rank_(costs.graph().size(), 0) {
  costs_.on_unmeasured({});
  const auto order = graph().topological();
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank_[order[i].index()] = static_cast<std::uint32_t>(i);
  }
  gather_usable();
  gather_companions();
  for (const Operator& op : graph().operators()) {
    utilization_.push_back(op.utilization);
  }
  for (std::size_t i = 0; i < operators(); ++i) {
    total_operator_ms_ += costs_.mean_operator_ms(OpId(i));
  }
  gather_memory();
  gather_speeds();
}

DeviceId SearchProblem::any_device(Random& random) const {
  if (speed_until_.empty()) return usable_[random.below(usable_.size())];
  const double drawn = random.uniform() * speed_until_.back();
  const auto at = std::upper_bound(speed_until_.begin(), speed_until_.end() - 1, drawn);
  return usable_[static_cast<std::size_t>(at - speed_until_.begin())];
}

/// Computes the mean, over operators, of the least time on any device divided by that on each.
void SearchProblem::gather_speeds() {
  std::vector<double> speeds(usable_.size(), 0);
  for (std::size_t i = 0; i < operators(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (const DeviceId d : usable_) least = std::min(least, costs_.operator_ms(OpId(i), d));
    for (std::size_t u = 0; u < usable_.size(); ++u) {
      const double ms = costs_.operator_ms(OpId(i), usable_[u]);
      speeds[u] += ms > least ? least / ms : 1;
    }
  }
  const auto [slowest, fastest] = std::minmax_element(speeds.begin(), speeds.end());
  if (memory_binds_ || speeds.empty() || *slowest >= kFast * *fastest) return;
  double sum = 0;
  for (const double speed : speeds) {
    speed_until_.push_back(sum += std::clamp(speed / *fastest, kLeastSpeed, kFast));
  }
}

void SearchProblem::gather_usable() {
  for (std::size_t d = 0; d < devices(); ++d) {
    bool runs_some = false;
    for (std::size_t i = 0; i < operators() && !runs_some; ++i) {
      runs_some = costs_.can_run(OpId(i), DeviceId(d));
    }
    is_usable_.push_back(runs_some);
    if (runs_some) usable_.push_back(DeviceId(d));
  }
}

void SearchProblem::gather_memory() {
  Bytes all = 0;
  for (const Operator& op : graph().operators()) {
    held_bytes_.push_back(scheduler::held_bytes(op));
    all = saturating_sum(all, held_bytes_.back());
  }
  total_held_bytes_ = static_cast<double>(all);
  for (std::size_t d = 0; d < devices(); ++d) {
    const Bytes limit = platform().device(DeviceId(d)).memory_bytes;
    memory_limit_.push_back(limit > 0 ? limit : std::numeric_limits<Bytes>::max());
    memory_binds_ = memory_binds_ || (is_usable_[d] && all > memory_limit_.back());
  }
}

void SearchProblem::gather_companions() {
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

std::span<const OpId> SearchProblem::companions(OpId op) const {
  const std::uint32_t label = label_of_[op.index()];
  return label < labels_.size() ? std::span<const OpId>(labels_[label]) : std::span<const OpId>();
}

}  // namespace hios::scheduler::best

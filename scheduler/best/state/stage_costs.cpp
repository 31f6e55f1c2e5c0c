#include "scheduler/best/state/stage_costs.h"

#include <algorithm>
#include <numeric>

// Operators of a stage that depend on each other must share a group. Since no path between two of
// them leaves the stage, the connected components by direct edges are the smallest possible groups.
// From there:
//
//  - `serial`: the grouping does not matter; one group.
//  - `overlap`: w·Σt + (1−w)·max(Σ t·u, longest group) falls with the longest group alone, so each
//    component is a group. If there are more components than streams they are packed, longest
//    first, each to the group that is shortest so far (Graham's LPT rule: at most 4/3 of the best
//    packing).
//  - measured: any partition of the components into groups may have been measured, and each has a
//    cost of its own. Up to kTriedComponents, all partitions within the streams are tried, beyond
//    that only the packed one. One group, whose cost is always known, is kept unless another is
//    cheaper: an estimate is not preferred to a measured cost. Results are cached by the stage's
//    operators.
//
// Tests: tests/scheduler/best/state/stage_costs_test.cpp (against CostModel and against all
// partitions).

namespace hios::scheduler::best {
namespace {

constexpr std::size_t kTriedComponents = 5;  // 52 partitions
constexpr std::size_t kKnownStages = 200'000;

}  // namespace

std::size_t StageCosts::SetHash::operator()(const std::vector<std::uint32_t>& key) const {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (std::uint32_t word : key) hash = (hash ^ word) * 0x100000001b3ull;
  return hash ^ (hash >> 29);
}

StageCosts::StageCosts(const SearchProblem& problem)
    : problem_(problem), mark_(problem.operators(), 0), stamp_(problem.operators(), 0) {
  const bool overlap = problem.graph().stage_cost().kind == StageCostRule::Kind::kOverlap;
  for (std::size_t d = 0; d < problem.devices(); ++d) {
    const Configuration* configuration = problem.costs().configuration(DeviceId(d));
    const bool cheaper = configuration ? !configuration->stages.empty() : overlap;
    sharing_pays_.push_back(cheaper && problem.platform().device(DeviceId(d)).streams > 1);
  }
}

double StageCosts::cost_ms(std::span<const OpId> operators, DeviceId device) {
  if (operators.size() == 1) return problem_.costs().operator_ms(operators.front(), device);
  if (sharing_pays_[device.index()]) {
    if (problem_.costs().configuration(device)) return measured(operators, device).ms;
    return overlap_ms(operators, device);
  }
  double sum = 0;
  for (OpId op : operators) sum += problem_.costs().operator_ms(op, device);
  return sum;
}

Stage StageCosts::stage(std::span<const OpId> operators, DeviceId device) {
  std::vector<OpId> sorted(operators.begin(), operators.end());
  std::sort(sorted.begin(), sorted.end(),
            [&](OpId a, OpId b) { return problem_.rank(a) < problem_.rank(b); });
  if (!sharing_pays_[device.index()]) return Stage{{sorted}};
  if (problem_.costs().configuration(device) && sorted.size() > 1) {
    return assemble(sorted, measured(sorted, device).group_of);
  }
  find_components(sorted, device);
  pack_components(static_cast<std::size_t>(problem_.platform().device(device).streams));
  std::vector<std::uint32_t> group_of;
  for (std::uint32_t component : component_) group_of.push_back(group_[component]);
  return assemble(sorted, group_of);
}

double StageCosts::overlap_ms(std::span<const OpId> operators, DeviceId device) {
  find_components(operators, device);
  if (length_ms_.size() == 1) return length_ms_.front();
  pack_components(static_cast<std::size_t>(problem_.platform().device(device).streams));
  double serial = 0, filled = 0;
  for (OpId op : operators) {
    const double ms = problem_.costs().operator_ms(op, device);
    serial += ms;
    filled += ms * problem_.utilization(op);
  }
  const double weight = problem_.graph().stage_cost().weight;
  return weight * serial + (1 - weight) * std::max(filled, longest_group_ms());
}

void StageCosts::find_components(std::span<const OpId> operators, DeviceId device) {
  ++now_;
  root_.resize(operators.size());
  for (std::uint32_t i = 0; i < operators.size(); ++i) {
    mark_[operators[i].index()] = i;
    stamp_[operators[i].index()] = now_;
    root_[i] = i;
  }
  const auto root = [&](std::uint32_t index) {
    while (root_[index] != index) index = root_[index];
    return index;
  };
  for (std::uint32_t i = 0; i < operators.size(); ++i) {
    for (const SearchProblem::Link& input : problem_.inputs(operators[i])) {
      if (stamp_[input.op.index()] != now_) continue;
      const std::uint32_t a = root(i), b = root(mark_[input.op.index()]);
      root_[std::max(a, b)] = std::min(a, b);
    }
  }
  component_.resize(operators.size());
  length_ms_.clear();
  for (std::uint32_t i = 0; i < operators.size(); ++i) {
    const std::uint32_t first = root(i);  // at most i, so already numbered
    if (first == i) {
      component_[i] = static_cast<std::uint32_t>(length_ms_.size());
      length_ms_.push_back(0);
    } else {
      component_[i] = component_[first];
    }
    length_ms_[component_[i]] += problem_.costs().operator_ms(operators[i], device);
  }
}

void StageCosts::pack_components(std::size_t streams) {
  group_.resize(length_ms_.size());
  std::iota(group_.begin(), group_.end(), 0u);
  load_ms_ = length_ms_;
  if (length_ms_.size() <= streams) return;
  std::vector<std::uint32_t> longest_first(group_);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return length_ms_[a] > length_ms_[b]; });
  load_ms_.assign(streams, 0);
  for (std::uint32_t component : longest_first) {
    const auto least = std::min_element(load_ms_.begin(), load_ms_.end());
    *least += length_ms_[component];
    group_[component] = static_cast<std::uint32_t>(least - load_ms_.begin());
  }
}

double StageCosts::longest_group_ms() const {
  return *std::max_element(load_ms_.begin(), load_ms_.end());
}

const StageCosts::Grouping& StageCosts::measured(std::span<const OpId> operators, DeviceId device) {
  std::vector<OpId> sorted(operators.begin(), operators.end());
  std::sort(sorted.begin(), sorted.end(),
            [&](OpId a, OpId b) { return problem_.rank(a) < problem_.rank(b); });
  std::vector<std::uint32_t> key{static_cast<std::uint32_t>(device.index())};
  for (OpId op : sorted) key.push_back(static_cast<std::uint32_t>(op.index()));
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;

  find_components(sorted, device);
  Grouping best;
  best.group_of.assign(sorted.size(), 0);
  best.ms = problem_.costs().stage_ms(assemble(sorted, best.group_of), device);
  group_.resize(length_ms_.size());
  if (length_ms_.size() <= kTriedComponents) {
    try_partitions(sorted, device, 0, 0, best);
  } else {
    pack_components(static_cast<std::size_t>(problem_.platform().device(device).streams));
    try_groups(sorted, device, best);
  }
  if (known_.size() >= kKnownStages) known_.clear();
  return known_.emplace(std::move(key), std::move(best)).first->second;
}

/// Tries all assignments of the components from `next` on to the `groups` used so far or a new one.
void StageCosts::try_partitions(std::span<const OpId> operators, DeviceId device, std::size_t next,
                                std::size_t groups, Grouping& best) {
  if (next == group_.size()) {
    try_groups(operators, device, best);
    return;
  }
  const auto streams = static_cast<std::size_t>(problem_.platform().device(device).streams);
  for (std::size_t g = 0; g < std::min(groups + 1, streams); ++g) {
    group_[next] = static_cast<std::uint32_t>(g);
    try_partitions(operators, device, next + 1, std::max(groups, g + 1), best);
  }
}

/// Tries the present groups of components.
void StageCosts::try_groups(std::span<const OpId> operators, DeviceId device, Grouping& best) {
  std::vector<std::uint32_t> group_of;
  for (std::uint32_t component : component_) group_of.push_back(group_[component]);
  const double ms = problem_.costs().stage_ms(assemble(operators, group_of), device);
  if (ms < best.ms) best = {std::move(group_of), ms};
}

Stage StageCosts::assemble(std::span<const OpId> operators,
                           std::span<const std::uint32_t> group_of) const {
  const std::uint32_t groups = *std::max_element(group_of.begin(), group_of.end()) + 1;
  Stage stage;
  stage.groups.resize(groups);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    stage.groups[group_of[i]].push_back(operators[i]);
  }
  // Packing may leave a stream empty, where operators take no time.
  std::erase_if(stage.groups, [](const Group& group) { return group.empty(); });
  return stage;
}

}  // namespace hios::scheduler::best

#include "scheduler/milp/stages/stage_search.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/milp/stages/possible_stages.h"
#include "scheduler/structures/numbers.h"

// Stages are appended in the order of their starts, each as early as it can be, so every schedule
// is met, and without ties once. A partial schedule is given up where
//  - its rest takes too long: an operator lengthens a path by at least its least part of any
//    stage's longest group, and occupies a device by its least part of any stage's sum;
//  - another one has run the same operators, those that are needed still on the same devices, and
//    was nowhere later: the end of each device, of each needed operator, the last start, and the
//    bytes that each device holds (where memory is limited).
// Where several empty devices are alike, only the first of them is tried.
//
// Test: tests/scheduler/milp/stage_search_test.cpp (against brute force)

namespace hios::scheduler::milp {
namespace {

constexpr double kNoDifference = 1e-9;
constexpr std::size_t kMostRemembered = 4'000'000;  // values of partial schedules

class StageSearch {
 public:
  StageSearch(const Graph& graph, const CostModel& costs, std::vector<PossibleStage> stages,
              double below_ms, const StageSearchLimits& limits)
      : graph_(graph),
        costs_(costs),
        stages_(std::move(stages)),
        limits_(limits),
        least_ms_(below_ms),
        readers_(graph.size(), 0),
        labels_(graph.size(), 0) {
    for (const Edge& edge : graph.edges()) readers_[edge.from.index()] |= bit(edge.to.index());
    std::map<std::string, OpSet> by_label;
    for (std::size_t v = 0; v < graph.size(); ++v) by_label[graph.op(OpId(v)).colocate] |= bit(v);
    for (std::size_t v = 0; v < graph.size(); ++v) {
      const std::string& label = graph.op(OpId(v)).colocate;
      if (!label.empty()) labels_[v] = by_label[label];
    }
    for (const Device& device : costs.platform().devices()) {
      limited_ = limited_ || device.memory_bytes > 0;
    }
    find_floors();
    find_twins();
  }

  StageSearchResult run() {
    State first;
    for (std::size_t d = 0; d < devices(); ++d) {
      first.free_ms.push_back(costs_.launch_ms(DeviceId(d)));
    }
    first.end_ms.assign(graph_.size(), 0);
    first.device_of.assign(graph_.size(), 0);
    first.held.assign(devices(), 0);
    partial_.devices.resize(devices());
    extend(first);
    return {std::move(shorter_), !ended_};
  }

 private:
  struct State {
    OpSet done = 0;
    double last_start_ms = 0, latency_ms = 0;
    std::vector<double> free_ms = {}, end_ms = {};  // by device; by operator
    std::vector<std::size_t> device_of = {};        // by operator
    std::vector<Bytes> held = {};                   // by device
  };

  static OpSet bit(std::size_t v) { return OpSet{1} << v; }
  std::size_t devices() const { return costs_.platform().size(); }

  /// Finds the least times that each operator adds to a path and to a device's work.
  void find_floors() {
    path_ms_.assign(graph_.size(), kInfinity);
    work_ms_.assign(graph_.size(), kInfinity);
    for (const PossibleStage& possible : stages_) {
      for (std::size_t d = 0; d < devices(); ++d) {
        if (possible.cost_ms[d] < kInfinity) lower_floors(possible, d);
      }
    }
    tail_ms_ = path_ms_;
    const auto order = graph_.topological();
    for (std::size_t i = order.size(); i-- > 0;) {
      double rest_ms = 0;
      for (const EdgeId e : graph_.out_edges(order[i])) {
        rest_ms = std::max(rest_ms, tail_ms_[graph_.edge(e).to.index()]);
      }
      tail_ms_[order[i].index()] += rest_ms;
    }
  }

  void lower_floors(const PossibleStage& possible, std::size_t d) {
    double longest_ms = 0, sum_ms = 0;
    for (const Group& group : possible.stage.groups) {
      double group_ms = 0;
      for (const OpId op : group) group_ms += costs_.operator_ms(op, DeviceId(d));
      longest_ms = std::max(longest_ms, group_ms);
      sum_ms += group_ms;
    }
    const double ms = possible.cost_ms[d];
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if ((possible.operators & bit(v)) == 0) continue;
      const double alone_ms = costs_.operator_ms(OpId(v), DeviceId(d));
      const double on_path = longest_ms > 0 ? std::min(1.0, ms / longest_ms) : 1;
      const double of_work = sum_ms > 0 ? std::min(1.0, ms / sum_ms) : 1;
      path_ms_[v] = std::min(path_ms_[v], alone_ms * on_path);
      work_ms_[v] = std::min(work_ms_[v], alone_ms * of_work);
    }
  }

  /// Finds for each device the first that it can be exchanged with.
  void find_twins() {
    for (std::size_t d = 0; d < devices(); ++d) {
      std::size_t twin = 0;
      while (twin < d && !alike(twin, d)) ++twin;
      twin_of_.push_back(twin);
    }
  }

  bool alike(std::size_t a, std::size_t b) const {
    const Platform& platform = costs_.platform();
    const Bytes memory = platform.device(DeviceId(a)).memory_bytes;
    if (memory != platform.device(DeviceId(b)).memory_bytes) return false;
    if (costs_.launch_ms(DeviceId(a)) != costs_.launch_ms(DeviceId(b))) return false;
    for (const PossibleStage& possible : stages_) {
      if (possible.cost_ms[a] != possible.cost_ms[b]) return false;
    }
    for (std::size_t e = 0; e < graph_.edge_count(); ++e) {
      const auto ms = [&](std::size_t from, std::size_t to) {
        return costs_.transfer_ms(EdgeId(e), DeviceId(from), DeviceId(to));
      };
      if (ms(a, b) != ms(b, a)) return false;
      for (std::size_t c = 0; c < devices(); ++c) {
        if (c != a && c != b && (ms(a, c) != ms(b, c) || ms(c, a) != ms(c, b))) return false;
      }
    }
    return true;
  }

  bool too_long(const State& state) const {
    double work_ms = 0, path_ms = state.latency_ms;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if ((state.done & bit(v)) != 0) continue;
      work_ms += work_ms_[v];
      double ready_ms = state.last_start_ms;
      for (const EdgeId e : graph_.in_edges(OpId(v))) {
        const std::size_t input = graph_.edge(e).from.index();
        if ((state.done & bit(input)) != 0) ready_ms = std::max(ready_ms, state.end_ms[input]);
      }
      path_ms = std::max(path_ms, ready_ms + tail_ms_[v]);
    }
    for (const double ms : state.free_ms) work_ms += std::max(ms, state.last_start_ms);
    const double least_ms = std::max(path_ms, work_ms / static_cast<double>(devices()));
    return least_ms >= least_ms_ * (1 - kNoDifference);
  }

  /// Returns true if a partial schedule that was met before is nowhere later; else remembers this.
  bool dominated(const State& state) {
    std::string key(reinterpret_cast<const char*>(&state.done), sizeof state.done);
    std::vector<double> values{state.last_start_ms};
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if ((state.done & bit(v)) == 0) continue;
      const bool read = (readers_[v] & ~state.done) != 0;
      if (read) values.push_back(state.end_ms[v]);
      const bool joined = (labels_[v] & ~state.done) != 0;
      key += read || joined ? static_cast<char>(state.device_of[v]) : '\xff';
    }
    values.insert(values.end(), state.free_ms.begin(), state.free_ms.end());
    if (limited_) {
      for (const Bytes held : state.held) values.push_back(static_cast<double>(held));
    }
    auto& known = known_[key];
    const auto not_later = [](const std::vector<double>& a, const std::vector<double>& b) {
      return std::ranges::equal(a, b, std::less_equal<>());
    };
    for (const auto& other : known) {
      if (not_later(other, values)) return true;
    }
    remembered_ -=
        std::erase_if(known, [&](const auto& other) { return not_later(values, other); });
    if (++remembered_ <= kMostRemembered / values.size()) known.push_back(std::move(values));
    return false;
  }

  void extend(const State& state) {
    ++visited_;
    const bool over = limits_.nodes > 0 && visited_ > limits_.nodes;
    if (over || (visited_ % 256 == 0 && limits_.deadline.expired())) ended_ = true;
    if (ended_) return;
    if (state.done + 1 == OpSet{1} << graph_.size()) {
      if (state.latency_ms >= least_ms_ * (1 - kNoDifference)) return;
      least_ms_ = state.latency_ms;
      shorter_ = partial_;
      return;
    }
    if (too_long(state) || dominated(state)) return;
    for (const PossibleStage& possible : stages_) {
      if ((possible.operators & state.done) != 0 || (possible.inputs & ~state.done) != 0) continue;
      for (std::size_t d = 0; d < devices(); ++d) {
        if (possible.cost_ms[d] == kInfinity || stands_for_another(d)) continue;
        append(state, possible, d);
      }
    }
  }

  /// Returns true if the device is empty and an earlier one like it is, too.
  bool stands_for_another(std::size_t d) const {
    if (!partial_.devices[d].empty()) return false;
    for (std::size_t other = 0; other < d; ++other) {
      if (twin_of_[other] == twin_of_[d] && partial_.devices[other].empty()) return true;
    }
    return false;
  }

  /// Returns true if labels and memory allow the stage on the device, and adds its bytes.
  bool fits(const PossibleStage& possible, std::size_t d, State& state) const {
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if ((possible.operators & bit(v)) == 0) continue;
      const Operator& op = graph_.op(OpId(v));
      state.held[d] += op.memory_bytes + op.parameter_bytes;
      for (std::size_t other = 0; other < graph_.size(); ++other) {
        const bool there = (labels_[v] & state.done & bit(other)) != 0;
        if (there && state.device_of[other] != d) return false;
      }
    }
    const Bytes memory = costs_.platform().device(DeviceId(d)).memory_bytes;
    return memory == 0 || state.held[d] <= memory;
  }

  double start_ms(const State& state, const PossibleStage& possible, std::size_t d) const {
    double start_ms = state.free_ms[d];
    for (const Group& group : possible.stage.groups) {
      for (const OpId op : group) {
        for (const EdgeId e : graph_.in_edges(op)) {
          const std::size_t input = graph_.edge(e).from.index();
          if ((possible.operators & bit(input)) != 0) continue;
          const double ms = costs_.transfer_ms(e, DeviceId(state.device_of[input]), DeviceId(d));
          start_ms = std::max(start_ms, state.end_ms[input] + ms);
        }
      }
    }
    return start_ms;
  }

  void append(const State& state, const PossibleStage& possible, std::size_t d) {
    const double start_ms = this->start_ms(state, possible, d);
    if (start_ms < state.last_start_ms) return;  // met in another order
    State next = state;
    if (!fits(possible, d, next)) return;
    next.done |= possible.operators;
    next.last_start_ms = start_ms;
    next.free_ms[d] = start_ms + possible.cost_ms[d];
    next.latency_ms = std::max(state.latency_ms, next.free_ms[d]);
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if ((possible.operators & bit(v)) == 0) continue;
      next.end_ms[v] = next.free_ms[d];
      next.device_of[v] = d;
    }
    partial_.devices[d].push_back(possible.stage);
    extend(next);
    partial_.devices[d].pop_back();
  }

  const Graph& graph_;
  const CostModel& costs_;
  const std::vector<PossibleStage> stages_;
  const StageSearchLimits& limits_;
  double least_ms_;                                  // what a schedule must be shorter than
  std::vector<OpSet> readers_, labels_;              // by operator; all that share its label
  std::vector<double> path_ms_, work_ms_, tail_ms_;  // by operator
  std::vector<std::size_t> twin_of_;                 // by device
  bool limited_ = false;                             // some device's memory is
  Schedule partial_;
  std::optional<Schedule> shorter_;
  std::unordered_map<std::string, std::vector<std::vector<double>>> known_;
  std::size_t remembered_ = 0;  // in known_, about
  std::int64_t visited_ = 0;
  bool ended_ = false;  // by a limit
};

}  // namespace

StageSearchResult search_stages(const Graph& graph, const CostModel& costs, double below_ms,
                                const StageSearchLimits& limits) {
  const bool small = graph.size() <= kMostSearched && costs.platform().size() < 0xff;
  if (!small || graph.size() == 0 || costs.messages_matter() || costs.reports_unmeasured()) {
    return {};
  }
  auto stages = possible_stages(graph, costs);
  if (!stages) return {};
  return StageSearch(graph, costs, *std::move(stages), below_ms, limits).run();
}

}  // namespace hios::scheduler::milp

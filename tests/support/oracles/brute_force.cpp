#include "support/oracles/brute_force.h"

#include <algorithm>
#include <limits>

// A schedule is built stage by stage in the order of starts. In any valid schedule sorted so, each
// stage comes after the stages that it waits for. Hence every schedule is visited, and without ties
// once. Times of a partial schedule are final, since stages start as early as they can.
//
// The stages are listed beforehand: every set of operators in every partition into groups of which
// none needs another directly. (An indirect need, through an operator outside the stage, shows
// later: that operator could never run.) The order inside a group costs nothing, so any order that
// its edges allow suffices.
//
// Pruning, valid for any stage costs: with t(v) the cost of v alone, L(S) a stage's longest group
// and W(S) its sum, v takes at least f(v) = t(v)·min(1, cost(S)/L(S)) of a path and h(v) =
// t(v)·min(1, cost(S)/W(S)) of a device's time. Both are minimal over all stages S that contain v,
// all of which are in the list. tests/scheduler/oracle_test.cpp compares with a search without
// pruning.

namespace hios::test {
namespace {

using Mask = unsigned;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Candidate {
  Mask operators = 0;
  Mask inputs = 0;  ///< outside the stage
  Stage stage;
  std::vector<double> cost_ms;  // by device; infinity if it may not run there
};

class Search {
 public:
  Search(const Graph& graph, const Platform& platform, const PlainCosts& costs, Pruning pruning)
      : graph_(graph), platform_(platform), costs_(costs), prune_(pruning == Pruning::kBounds) {
    for (std::size_t d = 0; d < platform.size(); ++d) {
      most_groups_ =
          std::max(most_groups_, static_cast<std::size_t>(platform.device(DeviceId(d)).streams));
    }
    inputs_.resize(graph.size());
    for (const Edge& edge : graph.edges()) {
      inputs_[edge.to.index()] |= Mask{1} << edge.from.index();
    }
    for (Mask set = 1; set < (Mask{1} << graph.size()); ++set) partition(set, 0, {});
    find_floors();
    symmetric_ = devices_are_alike();
  }

  BruteForceResult run(double below_ms) {
    State state;
    for (std::size_t d = 0; d < platform_.size(); ++d) {
      state.free_ms.push_back(costs_.launch_ms(DeviceId(d)));
    }
    state.finish_ms.assign(graph_.size(), 0);
    state.device_of.resize(graph_.size());
    best_.latency_ms = below_ms;
    partial_.devices.resize(platform_.size());
    extend(state);
    if (best_.schedule.devices.empty()) best_.latency_ms = kInfinity;
    return best_;
  }

 private:
  struct State {
    Mask done = 0;
    double last_start_ms = 0;
    double latency_ms = 0;
    std::vector<double> free_ms;    // by device
    std::vector<double> finish_ms;  // by operator: end of its stage
    std::vector<DeviceId> device_of;
  };

  /// Puts the operators of `set` from position `next` of the topological order on into the groups
  /// of `stage` or new ones, in every way.
  void partition(Mask set, std::size_t next, Stage stage) {
    const auto order = graph_.topological();
    while (next < order.size() && !(set >> order[next].index() & 1)) ++next;
    if (next == order.size()) {
      add_candidate(set, stage);
      return;
    }
    for (std::size_t g = 0; g <= stage.groups.size(); ++g) {
      if (g == most_groups_) break;
      Stage larger = stage;
      if (g == stage.groups.size()) larger.groups.emplace_back();
      larger.groups[g].push_back(order[next]);
      partition(set, next + 1, std::move(larger));
    }
  }

  void add_candidate(Mask set, const Stage& stage) {
    Candidate candidate{set, 0, stage, {}};
    for (const Group& group : stage.groups) {
      Mask own = 0;
      for (OpId op : group) own |= Mask{1} << op.index();
      for (OpId op : group) {
        if (inputs_[op.index()] & set & ~own) return;  // an output of another group
        candidate.inputs |= inputs_[op.index()] & ~set;
      }
    }
    for (std::size_t d = 0; d < platform_.size(); ++d) {
      const auto streams = static_cast<std::size_t>(platform_.device(DeviceId(d)).streams);
      const bool fits = stage.groups.size() <= streams && allowed(set, DeviceId(d));
      candidate.cost_ms.push_back(fits ? costs_.stage_ms(stage, DeviceId(d)) : kInfinity);
    }
    candidates_.push_back(std::move(candidate));
  }

  bool allowed(Mask set, DeviceId device) const {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto& names = graph_.op(OpId(i)).allowed;
      if (!(set >> i & 1) || names.empty()) continue;
      if (std::find(names.begin(), names.end(), platform_.device(device).name) == names.end()) {
        return false;
      }
    }
    return true;
  }

  double alone_ms(OpId op, std::size_t device) const {
    return costs_.stage_ms(Stage{{{op}}}, DeviceId(device));
  }

  void find_floors() {
    path_ms_.assign(graph_.size(), kInfinity);
    work_ms_.assign(graph_.size(), kInfinity);
    for (std::size_t d = 0; d < platform_.size(); ++d) {
      std::vector<double> path(graph_.size(), 1), work(graph_.size(), 1), alone;
      for (std::size_t i = 0; i < graph_.size(); ++i) alone.push_back(alone_ms(OpId(i), d));
      for (const Candidate& candidate : candidates_) {
        if (candidate.cost_ms[d] == kInfinity) continue;
        double longest = 0, sum = 0;
        for (const Group& group : candidate.stage.groups) {
          double length = 0;
          for (OpId op : group) length += alone[op.index()];
          longest = std::max(longest, length);
          sum += length;
        }
        if (longest == 0) continue;
        for (const Group& group : candidate.stage.groups) {
          for (OpId op : group) {
            path[op.index()] = std::min(path[op.index()], candidate.cost_ms[d] / longest);
            work[op.index()] = std::min(work[op.index()], candidate.cost_ms[d] / sum);
          }
        }
      }
      for (std::size_t i = 0; i < graph_.size(); ++i) {
        path_ms_[i] = std::min(path_ms_[i], alone[i] * path[i]);
        work_ms_[i] = std::min(work_ms_[i], alone[i] * work[i]);
      }
    }
    tail_ms_ = path_ms_;
    const auto order = graph_.topological();
    for (std::size_t i = order.size(); i-- > 0;) {
      double rest = 0;
      for (EdgeId e : graph_.out_edges(order[i])) {
        rest = std::max(rest, tail_ms_[graph_.edge(e).to.index()]);
      }
      tail_ms_[order[i].index()] += rest;
    }
  }

  bool devices_are_alike() const {
    for (const Device& device : platform_.devices()) {
      if (device.memory_bytes != platform_.devices().front().memory_bytes) return false;
    }
    for (std::size_t d = 0; d < platform_.size(); ++d) {
      if (costs_.launch_ms(DeviceId(d)) != costs_.launch_ms(DeviceId(0))) return false;
    }
    for (const Candidate& candidate : candidates_) {
      for (double ms : candidate.cost_ms) {
        if (ms != candidate.cost_ms.front()) return false;
      }
    }
    const std::size_t devices = platform_.size();
    for (std::size_t a = 0; a < devices && costs_.receive_share; ++a) {
      for (std::size_t b = 0; b < devices; ++b) {
        if (a != b && costs_.receive_share(DeviceId(a), DeviceId(b)) !=
                          costs_.receive_share(DeviceId(0), DeviceId(1))) {
          return false;
        }
      }
    }
    for (const Edge& edge : graph_.edges()) {
      for (std::size_t a = 0; a < devices; ++a) {
        for (std::size_t b = 0; b < devices && devices > 1; ++b) {
          const double ms = costs_.transfer_ms(edge, DeviceId(a), DeviceId(b));
          if (a != b && ms != costs_.transfer_ms(edge, DeviceId(0), DeviceId(1))) return false;
        }
      }
    }
    return true;
  }

  bool hopeless(const State& state) const {
    constexpr double kRounding = 1e-9;
    double work = 0, path = state.latency_ms;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (state.done >> i & 1) continue;
      work += work_ms_[i];
      double ready = state.last_start_ms;
      for (EdgeId e : graph_.in_edges(OpId(i))) {
        const std::size_t input = graph_.edge(e).from.index();
        if (state.done >> input & 1) ready = std::max(ready, state.finish_ms[input]);
      }
      path = std::max(path, ready + tail_ms_[i]);
    }
    for (double ms : state.free_ms) work += ms;
    const double least = std::max(path, work / static_cast<double>(platform_.size()));
    return least >= best_.latency_ms * (1 - kRounding);
  }

  void extend(const State& state) {
    ++best_.visited;
    if (state.done + 1 == Mask{1} << graph_.size()) {
      if (state.latency_ms >= best_.latency_ms) return;
      // Messages with ranges, and copies, only delay: times by each edge alone prune and order
      // schedules.
      const double latency_ms = costs_.message_ms || costs_.receive_share
                                    ? slow_latency_ms(graph_, partial_, costs_).value()
                                    : state.latency_ms;
      if (latency_ms >= best_.latency_ms) return;
      best_.latency_ms = latency_ms;
      best_.schedule = partial_;
      return;
    }
    if (prune_ && hopeless(state)) return;
    for (const Candidate& candidate : candidates_) {
      if ((candidate.operators & state.done) || (candidate.inputs & ~state.done)) continue;
      for (std::size_t d = 0; d < platform_.size(); ++d) {
        if (candidate.cost_ms[d] != kInfinity && fits(state, candidate, d)) {
          append(state, candidate, d);
        }
        if (symmetric_ && partial_.devices[d].empty()) break;  // the other devices are empty, too
      }
    }
  }

  /// Returns true if the candidate fits on device d: equal labels share a device, and the device's
  /// memory holds its operators.
  bool fits(const State& state, const Candidate& candidate, std::size_t d) const {
    Bytes held = 0;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const bool comes = candidate.operators >> i & 1;
      const bool is_there = (state.done >> i & 1) && state.device_of[i] == DeviceId(d);
      const Operator& op = graph_.op(OpId(i));
      if (comes || is_there) held += op.memory_bytes + op.parameter_bytes;
      if (!comes || op.colocate.empty()) continue;
      for (std::size_t j = 0; j < graph_.size(); ++j) {
        const bool elsewhere = (state.done >> j & 1) && state.device_of[j] != DeviceId(d);
        if (elsewhere && graph_.op(OpId(j)).colocate == op.colocate) return false;
      }
    }
    const Bytes limit = platform_.device(DeviceId(d)).memory_bytes;
    return limit == 0 || held <= limit;
  }

  void append(const State& state, const Candidate& candidate, std::size_t d) {
    double start = state.free_ms[d];
    for (const Group& group : candidate.stage.groups) {
      for (OpId op : group) {
        for (EdgeId e : graph_.in_edges(op)) {
          const Edge& edge = graph_.edge(e);
          if (!(state.done >> edge.from.index() & 1)) continue;  // in the stage
          start = std::max(start, state.finish_ms[edge.from.index()] +
                                      costs_.until_ready_ms(
                                          edge, state.device_of[edge.from.index()], DeviceId(d)));
        }
      }
    }
    if (start < state.last_start_ms) return;  // reached by another order
    State next = state;
    next.done |= candidate.operators;
    next.last_start_ms = start;
    next.free_ms[d] = start + candidate.cost_ms[d];
    next.latency_ms = std::max(state.latency_ms, next.free_ms[d]);
    for (const Group& group : candidate.stage.groups) {
      for (OpId op : group) {
        next.finish_ms[op.index()] = next.free_ms[d];
        next.device_of[op.index()] = DeviceId(d);
      }
    }
    partial_.devices[d].push_back(candidate.stage);
    extend(next);
    partial_.devices[d].pop_back();
  }

  const Graph& graph_;
  const Platform& platform_;
  const PlainCosts& costs_;
  bool prune_;
  bool symmetric_ = false;
  std::size_t most_groups_ = 1;
  std::vector<Mask> inputs_;  // by operator
  std::vector<Candidate> candidates_;
  std::vector<double> path_ms_, work_ms_, tail_ms_;  // by operator
  Schedule partial_;
  BruteForceResult best_;
};

}  // namespace

BruteForceResult brute_force(const Graph& graph, const Platform& platform, const PlainCosts& costs,
                             Pruning pruning, double below_ms) {
  return Search(graph, platform, costs, pruning).run(below_ms);
}

}  // namespace hios::test

#include "scheduler/split/diagram/decision_diagram.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "scheduler/split/diagram/charges.h"
#include "scheduler/split/diagram/state_set.h"
#include "scheduler/structures/numbers.h"

// Take a schedule of one operator after the other on every device, its operators in the order of
// their starts. (At equal starts, a producer and the one before on the device come first.) Its
// first operators are a partial schedule. Its completion depends on these numbers alone:
//   the set of scheduled operators, and the devices of their labels that others share,
//   free: the time at which each device has ended its last scheduled operator,
//   arrivals: by pending operator and device, the time at which the tensors of its scheduled
//     producers are there (pending: unscheduled, with a scheduled producer or without producers),
//   used: bytes on each device of limited memory.
// These are a state. The next operator starts when its device is free, its tensors are there, and
// no scheduled operator starts later; so times are raised to the last start. Each number after a
// decision is a monotone function of those before it, and a decision that is feasible stays so when
// they fall. Two rules follow:
//   - Dominance: of two states of one set, a state with no smaller number is dominated. Every
//     completion of it also completes the other state, and ends no later there.
//   - Relaxation: several states can be merged into the state of their least numbers. It need not
//     belong to any schedule; what follows from it is a bound.
// So the path that takes a schedule's operators in their order has numbers that are never above the
// schedule's own. A state is pruned only when a bound of its completion is `cutoff_ms` or more: by
// a pending operator's arrivals, time and tail, or by the charges of the remaining operators. Let B
// be the least bound in the last layer: no schedule is shorter than min(B, cutoff_ms).
//
// (Relaxed decision diagrams: Bergman, Cire, van Hoeve and Hooker, "Discrete Optimization with
// Decision Diagrams", INFORMS Journal on Computing, 2016.)
// Test: tests/scheduler/split/diagram/decision_diagram_test.cpp.

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kMinStatesOfSet = 2, kMaxStatesOfSet = 1000;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

class Diagram {
 public:
  Diagram(const DiagramProblem& problem, const DiagramLimits& limits)
      : problem_(problem),
        limits_(limits),
        devices_(problem.devices),
        in_(problem.operators),
        out_(problem.operators),
        charges_(problem) {
    for (std::size_t a = 0; a < problem.arcs.size(); ++a) {
      in_[problem.arcs[a].to].push_back(a);
      out_[problem.arcs[a].from].push_back(a);
    }
    for (std::size_t d = 0; d < devices_; ++d) {
      if (problem.memory[d] < kInfinity) limited_.push_back(d);
    }
    arrivals_offset_ = 1 + devices_ + limited_.size();
  }

  DiagramResult run() {
    add_root();
    for (std::size_t layer = 0; layer < problem_.operators && !layer_.empty(); ++layer) {
      const std::size_t max_states =
          std::clamp(limits_.width / layer_.size(), kMinStatesOfSet, kMaxStatesOfSet);
      for (const StateSet& set : layer_) {
        expand(set, max_states);
        if (stopped_) return {std::min(limits_.cutoff_ms, least_bound()), {}};
      }
      finish_layer();
    }
    return {std::min(limits_.cutoff_ms, least_bound()), order()};
  }

 private:
  void add_root() {
    StateSet first;
    first.done.assign((problem_.operators + 63) / 64, 0);
    first.label_device.assign(problem_.labels, kNone);
    for (std::size_t v = 0; v < problem_.operators; ++v) {
      if (in_[v].empty()) first.pending.push_back(v);
    }
    complete(first);
    first.states.assign(arrivals_offset_, 0);
    for (std::size_t v : first.pending) {
      for (std::size_t d = 0; d < devices_; ++d) {
        first.states.push_back(problem_.head[problem_.at(v, d)]);
      }
    }
    first.decisions.push_back({});
    layer_.push_back(std::move(first));
  }

  /// Computes all fields that follow from the scheduled operators alone.
  void complete(StateSet& set) const {
    for (std::size_t w : set.pending) {
      const auto made = [&](std::size_t a) { return set.is_done(problem_.arcs[a].from); };
      set.ready.push_back(std::all_of(in_[w].begin(), in_[w].end(), made) ? 1 : 0);
    }
    set.remaining = charges_.remaining(set.done);
    set.stride = arrivals_offset_ + set.pending.size() * devices_;
  }

  void finish_layer() {
    std::erase_if(next_layer_, [](const StateSet& set) { return set.states.empty(); });
    layer_.swap(next_layer_);
    next_layer_.clear();
    set_index_.clear();
    std::vector<Decision>& decisions = decisions_.emplace_back();
    for (StateSet& set : layer_) {
      set.first_index = decisions.size();
      decisions.insert(decisions.end(), set.decisions.begin(), set.decisions.end());
    }
  }

  double least_bound() const {
    double least = kInfinity;
    for (const auto* sets : {&layer_, &next_layer_}) {
      for (const StateSet& set : *sets) {
        for (std::size_t at = 0; at < set.states.size(); at += set.stride) {
          least = std::min(least, set.states[at]);
        }
      }
    }
    return least;
  }

  /// Returns the decisions that lead to the least state of the last layer.
  std::vector<std::pair<std::size_t, std::size_t>> order() const {
    double least = kInfinity;
    std::size_t at = 0;
    for (const StateSet& set : layer_) {
      for (std::size_t i = 0; i < set.decisions.size(); ++i) {
        if (set.states[i * set.stride] >= least) continue;
        least = set.states[i * set.stride];
        at = set.first_index + i;
      }
    }
    std::vector<std::pair<std::size_t, std::size_t>> order;
    if (least == kInfinity) return order;
    for (std::size_t layer = decisions_.size(); layer-- > 0;) {
      const Decision& decision = decisions_[layer][at];
      order.emplace_back(decision.op, decision.device);
      at = decision.parent;
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  /// Returns the index in next_layer_ of the set with operator w on device d added.
  std::size_t child_set(const StateSet& set, std::size_t w, std::size_t d) {
    StateSet made;
    made.done = set.done;
    made.done[w / 64] |= std::uint64_t{1} << (w % 64);
    made.label_device = set.label_device;
    if (problem_.label[w] != DiagramProblem::kNoLabel) made.label_device[problem_.label[w]] = d;
    std::string key(reinterpret_cast<const char*>(made.done.data()),
                    made.done.size() * sizeof made.done[0]);
    key.append(reinterpret_cast<const char*>(made.label_device.data()),
               made.label_device.size() * sizeof(std::size_t));
    const auto [at, is_new] = set_index_.try_emplace(std::move(key), next_layer_.size());
    if (!is_new) return at->second;
    made.pending = set.pending;
    std::erase(made.pending, w);
    for (std::size_t a : out_[w]) made.pending.push_back(problem_.arcs[a].to);
    std::sort(made.pending.begin(), made.pending.end());
    made.pending.erase(std::unique(made.pending.begin(), made.pending.end()), made.pending.end());
    complete(made);
    next_layer_.push_back(std::move(made));
    return at->second;
  }

  void expand(const StateSet& set, std::size_t max_states) {
    for (std::size_t r = 0; r < set.pending.size(); ++r) {
      if (set.ready[r] == 0) continue;
      const std::size_t w = set.pending[r];
      const std::size_t label = problem_.label[w];
      for (std::size_t d = 0; d < devices_; ++d) {
        if (problem_.time[problem_.at(w, d)] == kInfinity) continue;
        stopped_ = limits_.deadline.expired() || next_layer_.size() > limits_.width;
        if (stopped_) return;
        const bool tied = label != DiagramProblem::kNoLabel && set.label_device[label] != kNone;
        if (!tied || set.label_device[label] == d) expand(set, r, d, max_states);
      }
    }
  }

  /// Extends all states of a set by one operator on one device.
  void expand(const StateSet& set, std::size_t r, std::size_t d, std::size_t max_states) {
    const std::size_t w = set.pending[r];
    std::optional<std::size_t> index;
    for (std::size_t i = 0; i < set.decisions.size(); ++i) {
      const double* state = &set.states[i * set.stride];
      const double start = std::max(state[1 + d], state[arrivals_offset_ + r * devices_ + d]);
      const double end = start + problem_.time[problem_.at(w, d)];
      if (end + problem_.tail[problem_.at(w, d)] >= limits_.cutoff_ms) continue;
      if (!index) {
        index = child_set(set, w, d);
        find_sources(set, next_layer_[*index], w);
      }
      StateSet& to = next_layer_[*index];
      if (!transition(state, to, w, d, start)) continue;
      const Decision decision{static_cast<std::uint32_t>(set.first_index + i),
                              static_cast<std::uint16_t>(w), static_cast<std::uint16_t>(d)};
      to.insert(candidate_, decision, max_states, limits_.cutoff_ms);
    }
  }

  /// Finds the origins of pending arrivals: the parent's arrivals and w's tensors.
  void find_sources(const StateSet& from, const StateSet& to, std::size_t w) {
    source_.clear();
    arc_.clear();
    for (std::size_t x : to.pending) {
      const auto found = std::lower_bound(from.pending.begin(), from.pending.end(), x);
      const bool there = found != from.pending.end() && *found == x;
      source_.push_back(there ? static_cast<std::size_t>(found - from.pending.begin()) : kNone);
      arc_.push_back(nullptr);
      for (std::size_t a : out_[w]) {
        if (problem_.arcs[a].to == x) arc_.back() = problem_.arcs[a].ms.data();
      }
    }
  }

  /// Computes the state after a decision in candidate_. Returns false if its bound is not below the
  /// cutoff.
  bool transition(const double* state, const StateSet& to, std::size_t w, std::size_t d,
                  double start) {
    const double end = start + problem_.time[problem_.at(w, d)];
    candidate_.resize(to.stride);
    candidate_[0] = std::max(state[0], end + problem_.tail[problem_.at(w, d)]);
    for (std::size_t e = 0; e < devices_; ++e) candidate_[1 + e] = std::max(state[1 + e], start);
    candidate_[1 + d] = end;
    if (!use_memory(state, w, d)) return false;
    double next_start = kInfinity;
    for (std::size_t i = 0; i < to.pending.size(); ++i) {
      if (!update_arrivals(state, to, i, d, start, next_start)) return false;
    }
    if (to.pending.empty()) return true;
    for (std::size_t e = 0; e < devices_; ++e) {
      candidate_[1 + e] = std::max(candidate_[1 + e], next_start);
    }
    for (std::size_t i = arrivals_offset_; i < candidate_.size(); ++i) {
      candidate_[i] = std::max(candidate_[i], next_start);
    }
    candidate_[0] =
        std::max(candidate_[0], charges_.end_ms(to.remaining, {&candidate_[1], devices_}));
    return candidate_[0] < limits_.cutoff_ms;
  }

  /// Adds the operator's bytes, as a share of the device's memory times the cutoff: so memory
  /// weighs as much as time. Returns false if the device is full.
  bool use_memory(const double* state, std::size_t w, std::size_t d) {
    for (std::size_t i = 0; i < limited_.size(); ++i) {
      double& used = candidate_[1 + devices_ + i];
      used = state[1 + devices_ + i];
      if (limited_[i] != d) continue;
      used += problem_.bytes[w] / problem_.memory[d] * limits_.cutoff_ms;
      if (used > limits_.cutoff_ms * (1 + kRounding)) return false;
    }
    return true;
  }

  /// Computes the arrivals of a pending operator after a decision on device d; an arrival too late
  /// for the cutoff is infinite. Lowers `next_start` to the operator's earliest start. Returns
  /// false if every device is too late.
  bool update_arrivals(const double* state, const StateSet& to, std::size_t i, std::size_t d,
                       double start, double& next_start) {
    const std::size_t x = to.pending[i];
    const double end = candidate_[1 + d];
    double least = kInfinity;
    for (std::size_t e = 0; e < devices_; ++e) {
      const std::size_t at = problem_.at(x, e);
      double arrival = source_[i] == kNone ? problem_.head[at]
                                           : state[arrivals_offset_ + source_[i] * devices_ + e];
      if (arc_[i] != nullptr) arrival = std::max(arrival, end + arc_[i][d * devices_ + e]);
      arrival = std::max(arrival, start);
      const double begin = std::max(arrival, candidate_[1 + e]);
      const double ends = begin + problem_.time[at] + problem_.tail[at];
      const bool late = ends >= limits_.cutoff_ms;
      candidate_[arrivals_offset_ + i * devices_ + e] = late ? kInfinity : arrival;
      if (late) continue;
      least = std::min(least, ends);
      if (to.ready[i] != 0) next_start = std::min(next_start, begin);
    }
    candidate_[0] = std::max(candidate_[0], least);
    return least < kInfinity;
  }

  const DiagramProblem& problem_;
  const DiagramLimits& limits_;
  std::size_t devices_;
  std::size_t arrivals_offset_ = 0;  ///< in a state
  std::vector<std::vector<std::size_t>> in_, out_;
  std::vector<std::size_t> limited_;  ///< devices of limited memory
  Charges charges_;
  bool stopped_ = false;  ///< by the deadline or by more sets than the width
  std::vector<StateSet> layer_, next_layer_;
  std::unordered_map<std::string, std::size_t> set_index_;  ///< in next_layer_, by set and labels
  std::vector<std::vector<Decision>> decisions_;
  std::vector<double> candidate_;
  std::vector<std::size_t> source_;
  std::vector<const double*> arc_;
};

}  // namespace

DiagramResult compile_diagram(const DiagramProblem& problem, const DiagramLimits& limits) {
  if (problem.operators == 0) return {};
  return Diagram(problem, limits).run();
}

}  // namespace hios::scheduler::split

#include "support/oracles/exact_placement.h"

#include <algorithm>
#include <limits>
#include <numeric>

// First lists all assignments that satisfy the constraints, then computes a bound for each. Then
// searches orders for one after the other by rising bound, until a bound is at least the best
// latency: all later ones are then excluded.
//
// For a given assignment, transfers are known, and the rest is a job shop with delays, so active
// schedules suffice (Giffler and Thompson, "Algorithms for Solving Production-Scheduling Problems",
// Operations Research 8, 1960). Of the operators whose inputs are done, take the one that could end
// first. On its device, an operator that could start before that end is next, and each of those is
// tried.
//
// Tests: memory_test compares it with brute_force().

namespace hios::test {
namespace {

constexpr double kInfiniteMs = std::numeric_limits<double>::infinity();

struct Arc {
  std::size_t from, to;
  const Edge* edge;
  double delay_ms = 0;  ///< for the current assignment
};

class ExactSearch {
 public:
  ExactSearch(const Graph& graph, const Platform& platform, const PlainCosts& costs)
      : graph_(graph), platform_(platform), costs_(costs), device_(graph.size(), 0) {
    for (std::size_t i = 0; i < graph.topological().size(); ++i) {
      const OpId op = graph.topological()[i];
      number_.resize(graph.size());
      number_[op.index()] = i;
      for (std::size_t d = 0; d < platform.size(); ++d) {
        alone_ms_.push_back(may_run(op, d) ? costs.stage_ms(Stage{{{op}}}, DeviceId(d))
                                           : kInfiniteMs);
      }
    }
    for (const Edge& edge : graph.edges()) {
      arcs_.push_back({number_[edge.from.index()], number_[edge.to.index()], &edge});
    }
    std::sort(arcs_.begin(), arcs_.end(), [](const Arc& a, const Arc& b) { return a.to < b.to; });
    for (const Device& device : platform.devices()) {
      room_.push_back(device.memory_bytes > 0 ? device.memory_bytes
                                              : std::numeric_limits<Bytes>::max());
    }
  }

  ExactPlacement run() {
    assign(0);
    std::vector<std::size_t> by_bound(bounds_.size());
    std::iota(by_bound.begin(), by_bound.end(), std::size_t{0});
    std::sort(by_bound.begin(), by_bound.end(),
              [&](std::size_t a, std::size_t b) { return bounds_[a] < bounds_[b]; });
    for (std::size_t i : by_bound) {
      if (bounds_[i] >= least_ms_) break;
      std::copy_n(assignments_.begin() + static_cast<std::ptrdiff_t>(i * size()), size(),
                  device_.begin());
      prepare();
      State state{std::vector<double>(platform_.size(), 0), std::vector<double>(size(), 0), 0};
      order(state);
    }
    return {least_ms_, bounds_.size()};
  }

 private:
  /// A partial schedule. Operators are numbered in a topological order.
  struct State {
    std::vector<double> free_ms;  // by device
    std::vector<double> end_ms;   // by operator that is done
    unsigned done = 0;
  };

  std::size_t size() const { return graph_.size(); }
  const Operator& op(std::size_t i) const { return graph_.op(graph_.topological()[i]); }
  double ms(std::size_t i) const { return alone_ms_[i * platform_.size() + device_[i]]; }

  bool may_run(OpId id, std::size_t d) const {
    const auto& names = graph_.op(id).allowed;
    return names.empty() ||
           std::find(names.begin(), names.end(), platform_.device(DeviceId(d)).name) != names.end();
  }

  void assign(std::size_t next) {
    if (next == size()) {
      prepare();
      const double bound = bound_ms({std::vector<double>(platform_.size(), 0), {}, 0});
      bounds_.push_back(bound);
      assignments_.insert(assignments_.end(), device_.begin(), device_.end());
      return;
    }
    const Bytes bytes = op(next).memory_bytes + op(next).parameter_bytes;
    for (std::size_t d = 0; d < platform_.size(); ++d) {
      device_[next] = d;
      if (bytes > room_[d] || ms(next) == kInfiniteMs || !shares_label(next)) continue;
      room_[d] -= bytes;
      assign(next + 1);
      room_[d] += bytes;
    }
  }

  bool shares_label(std::size_t next) const {
    for (std::size_t i = 0; i < next && !op(next).colocate.empty(); ++i) {
      if (op(i).colocate == op(next).colocate && device_[i] != device_[next]) return false;
    }
    return true;
  }

  void prepare() {
    tail_ms_.assign(size(), 0);
    for (std::size_t a = arcs_.size(); a-- > 0;) {
      Arc& arc = arcs_[a];
      arc.delay_ms =
          costs_.transfer_ms(*arc.edge, DeviceId(device_[arc.from]), DeviceId(device_[arc.to]));
      tail_ms_[arc.from] =
          std::max(tail_ms_[arc.from], arc.delay_ms + ms(arc.to) + tail_ms_[arc.to]);
    }
  }

  /// Returns the earliest start of each operator that is not done.
  std::vector<double> heads(const State& state) const {
    std::vector<double> head(size(), 0);
    std::size_t arc = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const bool done = state.done >> i & 1;
      if (!done) head[i] = state.free_ms[device_[i]];
      for (; arc < arcs_.size() && arcs_[arc].to == i; ++arc) {
        const std::size_t from = arcs_[arc].from;
        const double end = state.done >> from & 1 ? state.end_ms[from] : head[from] + ms(from);
        if (!done) head[i] = std::max(head[i], end + arcs_[arc].delay_ms);
      }
    }
    return head;
  }

  /// Returns the maximum of the longest path and each device's work from the first head to the
  /// least tail. The work is that of all remaining operators, and of those with a head at least as
  /// late as each operator's.
  double bound_ms(const State& state) const {
    const std::vector<double> head = heads(state);
    double bound =
        state.done == 0 ? 0 : *std::max_element(state.free_ms.begin(), state.free_ms.end());
    for (std::size_t first = 0; first < size(); ++first) {
      if (state.done >> first & 1) continue;
      double work = 0, tail = kInfiniteMs;
      for (std::size_t i = 0; i < size(); ++i) {
        if ((state.done >> i & 1) || device_[i] != device_[first] || head[i] < head[first])
          continue;
        work += ms(i);
        tail = std::min(tail, tail_ms_[i]);
      }
      bound =
          std::max({bound, head[first] + ms(first) + tail_ms_[first], head[first] + work + tail});
    }
    return bound;
  }

  void order(const State& state) {
    if (state.done + 1 == 1u << size()) {
      least_ms_ =
          std::min(least_ms_, *std::max_element(state.free_ms.begin(), state.free_ms.end()));
      return;
    }
    if (bound_ms(state) >= least_ms_) return;
    const std::vector<double> head = heads(state);
    unsigned ready = ((1u << size()) - 1) & ~state.done;
    for (const Arc& arc : arcs_) {
      if (!(state.done >> arc.from & 1)) ready &= ~(1u << arc.to);
    }
    std::size_t first = size();
    for (std::size_t i = 0; i < size(); ++i) {
      if (!(ready >> i & 1)) continue;
      if (first == size() || head[i] + ms(i) < head[first] + ms(first)) first = i;
    }
    for (std::size_t i = 0; i < size(); ++i) {
      if (!(ready >> i & 1) || device_[i] != device_[first]) continue;
      if (head[i] > head[first] + ms(first)) continue;
      State next = state;
      next.done |= 1u << i;
      next.end_ms[i] = next.free_ms[device_[i]] = head[i] + ms(i);
      order(next);
    }
  }

  const Graph& graph_;
  const Platform& platform_;
  const PlainCosts& costs_;
  std::vector<std::size_t> number_;       // by operator
  std::vector<std::size_t> device_;       // by number, as all below
  std::vector<double> alone_ms_;          // × device
  std::vector<double> tail_ms_;           // from its end, for the current assignment
  std::vector<Arc> arcs_;                 // by `to`
  std::vector<Bytes> room_;               // by device
  std::vector<double> bounds_;            // by assignment
  std::vector<std::size_t> assignments_;  // × operator
  double least_ms_ = kInfiniteMs;
};

}  // namespace

ExactPlacement exact_placement(const Graph& graph, const Platform& platform,
                               const PlainCosts& costs) {
  return ExactSearch(graph, platform, costs).run();
}

}  // namespace hios::test

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "scheduler/bounds/named.h"
#include "scheduler/bounds/preemptive.h"
#include "scheduler/bounds/threshold.h"

// Suppose that the latency is below T. An edge (u, v) with head(u) + f(u) + transfer + f(v) +
// tail(v) >= T is then not paid for, so u and v share a device; so do all that such edges connect,
// and a connected part takes as long as its preemptive schedule on one machine. The longer the
// edges that are paid for, the smaller are the parts: with the edges sorted by what paying for them
// would make of the latency, the first k connect, the next is paid, and the best k is found by
// binary search. Edges between operators that share a device for certain come first. A part
// that no device can run and hold, by `allowed` or by memory, counts as endless, so that an edge is
// paid for.

namespace hios::scheduler {
namespace {

struct PaidEdge {
  double latency_ms;  ///< at least, if it is paid for
  std::uint32_t from, to;
};

std::vector<PaidEdge> edges_by_price(const Problem& problem, const Windows& windows) {
  std::vector<PaidEdge> edges;
  for (std::size_t v = 0; v < problem.size(); ++v) {
    const double rest = problem.path_ms[v] + windows.tail[v];
    for (const Arc& arc : problem.inputs_of(v)) {
      if (!arc.may_share) continue;  // always paid, and in the heads
      const double before = windows.head[arc.other] + problem.path_ms[arc.other];
      edges.push_back({before + arc.transfer_ms + rest, arc.other, static_cast<std::uint32_t>(v)});
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const PaidEdge& a, const PaidEdge& b) { return a.latency_ms > b.latency_ms; });
  return edges;
}

/// Parts that edges connect: a forest in which every operator finds the root of its part.
class ConnectedParts {
 public:
  explicit ConnectedParts(std::size_t size) : above_(size) {
    std::iota(above_.begin(), above_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t v) {
    while (above_[v] != v) v = above_[v] = above_[above_[v]];
    return v;
  }
  void connect(std::size_t a, std::size_t b) { above_[root(a)] = root(b); }

 private:
  std::vector<std::size_t> above_;
};

/// What connected operators take on one device.
class OnOneDevice {
 public:
  OnOneDevice(const Problem& problem, const Windows& windows, const BoundContext& context)
      : problem_(problem), windows_(windows), context_(context) {
    const auto devices = context.costs.platform().devices();
    any_device_ = problem.places->sets() == 1 &&
                  std::all_of(devices.begin(), devices.end(),
                              [](const Device& device) { return device.memory_bytes == 0; });
  }

  /// The longest that a part takes; infinity if one has no device that can run and hold it.
  double longest_ms(std::span<const PaidEdge> connecting) const {
    ConnectedParts parts(problem_.size());
    for (const PaidEdge& edge : connecting) parts.connect(edge.from, edge.to);
    std::vector<std::pair<std::size_t, std::size_t>> members;  // root, operator
    for (std::size_t v = 0; v < problem_.size(); ++v) members.emplace_back(parts.root(v), v);
    std::sort(members.begin(), members.end());
    double longest = 0;
    for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
      while (end < members.size() && members[end].first == members[begin].first) ++end;
      longest = std::max(longest, part_ms(std::span(members).subspan(begin, end - begin)));
    }
    return longest;
  }

 private:
  double part_ms(std::span<const std::pair<std::size_t, std::size_t>> part) const {
    if (!any_device_ && !has_a_device(part)) return std::numeric_limits<double>::infinity();
    std::vector<Job> jobs;
    for (const auto& [root, v] : part) {
      jobs.push_back({windows_.head[v], problem_.window_ms[v], windows_.tail[v]});
    }
    return preemptive_ms(jobs);
  }

  bool has_a_device(std::span<const std::pair<std::size_t, std::size_t>> part) const {
    double bytes = 0;
    std::vector<std::size_t> sets;
    for (const auto& [root, v] : part) {
      const Operator& op = context_.graph.op(problem_.ops[v]);
      bytes += static_cast<double>(op.memory_bytes) + static_cast<double>(op.parameter_bytes);
      sets.push_back(problem_.places->set_of(problem_.ops[v]));
    }
    std::sort(sets.begin(), sets.end());
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    const auto& first = problem_.places->set(sets.front());
    return std::any_of(first.begin(), first.end(), [&](DeviceId device) {
      constexpr double kRounding = 1e-9;
      const auto limit = static_cast<double>(context_.costs.platform().device(device).memory_bytes);
      if (limit > 0 && bytes * (1 - kRounding) > limit) return false;
      return std::all_of(sets.begin(), sets.end(), [&](std::size_t set) {
        const auto& able = problem_.places->set(set);
        return std::binary_search(able.begin(), able.end(), device);
      });
    });
  }

  const Problem& problem_;
  const Windows& windows_;
  const BoundContext& context_;
  bool any_device_;  // can take any of them
};

}  // namespace

double together_ms(const Problem& problem, const Windows& windows, const BoundContext& context) {
  const std::vector<PaidEdge> edges = edges_by_price(problem, windows);
  const OnOneDevice parts(problem, windows, context);
  const double latency = share_or_pay(
      edges.size(), 0, [&](std::size_t k) { return edges[k].latency_ms; },
      [&](std::size_t k) { return parts.longest_ms(std::span(edges).first(k)); });
  // Infinite: operators that share a device for certain fit on none, and there is no schedule.
  return latency < std::numeric_limits<double>::infinity() ? latency : 0;
}

}  // namespace hios::scheduler

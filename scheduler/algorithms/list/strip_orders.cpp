#include "scheduler/algorithms/list/strip_orders.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "scheduler/structures/depth_first.h"

// Two kinds of orders.
//
// Depth first: all ancestors of an end before the next end, or all descendants of a source after
// those of the sources before it.
//
// Skewed: each operator has a coordinate x across the graph, along which edges are short. Edges
// that lead towards smaller x are turned by a skew: the key x + b·level grows along them where b is
// large enough. On a stencil whose cell i reads i − 1 to i + 1, x = i and b = 1 give the key i + t,
// so that strips are cut along the wave that runs through it. Edges that still lead backwards raise
// the key of their consumer (the closure), so every order is topological. Both directions of x are
// tried, and two skews: one that serves all edges, and one that serves most.
//
// Coordinates: hops from a peripheral operator, directions ignored, and the same smoothed over
// neighbours without its component along levels. The latter approximates a Fiedler vector across
// the levels. (Fiedler, "A property of eigenvectors of nonnegative symmetric matrices and its
// application to graph theory".) Coordinates are replaced by their ranks, so that strips of equal
// width have about equally many operators.
//
// Tests: tests/scheduler/algorithms/list/strips_test.cpp.

namespace hios::scheduler {
namespace {

constexpr int kSmoothings = 80;
constexpr double kMostEdges = 0.8;  ///< share of edges that the smaller skew serves

class StripOrders {
 public:
  StripOrders(const Graph& graph, const CostModel& costs)
      : graph_(graph), costs_(costs), position_(graph.size()), level_(graph.size(), 0) {
    const auto topological = graph.topological();
    for (std::size_t i = 0; i < topological.size(); ++i) {
      const OpId op = topological[i];
      position_[op.index()] = i;
      for (const EdgeId e : graph.in_edges(op)) {
        const double before = level_[graph.edge(e).from.index()];
        level_[op.index()] = std::max(level_[op.index()], before + 1);
      }
    }
  }

  std::vector<std::vector<OpId>> run() {
    for (const bool from_ends : {true, false}) {
      for (const bool first : {true, false}) {
        add(depth_first_order(graph_, {from_ends, from_ends == first, first}));
      }
    }
    const std::vector<double> hops = hops_across();
    for (const std::vector<double>& x : {smoothed(hops), hops}) {
      const std::vector<double> rank = ranks(x);
      std::vector<double> mirrored;
      for (const double each : rank) mirrored.push_back(-each);
      for (const std::vector<double>& along : {rank, mirrored}) {
        for (const double share : {1.0, kMostEdges}) add(skewed(along, share));
      }
    }
    return std::move(orders_);
  }

 private:
  void add(std::vector<OpId> order) {
    if (std::find(orders_.begin(), orders_.end(), order) == orders_.end()) {
      orders_.push_back(std::move(order));
    }
  }

  template <class Visit>
  void each_neighbour(std::size_t op, const Visit& visit) const {
    for (const EdgeId e : graph_.in_edges(OpId(op))) visit(graph_.edge(e).from.index(), e);
    for (const EdgeId e : graph_.out_edges(OpId(op))) visit(graph_.edge(e).to.index(), e);
  }

  /// Sets the distances from `root` in its component; returns the operator met last.
  std::size_t breadth_first(std::size_t root, double begin, std::vector<double>& distance) const {
    std::vector<std::size_t> queue{root};
    distance[root] = begin;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      each_neighbour(queue[next], [&](std::size_t to, EdgeId) {
        if (distance[to] <= distance[queue[next]] + 1) return;
        distance[to] = distance[queue[next]] + 1;
        queue.push_back(to);
      });
    }
    return queue.back();
  }

  /// Returns hops from a peripheral operator of each component, one component after the other.
  std::vector<double> hops_across() const {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    std::vector<double> distance(graph_.size(), kFar), found = distance;
    double begin = 0;
    for (const OpId op : graph_.topological()) {
      if (found[op.index()] < kFar) continue;
      const std::size_t end = breadth_first(op.index(), 0, distance);
      const std::size_t last = breadth_first(end, begin, found);
      begin = found[last] + 1;
    }
    return found;
  }

  static void centre(std::vector<double>& x) {
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) /
                        static_cast<double>(std::max(x.size(), std::size_t{1}));
    for (double& each : x) each -= mean;
  }

  /// Subtracts from x its component along a centred vector.
  static void deflate(std::vector<double>& x, const std::vector<double>& along, double square) {
    if (square <= 0) return;
    const double part = std::inner_product(x.begin(), x.end(), along.begin(), 0.0) / square;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= part * along[i];
  }

  std::vector<double> smoothed(std::vector<double> x) const {
    std::vector<double> depth = level_;
    centre(depth);
    const double square = std::inner_product(depth.begin(), depth.end(), depth.begin(), 0.0);
    std::vector<double> weight(graph_.edge_count());
    for (std::size_t e = 0; e < weight.size(); ++e) {
      weight[e] = costs_.mean_transfer_ms(EdgeId(e)) + std::numeric_limits<double>::min();
    }
    std::vector<double> next(x.size());
    for (int i = 0; i < kSmoothings; ++i) {
      centre(x);
      deflate(x, depth, square);
      for (std::size_t op = 0; op < x.size(); ++op) {
        double sum = 0, weights = 0;
        each_neighbour(op, [&](std::size_t to, EdgeId e) {
          sum += weight[e.index()] * x[to];
          weights += weight[e.index()];
        });
        next[op] = weights > 0 ? (x[op] + sum / weights) / 2 : x[op];
      }
      std::swap(x, next);
    }
    return x;
  }

  /// Returns the number of operators with a smaller coordinate.
  std::vector<double> ranks(const std::vector<double>& x) const {
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(x[a], position_[a]) < std::pair(x[b], position_[b]);
    });
    std::vector<double> rank(x.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool equal = i > 0 && x[order[i]] == x[order[i - 1]];
      rank[order[i]] = equal ? rank[order[i - 1]] : static_cast<double>(i);
    }
    return rank;
  }

  /// Returns the skew by which this share of the edges leads to a key that is not smaller.
  double skew(const std::vector<double>& x, double share) const {
    std::vector<double> needed;
    for (const Edge& edge : graph_.edges()) {
      const std::size_t from = edge.from.index(), to = edge.to.index();
      needed.push_back(std::max(0.0, (x[from] - x[to]) / (level_[to] - level_[from])));
    }
    if (needed.empty()) return 0;
    const auto last = static_cast<double>(needed.size() - 1);
    const auto at = needed.begin() + static_cast<std::ptrdiff_t>(share * last);
    std::nth_element(needed.begin(), at, needed.end());
    return *at;
  }

  std::vector<OpId> skewed(const std::vector<double>& x, double share) const {
    const double tilt = skew(x, share);
    std::vector<double> key(x.size());
    for (const OpId op : graph_.topological()) {
      double& own = key[op.index()];
      own = x[op.index()] + tilt * level_[op.index()];
      for (const EdgeId e : graph_.in_edges(op)) {
        own = std::max(own, key[graph_.edge(e).from.index()]);
      }
    }
    std::vector<OpId> order(graph_.topological().begin(), graph_.topological().end());
    std::stable_sort(order.begin(), order.end(),
                     [&](OpId a, OpId b) { return key[a.index()] < key[b.index()]; });
    return order;
  }

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<std::size_t> position_;  // in the topological order, by operator
  std::vector<double> level_;          // by operator: edges of the longest path to it
  std::vector<std::vector<OpId>> orders_;
};

}  // namespace

std::vector<std::vector<OpId>> strip_orders(const Graph& graph, const CostModel& costs) {
  return StripOrders(graph, costs).run();
}

}  // namespace hios::scheduler

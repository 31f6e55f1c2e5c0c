#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hios {

/// Arcs between nodes 0, 1, …: for each node those that it points to, side by side. The same arc
/// may be there several times, and may lead back to where it begins.
class Arcs {
 public:
  /// `each_arc` calls what it is given with (from, to) for every arc, twice over and alike.
  template <class EachArc>
  Arcs(std::size_t nodes, const EachArc& each_arc) : begin_(nodes + 1, 0) {
    each_arc([&](std::size_t from, std::size_t) { ++begin_[from + 1]; });
    for (std::size_t node = 0; node < nodes; ++node) begin_[node + 1] += begin_[node];
    to_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    each_arc([&](std::size_t from, std::size_t to) { to_[next[from]++] = to; });
  }

  std::size_t size() const { return begin_.size() - 1; }  ///< nodes
  std::span<const std::size_t> from(std::size_t node) const {
    return std::span(to_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
  }

 private:
  std::vector<std::size_t> begin_, to_;
};

/// Nodes that reach each other share a component: the number of each node's, counted so that no arc
/// leads to a component of a greater number. Tarjan's, without recursion: O(nodes + arcs).
std::vector<std::size_t> strong_components(const Arcs& arcs);

/// A shortest cycle through `start`, each node before the one that points to it, `start` first.
/// REQUIRES: there is one.
std::vector<std::size_t> cycle_through(const Arcs& arcs, std::span<const std::size_t> components,
                                       std::size_t start);

}  // namespace hios

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hios {

/// Arcs between nodes 0, 1, …, stored contiguously by their origin. An arc may occur several times
/// and may be a loop.
class Arcs {
 public:
  /// `each_arc` calls its argument with (from, to) for every arc. It is called twice and must give
  /// the same arcs.
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

/// Returns the number of each node's strongly connected component. Components are numbered so that
/// no arc leads to a greater number. Tarjan's algorithm, without recursion: O(nodes + arcs).
std::vector<std::size_t> strong_components(const Arcs& arcs);

/// Returns a shortest cycle through `start`, each node before the one that points to it, `start`
/// first. REQUIRES: there is one.
std::vector<std::size_t> cycle_through(const Arcs& arcs, std::span<const std::size_t> components,
                                       std::size_t start);

}  // namespace hios

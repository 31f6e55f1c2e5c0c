// Layout of tensors with known lifetimes is dynamic storage allocation, which is NP-hard. This is
// the usual heuristic, greedy by size: the largest tensor first, each into the smallest gap that
// holds it between the slots of earlier tensors whose lifetimes overlap its own.
//
// Invariant: two tensors with slots never share a byte while both live. Cost: O(n² log n) for n
// tensors; a network has hundreds. Not optimal: no bound on the peak is claimed. For each of our
// four networks in sequential order the peak is the largest sum of tensors alive at one instant,
// which no layout can beat; for random graphs it is some 8 % above.
// tests/engine/run/plan/plan_test.cpp and tests/engine/networks_test.cpp compare both with an
// independent checker.
#include "engine/backend/arena.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hios {
namespace {

using Interval = std::pair<Bytes, Bytes>;  // begin, end

// Returns the begin of the smallest gap of at least `size` between the occupied intervals; the end
// of all intervals where no gap is large enough.
Bytes best_fit(std::vector<Interval>& occupied, Bytes size) {
  std::sort(occupied.begin(), occupied.end());
  Bytes reached = 0, best = 0, best_gap = 0;
  bool found = false;
  for (const auto& [begin, end] : occupied) {
    if (begin > reached) {
      const Bytes gap = begin - reached;
      if (gap >= size && (!found || gap < best_gap)) {
        best = reached;
        best_gap = gap;
        found = true;
      }
    }
    reached = std::max(reached, end);
  }
  return found ? best : reached;
}

}  // namespace

ArenaLayout place_in_arena(std::span<const Lifetime> lifetimes) {
  std::vector<Bytes> sizes;
  for (const Lifetime& lifetime : lifetimes) sizes.push_back(lifetime.size_bytes);
  return place_in_arena(sizes, [&](std::size_t a, std::size_t b) {
    return lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
  });
}

ArenaLayout place_in_arena(std::span<const Bytes> sizes,
                           const std::function<bool(std::size_t, std::size_t)>& overlap) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });

  ArenaLayout layout;
  layout.offsets.resize(sizes.size());
  std::vector<Interval> occupied;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t tensor = order[i];
    occupied.clear();
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t other = order[j];
      if (!overlap(tensor, other)) continue;
      const Bytes begin = layout.offsets[other];
      occupied.emplace_back(begin, begin + aligned_size(sizes[other]));
    }
    const Bytes size = aligned_size(sizes[tensor]);
    layout.offsets[tensor] = best_fit(occupied, size);
    layout.peak_bytes = std::max(layout.peak_bytes, layout.offsets[tensor] + size);
  }
  return layout;
}

}  // namespace hios

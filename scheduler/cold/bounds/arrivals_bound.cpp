#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "scheduler/cold/bounds/load_bounds.h"

// Before an operator starts, the parameters of all operators on paths to it have moved, each set
// once, and its own have, unless it reads them in place: then they have when it ends. So a release
// time is known for each operator, and the longest path with release times is a bound. In a stage,
// all operators wait for the parameters of all, and those of one group take at least the sum of
// their shares after that; so times can be followed from operator to operator as if each were its
// own stage.
//
// Sets before each operator are kept as bits: operators times sets.

namespace hios::scheduler {
namespace {

constexpr std::size_t kMostBits = std::size_t{1} << 29;  // 64 MiB
constexpr std::size_t kBitsPerWord = 64;

/// The sets that have moved before each operator starts, and their bytes.
class SetsBefore {
 public:
  SetsBefore(const Graph& graph, const MovedSets& moved)
      : moved_(moved),
        words_((moved.sets().sets().size() + kBitsPerWord - 1) / kBitsPerWord),
        bits_(graph.size() * words_, 0) {}

  /// Adds the sets that have moved before `from` starts, and its own.
  void add(OpId op, OpId from) {
    for (std::size_t w = 0; w < words_; ++w) {
      bits_[op.index() * words_ + w] |= bits_[from.index() * words_ + w];
    }
    const auto own = moved_.sets().of(from);
    if (own && moved_.moves(*own)) word(op, *own) |= bit(*own);
  }

  double bytes(OpId op) const {
    double bytes = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      std::uint64_t left = bits_[op.index() * words_ + w];
      for (; left != 0; left &= left - 1) {
        bytes +=
            moved_.least_bytes(w * kBitsPerWord + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }
    return bytes;
  }

  bool has(OpId op, std::size_t set) const {
    return (bits_[op.index() * words_ + set / kBitsPerWord] & bit(set)) != 0;
  }

 private:
  static std::uint64_t bit(std::size_t set) { return std::uint64_t{1} << (set % kBitsPerWord); }
  std::uint64_t& word(OpId op, std::size_t set) {
    return bits_[op.index() * words_ + set / kBitsPerWord];
  }

  const MovedSets& moved_;
  std::size_t words_;
  std::vector<std::uint64_t> bits_;  // operator × set
};

}  // namespace

double arrivals_ms(const Graph& graph, const BoundGraph& whole, const MovedSets& moved) {
  if (graph.size() * moved.sets().sets().size() > kMostBits) return 0;
  const std::vector<double> to_end = times_to_end(graph, whole);
  SetsBefore before(graph, moved);
  std::vector<double> end_ms(graph.size(), 0);
  double longest_ms = 0;
  for (std::size_t number = 0; number < whole.size(); ++number) {
    const OpId op = whole.ops[number];
    double start_ms = 0;
    for (const EdgeId e : graph.in_edges(op)) {
      before.add(op, graph.edge(e).from);
      start_ms = std::max(start_ms, end_ms[graph.edge(e).from.index()]);
    }
    const double bytes = before.bytes(op);
    start_ms = std::max(start_ms, moved.moved_ms(bytes));
    double own_ms = 0;  // its own parameters have moved
    const auto set = moved.sets().of(op);
    if (set && moved.moves(*set)) {
      own_ms = moved.moved_ms(bytes + (before.has(op, *set) ? 0 : moved.least_bytes(*set)));
      if (!moved.in_place(*set)) start_ms = std::max({start_ms, own_ms, moved.held_ms(*set)});
    }
    end_ms[op.index()] = std::max(start_ms + whole.path_ms[number], own_ms);
    const double after_ms = to_end[op.index()] - whole.path_ms[number];
    longest_ms = std::max(longest_ms, end_ms[op.index()] + after_ms);
  }
  return longest_ms;
}

}  // namespace hios::scheduler

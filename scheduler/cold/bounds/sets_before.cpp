#include "scheduler/cold/bounds/sets_before.h"

#include <bit>

namespace hios::scheduler {
namespace {

constexpr std::size_t kMostBits = std::size_t{1} << 29;  // 64 MiB
constexpr std::size_t kBitsPerWord = 64;

std::uint64_t bit_of(std::size_t set) { return std::uint64_t{1} << (set % kBitsPerWord); }

}  // namespace

bool SetsBefore::fits(const Graph& graph, const MovedSets& moved) {
  return graph.size() * moved.sets().sets().size() <= kMostBits;
}

SetsBefore::SetsBefore(const Graph& graph, const MovedSets& moved)
    : moved_(moved),
      words_((moved.sets().sets().size() + kBitsPerWord - 1) / kBitsPerWord),
      bits_(graph.size() * words_, 0) {
  for (const OpId op : graph.topological()) {
    for (const EdgeId e : graph.in_edges(op)) add(op, graph.edge(e).from);
  }
}

/// Adds the sets that have moved before `from` starts, and its own.
void SetsBefore::add(OpId op, OpId from) {
  for (std::size_t w = 0; w < words_; ++w) {
    bits_[op.index() * words_ + w] |= bits_[from.index() * words_ + w];
  }
  const auto own = moved_.sets().of(from);
  if (own && moved_.moves(*own)) bits_[op.index() * words_ + *own / kBitsPerWord] |= bit_of(*own);
}

template <class Visit>
void SetsBefore::for_each(OpId op, Visit visit) const {
  for (std::size_t w = 0; w < words_; ++w) {
    std::uint64_t left = bits_[op.index() * words_ + w];
    for (; left != 0; left &= left - 1) {
      visit(w * kBitsPerWord + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }
}

bool SetsBefore::has(OpId op, std::size_t set) const {
  return (bits_[op.index() * words_ + set / kBitsPerWord] & bit_of(set)) != 0;
}

double SetsBefore::bytes(OpId op) const {
  double sum = 0;
  for_each(op, [&](std::size_t set) { sum += moved_.least_bytes(set); });
  return sum;
}

std::vector<std::size_t> SetsBefore::before(OpId op) const {
  std::vector<std::size_t> sets;
  for_each(op, [&](std::size_t set) { sets.push_back(set); });
  return sets;
}

}  // namespace hios::scheduler

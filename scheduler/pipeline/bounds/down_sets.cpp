#include "scheduler/pipeline/bounds/down_sets.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_map>

namespace hios::scheduler::pipeline {
namespace {

using Word = std::uint64_t;
constexpr std::size_t kBits = 64;
constexpr std::size_t kSetsPerCheck = 256;  ///< between looks at the clock

/// Sets of vertices found so far, numbered in the order of their discovery.
class KnownSets {
 public:
  explicit KnownSets(std::size_t vertices) : words_((vertices + kBits - 1) / kBits) {
    sets_.resize(words_, 0);
    numbers_.emplace(hash(sets_.data()), 0);
  }

  std::size_t size() const { return sets_.size() / std::max<std::size_t>(words_, 1); }
  bool has(std::size_t set, Vertex vertex) const {
    return ((sets_[set * words_ + vertex / kBits] >> (vertex % kBits)) & 1) != 0;
  }

  /// Returns the number of that set with one more vertex.
  DownSets::Id with(std::size_t set, Vertex vertex) {
    next_.assign(sets_.begin() + static_cast<std::ptrdiff_t>(set * words_),
                 sets_.begin() + static_cast<std::ptrdiff_t>((set + 1) * words_));
    next_[vertex / kBits] |= Word{1} << (vertex % kBits);
    const std::size_t key = hash(next_.data());
    const auto [first, last] = numbers_.equal_range(key);
    for (auto each = first; each != last; ++each) {
      if (std::equal(next_.begin(), next_.end(),
                     sets_.begin() + static_cast<std::ptrdiff_t>(each->second * words_))) {
        return each->second;
      }
    }
    const auto number = static_cast<DownSets::Id>(size());
    sets_.insert(sets_.end(), next_.begin(), next_.end());
    numbers_.emplace(key, number);
    return number;
  }

 private:
  std::size_t hash(const Word* set) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(set), words_ * sizeof(Word)});
  }

  std::size_t words_;
  std::vector<Word> sets_, next_;
  std::unordered_multimap<std::size_t, DownSets::Id> numbers_;
};

/// Returns the size of the largest set of vertices at one depth, the edges of the longest path to
/// them. No path connects two of them, so that each of their subsets begins a down-set of its own.
std::size_t most_at_one_depth(const PipelineProblem& problem) {
  std::vector<std::size_t> depth(problem.size(), 0), count(problem.size() + 1, 0);
  for (const Vertex v : problem.given_order()) {
    for (const Vertex before : problem.vertices()[v].predecessors) {
      depth[v] = std::max(depth[v], depth[before] + 1);
    }
    ++count[depth[v]];
  }
  return *std::ranges::max_element(count);
}

}  // namespace

std::optional<DownSets> DownSets::all(const PipelineProblem& problem, std::size_t most,
                                      const Deadline& deadline) {
  DownSets made;
  if (problem.size() == 0) {
    made.begin_.push_back(0);
    return made;
  }
  if (most_at_one_depth(problem) >= static_cast<std::size_t>(std::bit_width(most))) {
    return {};  // 2 to that power, or more
  }
  KnownSets known_sets(problem.size());
  std::vector<Step> from{{0, 0}};  // by set: one that it extends, and the vertex added
  const auto add_step = [&](Id set, Vertex vertex) {
    made.steps_.push_back({vertex, known_sets.with(set, vertex)});
    if (from.size() < known_sets.size()) from.push_back({vertex, set});
  };
  for (Vertex v = 0; v < problem.size(); ++v) {
    if (problem.vertices()[v].predecessors.empty()) add_step(0, v);
  }
  made.begin_.push_back(made.steps_.size());
  // Sets come by size, so a set's steps lead to later sets. They are those of the set it extends,
  // but for the added vertex, plus vertices that depended on that vertex alone.
  for (Id set = 1; set < known_sets.size(); ++set) {
    if (known_sets.size() > most) return {};
    if (deadline.expired_at(set, kSetsPerCheck)) return {};
    const auto [vertex, less] = from[set];
    for (std::size_t i = made.begin_[less]; i < made.begin_[less + 1]; ++i) {
      if (made.steps_[i].vertex != vertex) add_step(set, made.steps_[i].vertex);
    }
    for (const Vertex next : problem.vertices()[vertex].successors) {
      const auto inside = [&](Vertex each) { return known_sets.has(set, each); };
      if (std::ranges::all_of(problem.vertices()[next].predecessors, inside)) add_step(set, next);
    }
    made.begin_.push_back(made.steps_.size());
  }
  if (known_sets.size() > most) return {};
  return made;
}

}  // namespace hios::scheduler::pipeline

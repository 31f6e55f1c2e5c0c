#include "scheduler/pipeline/bounds/down_sets.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace hios::scheduler::pipeline {
namespace {

using Word = std::uint64_t;
constexpr std::size_t kBits = 64;
constexpr std::size_t kSetsBetweenLooks = 256;  ///< at the clock

/// Sets of vertices that were met, numbered as they came.
class MetSets {
 public:
  explicit MetSets(std::size_t vertices) : words_((vertices + kBits - 1) / kBits) {
    sets_.resize(words_, 0);
    numbers_.emplace(hash(sets_.data()), 0);
  }

  std::size_t size() const { return sets_.size() / std::max<std::size_t>(words_, 1); }
  bool has(std::size_t set, Vertex vertex) const {
    return ((sets_[set * words_ + vertex / kBits] >> (vertex % kBits)) & 1) != 0;
  }

  /// The number of that set with one vertex more.
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

}  // namespace

std::optional<DownSets> DownSets::all(const PipelineProblem& problem, std::size_t most,
                                      const Deadline& deadline) {
  DownSets made;
  if (problem.size() == 0) {
    made.begin_.push_back(0);
    return made;
  }
  MetSets met(problem.size());
  std::vector<Step> from{{0, 0}};  // by set: one that it comes of, and by which vertex
  const auto add_step = [&](Id set, Vertex vertex) {
    made.steps_.push_back({vertex, met.with(set, vertex)});
    if (from.size() < met.size()) from.push_back({vertex, set});
  };
  for (Vertex v = 0; v < problem.size(); ++v) {
    if (problem.vertices()[v].before.empty()) add_step(0, v);
  }
  made.begin_.push_back(made.steps_.size());
  // By size, as they are met: a set's steps lead to sets that come later. They are those of a set
  // with one vertex less, but for that, and what waited for it alone.
  for (Id set = 1; set < met.size(); ++set) {
    if (met.size() > most) return {};
    if (deadline.expired_at(set, kSetsBetweenLooks)) return {};
    const auto [vertex, less] = from[set];
    for (std::size_t i = made.begin_[less]; i < made.begin_[less + 1]; ++i) {
      if (made.steps_[i].vertex != vertex) add_step(set, made.steps_[i].vertex);
    }
    for (const Vertex next : problem.vertices()[vertex].behind) {
      const auto inside = [&](Vertex each) { return met.has(set, each); };
      if (std::ranges::all_of(problem.vertices()[next].before, inside)) add_step(set, next);
    }
    made.begin_.push_back(made.steps_.size());
  }
  if (met.size() > most) return {};
  return made;
}

}  // namespace hios::scheduler::pipeline

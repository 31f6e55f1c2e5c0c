#include "scheduler/pipeline/bounds/chains.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduler/pipeline/bounds/block_scan.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

using Id = DownSets::Id;

constexpr double kChainRounding = 1e-12;
constexpr double kFirstGrowth = 0.01;         ///< the limit's first step over the lower bound
constexpr double kMaxValues = 3e7;            ///< sets times combinations of used devices
constexpr std::size_t kStepsPerCheck = 4096;  ///< between looks at the clock

/// Numbers of used devices by class, as one number (a state) whose digits are the counts.
class Used {
 public:
  explicit Used(const std::vector<PipelineClass>& classes) {
    for (const PipelineClass& each : classes) {
      weights_.push_back(states_);
      bases_.push_back(each.devices.size() + 1);
      states_ *= bases_.back();
      devices_ += each.devices.size();
    }
  }

  std::size_t states() const { return states_; }
  bool has_left(std::size_t state, std::size_t device_class) const {
    return state / weights_[device_class] % bases_[device_class] + 1 < bases_[device_class];
  }
  std::size_t with(std::size_t state, std::size_t device_class) const {
    return state + weights_[device_class];
  }
  std::size_t without(std::size_t state, std::size_t device_class) const {
    return state - weights_[device_class];
  }
  std::size_t left(std::size_t state) const {
    std::size_t used = 0;
    for (std::size_t c = 0; c < weights_.size(); ++c) used += state / weights_[c] % bases_[c];
    return devices_ - used;
  }

 private:
  std::vector<std::size_t> weights_, bases_;
  std::size_t states_ = 1, devices_ = 0;
};

/// The last block of the best chain to a set, by state.
struct Last {
  Id from = 0;
  std::uint32_t device_class = 0;
};

class Chains {
 public:
  Chains(const LeastCosts& costs, const DownSets& sets, const Used& used, const Deadline& deadline)
      : costs_(costs), sets_(sets), used_(used), deadline_(deadline), seen_(sets.size(), 0) {
    for (std::size_t c = 0; c < costs.classes().size(); ++c) scans_.emplace_back(costs, c);
    for (std::size_t s = 0; s < used.states(); ++s)
      left_.push_back(static_cast<double>(used.left(s)));
    left_ms_.assign(sets.size(), costs.total_work_ms());
    for (Id id = 0; id < sets.size(); ++id) {
      for (const auto& [vertex, to] : sets.steps(id))
        left_ms_[to] = left_ms_[id] - costs.work_ms()[vertex];
    }
    values_.resize(sets.size() * used.states());
    last_.resize(values_.size());
  }

  /// Finds all chains that cost at most `limit_ms`; returns false if the deadline expired.
  bool fill(double limit_ms) {
    limit_ms_ = limit_ms;
    std::fill(values_.begin(), values_.end(), kInfinity);
    values_[0] = 0;
    for (Id id = 0; id < sets_.full(); ++id) {
      for (std::size_t c = 0; c < scans_.size(); ++c) {
        if (!begins(id, c)) continue;
        from_ = id;
        class_ = c;
        ++round_;
        walk(id);
        if (stopped_) return false;
      }
    }
    return true;
  }

  double period_ms() const {
    return *std::min_element(values_.end() - static_cast<std::ptrdiff_t>(used_.states()),
                             values_.end());
  }

  /// Returns the origins and classes of the best chain's blocks, the first block first.
  std::vector<Last> chain() const {
    const double* const ends = &values_[sets_.full() * used_.states()];
    auto state = static_cast<std::size_t>(std::min_element(ends, ends + used_.states()) - ends);
    std::vector<Last> chain;
    for (Id id = sets_.full(); id != 0;) {
      const Last& last = last_[id * used_.states() + state];
      chain.push_back(last);
      state = used_.without(state, last.device_class);
      id = last.from;
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

 private:
  /// Returns true if some chain to the set leaves a device of the class.
  bool begins(Id id, std::size_t device_class) {
    open_.clear();
    only_last_ = true;
    for (std::size_t state = 0; state < used_.states(); ++state) {
      if (values_[id * used_.states() + state] > limit_ms_) continue;
      if (!used_.has_left(state, device_class)) continue;
      open_.push_back(state);
      only_last_ = only_last_ && left_[state] == 1;
    }
    return !open_.empty();
  }

  /// Visits all sets after this one that the block may end with.
  void walk(Id id) {
    if (deadline_.expired_at(++steps_, kStepsPerCheck)) stopped_ = true;
    BlockScan& scan = scans_[class_];
    for (const auto& [vertex, to] : sets_.steps(id)) {
      if (stopped_) return;
      if (seen_[to] == round_) continue;
      seen_[to] = round_;
      const BlockScan::Sums before = scan.add(vertex);
      if (scan.least_ms() <= limit_ms_) {
        if (!only_last_ || to == sets_.full()) improve(to, scan.ms());
        walk(to);
      }
      scan.remove(vertex, before);
      if (only_last_) return;  // any path to the full set will do
    }
  }

  void improve(Id to, double ms) {
    if (ms > limit_ms_) return;
    for (const std::size_t state : open_) {
      const std::size_t next = used_.with(state, class_);
      // The remaining work is too much for the remaining devices.
      if (left_ms_[to] > left_[next] * limit_ms_ + kChainRounding * left_ms_[0]) continue;
      const double largest = std::max(values_[from_ * used_.states() + state], ms);
      double& value = values_[to * used_.states() + next];
      if (largest >= value) continue;
      value = largest;
      last_[to * used_.states() + next] = {from_, static_cast<std::uint32_t>(class_)};
    }
  }

  const LeastCosts& costs_;
  const DownSets& sets_;
  const Used& used_;
  const Deadline& deadline_;
  std::vector<BlockScan> scans_;     // by class
  std::vector<double> left_;         // devices, by state
  std::vector<double> left_ms_;      // least work outside, by set
  std::vector<double> values_;       // set × state
  std::vector<Last> last_;           // the same
  std::vector<std::uint32_t> seen_;  // by set: the round of its last visit
  std::vector<std::size_t> open_;    // states before the block
  std::uint32_t round_ = 0;
  std::size_t steps_ = 0, class_ = 0;
  Id from_ = 0;
  bool only_last_ = false, stopped_ = false;
  double limit_ms_ = 0;
};

/// Returns the vertices of each block in the given order, block after block.
SlicedOrder blocks_of(const LeastCosts& costs, const DownSets& sets, const std::vector<Last>& chain,
                      double period_ms) {
  const PipelineProblem& problem = costs.problem();
  // A vertex's block is the number of the chain's sets without it. Any path to a set gives its
  // members.
  std::vector<Id> ends;
  for (std::size_t b = 1; b < chain.size(); ++b) ends.push_back(chain[b].from);
  ends.push_back(sets.full());
  std::vector<std::pair<Id, Vertex>> step_to(sets.size());
  for (Id id = 0; id < sets.size(); ++id) {
    for (const auto& [vertex, to] : sets.steps(id)) step_to[to] = {id, vertex};
  }
  std::vector<std::size_t> block(problem.size(), 0);
  for (std::size_t b = ends.size(); b-- > 0;) {
    for (Id id = ends[b]; id != 0; id = step_to[id].first) block[step_to[id].second] = b;
  }
  SlicedOrder found;
  found.order = problem.given_order();
  std::stable_sort(found.order.begin(), found.order.end(),
                   [&](Vertex u, Vertex v) { return block[u] < block[v]; });
  for (std::size_t b = 0; b < chain.size(); ++b) {
    const std::size_t begin = found.slicing.slices.empty() ? 0 : found.slicing.slices.back().end;
    std::size_t end = begin;
    while (end < found.order.size() && block[found.order[end]] == b) ++end;
    found.slicing.slices.push_back({begin, end, chain[b].device_class, 0});
  }
  found.slicing.period_ms = period_ms;
  return found;
}

}  // namespace

ChainResult cheapest_chain(const LeastCosts& costs, const DownSets& sets, double at_least_ms,
                           double below_ms, const Deadline& deadline) {
  ChainResult result{at_least_ms, false, {}};
  const Used used(costs.classes());
  if (static_cast<double>(sets.size()) * static_cast<double>(used.states()) > kMaxValues)
    return result;
  if (costs.size() == 0) return {0, true, SlicedOrder{{}, {{}, 0}}};
  if (costs.total_work_ms() == kInfinity) return {kInfinity, true, {}};
  Chains chains(costs, sets, used, deadline);
  double all_ms = 0;  // no block costs more, but for overflow
  for (const PipelineTensor& tensor : costs.problem().tensors()) all_ms += 2 * tensor.ms;
  for (double growth = kFirstGrowth;; growth *= 2) {
    const double wide_ms = at_least_ms > 0 ? at_least_ms * (1 + growth) : kInfinity;
    const bool all = wide_ms > at_least_ms * 1e3 + all_ms;
    double limit_ms = all ? kInfinity : wide_ms;
    const bool last = limit_ms >= below_ms * (1 - kChainRounding);
    if (last) limit_ms = below_ms * (1 - kChainRounding);
    if (limit_ms == kInfinity) limit_ms = std::numeric_limits<double>::max();
    if (!chains.fill(limit_ms)) return result;
    const double period_ms = chains.period_ms();
    if (period_ms <= limit_ms) {
      return {std::max(at_least_ms, period_ms), true,
              blocks_of(costs, sets, chains.chain(), period_ms)};
    }
    if (last || all) return {std::max(at_least_ms, below_ms), true, {}};
    result.bound_ms = std::max(result.bound_ms, limit_ms);
  }
}

}  // namespace hios::scheduler::pipeline

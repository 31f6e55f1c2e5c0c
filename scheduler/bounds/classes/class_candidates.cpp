#include "scheduler/bounds/classes/class_candidates.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "scheduler/structures/numbers.h"

// The head of an operator v on class k: every input u is on a device of one of its classes l,
// starts no earlier than its head there and takes its path share there, and its tensor takes at
// least the least transfer from class l to class k (0 if l = k: the device may be the same). Hence
//   head(v, k) >= max over u of min over l of head(u, l) + f(u, l) + transfer(l, k),
// and head(v, k) >= head(v) of graph/heads.cpp, which holds on every device. If u and v must share
// a device, l = k. Tails are the same with time reversed. An operator with head + share + tail > T
// on a class is not there in any schedule of latency T, by the virtual times of
// graph/shares.cpp, 3. The minimum then goes over the remaining classes, so that excluding classes
// lengthens windows.

namespace hios::scheduler {

ClassCandidates::ClassCandidates(const BoundGraph& graph, const ClassCosts& costs,
                                 const TimeWindows& windows, ClassHeads* heads)
    : graph_(&graph), costs_(&costs), windows_(&windows), heads_(heads), sets_(graph.size(), 0) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (std::size_t k = 0; k < costs.classes(); ++k) {
      if (costs.runs(v, k)) sets_[v] |= Set{1} << k;
    }
  }
  relate();
}

bool ClassCandidates::narrow(double latency_ms) {
  constexpr int kRounds = 6;
  bool changed = true;
  for (int round = 0; round < kRounds && changed; ++round) {
    changed = false;
    if (!unite_colocated(changed)) return false;
    find_heads();
    find_tails();
    if (!exclude_late(latency_ms, changed)) return false;
  }
  return true;
}

/// Operators that share a device share its class. Returns false if they have none in common.
bool ClassCandidates::unite_colocated(bool& changed) {
  std::vector<Set> common(sets_.size(), ~Set{0});
  for (std::size_t v = 0; v < sets_.size(); ++v) common[graph_->colocation[v]] &= sets_[v];
  for (std::size_t v = 0; v < sets_.size(); ++v) {
    const Set shared = common[graph_->colocation[v]];
    if (shared == 0) return false;
    changed = changed || shared != sets_[v];
    sets_[v] = shared;
  }
  return true;
}

bool ClassCandidates::exclude_late(double latency_ms, bool& changed) {
  const double limit = latency_ms * (1 + kRounding);
  for (std::size_t v = 0; v < sets_.size(); ++v) {
    for (std::size_t k = 0; k < costs_->classes(); ++k) {
      if (!may_be(v, k)) continue;
      const double path = costs_->path_ms[costs_->cell(v, k)];
      if (head(v, k) + path + tail(v, k) <= limit) continue;
      exclude(v, k);
      changed = true;
    }
    if (sets_[v] == 0) return false;
  }
  return true;
}

void ClassCandidates::find_heads() {
  const std::size_t classes = costs_->classes();
  head_.resize(sets_.size() * classes);
  Times ready;
  std::size_t e = 0;
  for (std::size_t v = 0; v < sets_.size(); ++v) {
    const std::span own = std::span(head_).subspan(v * classes, classes);
    std::fill(own.begin(), own.end(), windows_->head[v]);
    for (; e < costs_->edges.size() && costs_->edges[e].to == v; ++e) {
      const ClassEdge& edge = costs_->edges[e];
      ready.set(*this, edge.from, head_);
      for (std::size_t k = 0; k < classes; ++k) {
        own[k] = std::max(own[k], least_arrival(edge, ready, k, Direction::kForward));
      }
    }
    for (std::size_t k = 0; k < classes; ++k) {
      if (may_be(v, k)) own[k] = std::max(own[k], after_shared(before_, v, k, head_));
    }
    if (heads_ != nullptr) heads_->raise(v, sets_, head_, ClassHeads::Direction::kForward);
  }
}

void ClassCandidates::find_tails() {
  const std::size_t classes = costs_->classes();
  tail_.resize(sets_.size() * classes);
  for (std::size_t v = 0; v < sets_.size(); ++v) {
    std::fill_n(tail_.begin() + static_cast<std::ptrdiff_t>(v * classes), classes,
                windows_->tail[v]);
  }
  Times rest;
  std::size_t e = costs_->edges.size();
  for (std::size_t v = sets_.size(); v-- > 0;) {  // edges from v have been seen
    if (heads_ != nullptr) heads_->raise(v, sets_, tail_, ClassHeads::Direction::kBackward);
    for (std::size_t k = 0; k < classes; ++k) {
      double& own = tail_[costs_->cell(v, k)];
      if (may_be(v, k)) own = std::max(own, after_shared(after_, v, k, tail_));
    }
    for (; e > 0 && costs_->edges[e - 1].to == v; --e) {
      const ClassEdge& edge = costs_->edges[e - 1];
      rest.set(*this, v, tail_);
      for (std::size_t k = 0; k < classes; ++k) {
        double& own = tail_[costs_->cell(edge.from, k)];
        own = std::max(own, least_arrival(edge, rest, k, Direction::kBackward));
      }
    }
  }
}

void ClassCandidates::Times::set(const ClassCandidates& candidates, std::size_t v,
                                 const std::vector<double>& from) {
  least = kInfinity;
  for (std::size_t l = 0; l < candidates.costs_->classes(); ++l) {
    const std::size_t cell = candidates.costs_->cell(v, l);
    by_class[l] =
        candidates.may_be(v, l) ? from[cell] + candidates.costs_->path_ms[cell] : kInfinity;
    least = std::min(least, by_class[l]);
  }
}

/// Returns the minimum, over the classes of the edge's other end, of its time and the transfer.
double ClassCandidates::least_arrival(const ClassEdge& edge, const Times& times, std::size_t k,
                                      Direction direction) const {
  double least = times.by_class[k];
  if (edge.must_share) return least;
  if (edge.table == ClassEdge::kSame) return std::min(least, times.least + edge.least_ms);
  for (std::size_t l = 0; l < costs_->classes(); ++l) {
    const double transfer = direction == Direction::kForward ? costs_->transfer_ms(edge, l, k)
                                                             : costs_->transfer_ms(edge, k, l);
    least = std::min(least, times.by_class[l] + transfer);
  }
  return least;
}

/// Returns the time until all of `others` that share the only device of class k with v have run, by
/// their heads (or tails) there.
double ClassCandidates::after_shared(const std::vector<Operators>& others, std::size_t v,
                                     std::size_t k, const std::vector<double>& from) const {
  if (others.empty() || costs_->count[k] > 1) return 0;
  std::array<std::pair<double, double>, kMostRelated> jobs;  // head and work
  std::size_t count = 0;
  for (Operators left = others[v]; left != 0; left &= left - 1) {
    const auto u = static_cast<std::size_t>(std::countr_zero(left));
    if (sets_[u] != Set{1} << k) continue;
    const std::size_t cell = costs_->cell(u, k);
    jobs[count++] = {from[cell], costs_->window_ms[cell]};
  }
  std::sort(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(count));
  double end = 0;
  for (std::size_t i = 0; i < count; ++i) end = std::max(end, jobs[i].first) + jobs[i].second;
  return end;
}

/// Finds the ancestors and descendants of every operator of a small graph.
void ClassCandidates::relate() {
  if (sets_.size() > kMostRelated) return;
  before_.assign(sets_.size(), 0);
  after_.assign(sets_.size(), 0);
  for (const ClassEdge& edge : costs_->edges) {
    before_[edge.to] |= before_[edge.from] | Operators{1} << edge.from;
  }
  for (std::size_t v = 0; v < sets_.size(); ++v) {
    for (Operators left = before_[v]; left != 0; left &= left - 1) {
      after_[static_cast<std::size_t>(std::countr_zero(left))] |= Operators{1} << v;
    }
  }
}

}  // namespace hios::scheduler

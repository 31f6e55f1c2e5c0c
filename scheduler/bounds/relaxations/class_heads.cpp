#include "scheduler/bounds/relaxations/class_heads.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "scheduler/bounds/relaxations/best_threshold.h"
#include "scheduler/structures/numbers.h"

// Let v be on class k, and let its nearest ancestors be considered. For an ancestor u on class l,
// G(u, l) is the least time from the virtual end of u to the virtual start of v
// (graph/shares.cpp, 3): over each edge to an ancestor y, or to v itself (m = k, no more time),
//   G(u, l) >= min over classes m of y of transfer(l, m) + f(y, m) + G(y, m),
// with the path shares f. Leaving out edges and paths leaves a lower bound. So
//  - if u is on class l, v starts no earlier than near(u, l) = head(u, l) + f(u, l) + G(u, l);
//  - far(u) is the least of these over the classes other than k, and holds if u is on none of the
//    devices of class k;
//  - in any case v starts no earlier than min(far(u), near(u, k)).
//
// Let class k have one device. Ancestors on class k are on v's device, and have run before v
// starts. By graph/shares.cpp, 3, those of any set J lie in the window from their least head to
// σ(v) − their least G, so σ(v) >= least head + window shares of J + least G: the preemptive
// schedule of all that are there. Which ones are there is unknown, so the head is the minimum, over
// all sets A, of max(preemptive(A), largest far of the others). As in graph/heads.cpp, some set
// {u : far(u) > θ} is best, and a binary search finds it.
//
// graph/heads.cpp says the same with the least share over all devices. Here each class has its own
// times and transfers, which shows where devices differ for each operator: on Cholesky's graph of
// 500 operators and twelve devices, the bound is 4 % higher. Tails are the heads of the reversed
// graph.

namespace hios::scheduler {
namespace {

constexpr double kWork = 1.2e9;  // cells visited, about a second

/// Sixteen ancestors show as much as a hundred on Cholesky's graph.
constexpr std::size_t kMostNear = 16;

}  // namespace

ClassHeads::ClassHeads(const ClassCosts& costs)
    : costs_(costs),
      most_(kMostNear),
      work_(kWork),
      first_in_(costs.operators + 1, 0),
      first_out_(costs.operators + 1, 0),
      in_(costs.edges.size()),
      out_(costs.edges.size()),
      is_near_(costs.operators, false),
      gap_(costs.operators * costs.classes(), 0),
      rest_(gap_.size(), 0),
      least_rest_(costs.operators, 0) {
  for (const ClassEdge& edge : costs.edges) {
    ++first_in_[edge.to + 1];
    ++first_out_[edge.from + 1];
  }
  for (std::size_t v = 0; v < costs.operators; ++v) {
    first_in_[v + 1] += first_in_[v];
    first_out_[v + 1] += first_out_[v];
  }
  std::vector<std::size_t> next_in = first_in_, next_out = first_out_;
  for (const ClassEdge& edge : costs.edges) {
    in_[next_in[edge.to]++] = {edge.from, &edge};
    out_[next_out[edge.from]++] = {edge.to, &edge};
  }
}

/// Returns the operators before v (kForward) or after it, over one edge.
std::span<const ClassHeads::Neighbour> ClassHeads::neighbours(std::size_t v,
                                                              Direction direction) const {
  const bool before = direction == Direction::kForward;
  const auto& first = before ? first_in_ : first_out_;
  return std::span(before ? in_ : out_).subspan(first[v], first[v + 1] - first[v]);
}

/// Fills near_. An ancestor comes after all others on its paths to v.
void ClassHeads::collect(std::size_t v, Direction direction) {
  direction_ = direction;
  near_.clear();
  const auto is_farther = [&](std::uint32_t a, std::uint32_t b) {
    return direction_ == Direction::kForward ? a < b : a > b;
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(is_farther)> found(
      is_farther);
  const auto find_before = [&](std::size_t op) {
    for (const Neighbour& before : neighbours(op, direction_)) found.push(before.other);
  };
  find_before(v);
  while (!found.empty() && near_.size() < most_) {
    const std::uint32_t u = found.top();
    while (!found.empty() && found.top() == u) found.pop();
    near_.push_back(u);
    is_near_[u] = true;
    find_before(u);
  }
}

void ClassHeads::raise(std::size_t v, std::span<const Set> sets, std::vector<double>& heads,
                       Direction direction) {
  if (work_ < 0) return;
  collect(v, direction);
  for (std::size_t k = 0; k < costs_.classes() && !near_.empty(); ++k) {
    if ((sets[v] >> k & 1) == 0) continue;
    double& own = heads[costs_.cell(v, k)];
    own = std::max(own, head_on(v, k, sets, heads));
  }
  for (const std::uint32_t u : near_) is_near_[u] = false;
}

/// Returns the transfer from the class of the earlier operator (in this direction) to the other's.
double ClassHeads::transfer_ms(const ClassEdge& edge, std::size_t from, std::size_t to) const {
  return direction_ == Direction::kForward ? costs_.transfer_ms(edge, from, to)
                                           : costs_.transfer_ms(edge, to, from);
}

/// Raises an operator's gaps by an edge to `y`, whose rest is there.
void ClassHeads::reach_over(const ClassEdge& edge, std::size_t y, double* gaps) {
  const std::size_t classes = costs_.classes();
  const double* const rest = &rest_[costs_.cell(y, 0)];
  const double least = least_rest_[y];
  for (std::size_t l = 0; l < classes; ++l) {
    double time = rest[l];
    if (edge.must_share) {
      // no other class
    } else if (edge.table == ClassEdge::kSame) {
      time = std::min(time, least + edge.least_ms);
    } else {
      for (std::size_t m = 0; m < classes; ++m)
        time = std::min(time, rest[m] + transfer_ms(edge, l, m));
    }
    gaps[l] = std::max(gaps[l], time);
  }
  work_ -= static_cast<double>(edge.table == ClassEdge::kSame ? 2 * classes : classes * classes);
}

/// Computes the gaps and the rest of u to v on class k.
void ClassHeads::reach(std::size_t u, std::size_t v, std::size_t k, std::span<const Set> sets) {
  const std::size_t classes = costs_.classes();
  double* const gaps = &gap_[costs_.cell(u, 0)];
  std::fill_n(gaps, classes, 0.0);
  const Direction onwards =
      direction_ == Direction::kForward ? Direction::kBackward : Direction::kForward;
  for (const Neighbour& after : neighbours(u, onwards)) {
    if (after.other == v) {
      for (std::size_t l = 0; l < classes; ++l) {
        const bool cannot = after.edge->must_share && l != k;
        gaps[l] = std::max(gaps[l], cannot ? kInfinity : transfer_ms(*after.edge, l, k));
      }
    } else if (is_near_[after.other]) {
      reach_over(*after.edge, after.other, gaps);
    }
  }
  least_rest_[u] = kInfinity;
  for (std::size_t l = 0; l < classes; ++l) {
    const std::size_t cell = costs_.cell(u, l);
    rest_[cell] = (sets[u] >> l & 1) != 0 ? costs_.path_ms[cell] + gap_[cell] : kInfinity;
    least_rest_[u] = std::min(least_rest_[u], rest_[cell]);
  }
}

/// Returns the head of v on class k.
double ClassHeads::head_on(std::size_t v, std::size_t k, std::span<const Set> sets,
                           const std::vector<double>& heads) {
  double least = heads[costs_.cell(v, k)];
  choices_.clear();
  for (const std::uint32_t u : near_) {
    reach(u, v, k, sets);
    double far = kInfinity, near = kInfinity;
    for (std::size_t l = 0; l < costs_.classes(); ++l) {
      if ((sets[u] >> l & 1) == 0) continue;
      const std::size_t cell = costs_.cell(u, l);
      double& time = l == k ? near : far;
      time = std::min(time, heads[cell] + rest_[cell]);
    }
    least = std::max(least, std::min(far, near));
    const std::size_t cell = costs_.cell(u, k);
    if (near < kInfinity)
      choices_.push_back({far, {heads[cell], costs_.window_ms[cell], gap_[cell]}});
  }
  return costs_.count[k] > 1 ? least : share_or_send(least);
}

/// Returns the minimum, over the sets of ancestors on v's device, of the time when these have run
/// and what the others send has arrived.
double ClassHeads::share_or_send(double least_ms) {
  std::erase_if(choices_, [&](const Choice& choice) { return choice.far_ms <= least_ms; });
  if (choices_.size() < 2) return least_ms;
  std::ranges::sort(choices_, std::ranges::greater(), &Choice::far_ms);
  return best_threshold(
      choices_.size(), least_ms, [&](std::size_t i) { return choices_[i].far_ms; },
      [&](std::size_t i) {
        jobs_.clear();
        for (std::size_t j = 0; j < i; ++j) jobs_.push_back(choices_[j].job);
        work_ -= static_cast<double>(8 * i);
        return preemptive_ms(jobs_);
      });
}

}  // namespace hios::scheduler

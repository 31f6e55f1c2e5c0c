#include "scheduler/bounds/classes/class_heads.h"

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
// schedule of all that are there. The set of those is unknown, so the head is the minimum, over
// all sets A, of max(preemptive(A), largest far of the others). As in graph/heads.cpp, some set
// {u : far(u) > θ} is best, and a binary search finds it.
//
// graph/heads.cpp says the same with the least share over all devices. Here each class has its own
// times and transfers, which shows where devices differ for each operator: on Cholesky's graph of
// 500 operators and twelve devices, the bound is 4 % higher. Tails are the heads of the reversed
// graph.

namespace hios::scheduler {
namespace {

constexpr double kHeadsWork = 1.2e9;  // cells visited, about a second

/// Sixteen ancestors show as much as a hundred on Cholesky's graph.
constexpr std::size_t kMostNear = 16;

}  // namespace

ClassHeads::ClassHeads(const ClassCosts& costs, const Deadline& deadline)
    : costs_(costs),
      deadline_(deadline),
      work_(kHeadsWork),
      first_in_(costs.operators + 1, 0),
      first_out_(costs.operators + 1, 0),
      in_(costs.edges.size()),
      out_(costs.edges.size()),
      place_(costs.operators, kNone),
      links_(kMostNear),
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
  const auto begin = [](auto& list, std::size_t at) {
    return list.begin() + static_cast<std::ptrdiff_t>(at);
  };
  for (std::size_t v = 0; v < costs.operators; ++v) {
    std::ranges::sort(begin(in_, first_in_[v]), begin(in_, first_in_[v + 1]),
                      std::ranges::greater(), &Neighbour::other);
    std::ranges::sort(begin(out_, first_out_[v]), begin(out_, first_out_[v + 1]),
                      std::ranges::less(), &Neighbour::other);
  }
}

/// Returns the nearest operators before v in the current direction. Of a hub's thousands of inputs
/// no more are looked at than may be near.
std::span<const ClassHeads::Neighbour> ClassHeads::nearest_inputs(std::size_t v) const {
  const bool forward = direction_ == Direction::kForward;
  const auto& first = forward ? first_in_ : first_out_;
  const std::size_t count = std::min(first[v + 1] - first[v], kMostNear);
  return std::span(forward ? in_ : out_).subspan(first[v], count);
}

/// Fills near_. An ancestor comes after all others on its paths to v.
void ClassHeads::collect(std::size_t v) {
  near_.clear();
  const auto is_farther = [&](std::uint32_t a, std::uint32_t b) {
    return direction_ == Direction::kForward ? a < b : a > b;
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(is_farther)> found(
      is_farther);
  const auto find_before = [&](std::size_t op) {
    for (const Neighbour& before : nearest_inputs(op)) found.push(before.other);
  };
  find_before(v);
  while (!found.empty() && near_.size() < kMostNear) {
    const std::uint32_t u = found.top();
    while (!found.empty() && found.top() == u) found.pop();
    place_[u] = static_cast<std::uint32_t>(near_.size());
    near_.push_back(u);
    links_[place_[u]].clear();
    find_before(u);
  }
}

/// Fills links_ with the edges among near ancestors and v.
void ClassHeads::link(std::size_t v) {
  const auto add_inputs = [&](std::size_t op) {
    const auto inputs = nearest_inputs(op);
    for (const Neighbour& before : inputs) {
      if (place_[before.other] != kNone)
        links_[place_[before.other]].push_back({static_cast<std::uint32_t>(op), before.edge});
    }
    work_ -= static_cast<double>(8 * inputs.size());
  };
  add_inputs(v);
  for (const std::uint32_t u : near_) add_inputs(u);
}

void ClassHeads::raise(std::size_t v, std::span<const Set> sets, std::vector<double>& heads,
                       Direction direction) {
  if (deadline_.expired_at(v, kOperatorsPerCheck)) work_ = -1;
  if (work_ < 0) return;
  direction_ = direction;
  collect(v);
  link(v);
  for (std::size_t k = 0; k < costs_.classes() && !near_.empty(); ++k) {
    if ((sets[v] >> k & 1) == 0) continue;
    double& own = heads[costs_.cell(v, k)];
    own = std::max(own, head_on(v, k, sets, heads));
  }
  for (const std::uint32_t u : near_) place_[u] = kNone;
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

/// Computes the gaps and the rest of the ancestor at this place to v on class k.
void ClassHeads::reach(std::size_t i, std::size_t v, std::size_t k, std::span<const Set> sets) {
  const std::size_t classes = costs_.classes(), u = near_[i];
  double* const gaps = &gap_[costs_.cell(u, 0)];
  std::fill_n(gaps, classes, 0.0);
  for (const Link& to : links_[i]) {
    if (to.to != v) {
      reach_over(*to.edge, to.to, gaps);
      continue;
    }
    for (std::size_t l = 0; l < classes; ++l) {
      const bool cannot = to.edge->must_share && l != k;
      gaps[l] = std::max(gaps[l], cannot ? kInfinity : transfer_ms(*to.edge, l, k));
    }
  }
  work_ -= static_cast<double>(3 * classes);
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
  for (std::size_t i = 0; i < near_.size(); ++i) {
    const std::size_t u = near_[i];
    reach(i, v, k, sets);
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
/// and the outputs of the others have arrived.
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

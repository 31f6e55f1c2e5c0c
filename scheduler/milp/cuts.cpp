#include "scheduler/milp/cuts.h"

#include <algorithm>
#include <cstddef>

// Operators that all run between two moments take, on each device, at most the time between them.
// The moments are one of:
//  - the end of an operator u and the start of an operator v, for all operators on paths between
//    them,
//  - an early time and the start of v, for those ancestors of v whose heads are not before that
//    time,
//  - the end of u and a late time, counted from the end, for those descendants of u whose tails
//    reach it,
//  - an early and a late time, for all operators with such heads and tails.
// Heads and tails are minima over devices, so the rows hold on each device, whether or not it runs
// any of the operators. None needs a big M: ancestors end before v starts on any device. Summed
// over devices, the rows combine the work bound with the critical path, with each device's own
// times.

namespace hios::scheduler::milp {
namespace {

using Row = Program::Row;

constexpr double kMinViolation = 1e-3 * Formulation::kScale;
constexpr int kMostRounds = 30;  // three are usual

class Separation {
 public:
  Separation(Formulation& formulation, const std::vector<double>& values)
      : formulation_(formulation), horizon_(formulation.horizon()), values_(values) {}

  bool run() {
    for (std::size_t d = 0; d < horizon_.devices(); ++d) {
      for (std::size_t v = 0; v < horizon_.operators(); ++v) {
        between(v, d);
        before(v, d);
        after(v, d);
      }
      between_times(d);
    }
    return any_;
  }

 private:
  struct Member {
    double key;  // members are sorted by it, the largest first
    std::size_t v;
  };

  double load(std::size_t v, std::size_t d) const {
    const auto x = formulation_.on(v, d);
    return x ? values_[*x] * formulation_.scaled(horizon_.time_ms(v, d)) : 0;
  }

  double duration(std::size_t v) const {
    double sum = 0;
    for (std::size_t d = 0; d < horizon_.devices(); ++d) sum += load(v, d);
    return sum;
  }

  void add_loads(Row& row, const std::vector<std::size_t>& members, std::size_t d) const {
    // Operators of one label share a column.
    std::vector<double> factor(horizon_.operators(), 0);
    for (std::size_t v : members) {
      factor[horizon_.leader(v)] -= formulation_.scaled(horizon_.time_ms(v, d));
    }
    for (std::size_t v = 0; v < factor.size(); ++v) {
      if (factor[v] == 0) continue;
      const std::uint32_t column = *formulation_.on(v, d);
      const auto same = std::find_if(row.terms.begin(), row.terms.end(),
                                     [&](const auto& term) { return term.column == column; });
      if (same == row.terms.end()) {
        row.terms.push_back({column, factor[v]});
      } else {
        same->factor += factor[v];
      }
    }
  }

  void add(Row row, const std::vector<std::size_t>& members, std::size_t d) {
    add_loads(row, members, d);
    formulation_.add(std::move(row));
    any_ = true;
  }

  void between(std::size_t v, std::size_t d) {
    double most = kMinViolation;
    std::size_t worst = v;
    std::vector<std::size_t> members, found;
    for (std::size_t u = 0; u < v; ++u) {
      if (!horizon_.precedes(u, v)) continue;
      double sum = values_[formulation_.start(u)] + duration(u) - values_[formulation_.start(v)];
      found.clear();
      for (std::size_t w = u + 1; w < v; ++w) {
        if (!horizon_.precedes(u, w) || !horizon_.precedes(w, v) || !formulation_.on(w, d))
          continue;
        found.push_back(w);
        sum += load(w, d);
      }
      if (sum <= most) continue;
      most = sum;
      worst = u;
      members = found;
    }
    if (worst == v) return;
    Row row{0, kInfinity, {{formulation_.start(v), 1}, {formulation_.start(worst), -1}}};
    formulation_.add_duration(row, worst, -1);
    add(std::move(row), members, d);
  }

  /// Sorts the members by key and returns the prefix with the largest key plus load, or nothing if
  /// that does not exceed `room` by kMinViolation. Sets `key` to that of its last member.
  std::vector<std::size_t> most_violated_prefix(std::vector<Member> members, std::size_t d,
                                                double room, double& key) const {
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return a.key > b.key; });
    double sum = 0, most = room + kMinViolation;
    std::size_t count = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      sum += load(members[i].v, d);
      if (members[i].key + sum <= most) continue;
      most = members[i].key + sum;
      count = i + 1;
      key = members[i].key;
    }
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(members[i].v);
    return chosen;
  }

  void before(std::size_t v, std::size_t d) {
    std::vector<Member> ancestors;
    for (std::size_t u = 0; u < v; ++u) {
      if (!horizon_.precedes(u, v) || !formulation_.on(u, d)) continue;
      ancestors.push_back({formulation_.scaled(horizon_.head_ms(u)), u});
    }
    double head = 0;
    const auto chosen =
        most_violated_prefix(std::move(ancestors), d, values_[formulation_.start(v)], head);
    if (chosen.empty()) return;
    add({head, kInfinity, {{formulation_.start(v), 1}}}, chosen, d);
  }

  void after(std::size_t v, std::size_t d) {
    std::vector<Member> descendants;
    for (std::size_t w = v + 1; w < horizon_.operators(); ++w) {
      if (!horizon_.precedes(v, w) || !formulation_.on(w, d)) continue;
      descendants.push_back({formulation_.scaled(horizon_.tail_ms(w)), w});
    }
    const double room = values_[formulation_.end()] - values_[formulation_.start(v)] - duration(v);
    double tail = 0;
    const auto chosen = most_violated_prefix(std::move(descendants), d, room, tail);
    if (chosen.empty()) return;
    Row row{tail, kInfinity, {{formulation_.end(), 1}, {formulation_.start(v), -1}}};
    formulation_.add_duration(row, v, -1);
    add(std::move(row), chosen, d);
  }

  void between_times(std::size_t d) {
    std::vector<std::size_t> best;
    double most = 0, head = 0, tail = 0;
    for (std::size_t first = 0; first < horizon_.operators(); ++first) {
      if (!formulation_.on(first, d)) continue;
      const double from = formulation_.scaled(horizon_.head_ms(first));
      std::vector<Member> members;
      for (std::size_t v = 0; v < horizon_.operators(); ++v) {
        if (!formulation_.on(v, d)) continue;
        if (formulation_.scaled(horizon_.head_ms(v)) < from) continue;
        members.push_back({formulation_.scaled(horizon_.tail_ms(v)), v});
      }
      double to = 0;
      const double room = values_[formulation_.end()] - from + most;
      const auto chosen = most_violated_prefix(std::move(members), d, room, to);
      if (chosen.empty()) continue;
      double sum = to;
      for (std::size_t v : chosen) sum += load(v, d);
      most = sum - (values_[formulation_.end()] - from);
      best = chosen;
      head = from;
      tail = to;
    }
    if (best.empty()) return;
    add({head + tail, kInfinity, {{formulation_.end(), 1}}}, best, d);
  }

  Formulation& formulation_;
  const Horizon& horizon_;
  const std::vector<double>& values_;
  bool any_ = false;
};

}  // namespace

bool add_cuts(Formulation& formulation, const std::vector<double>& values) {
  return Separation(formulation, values).run();
}

double tighten(Formulation& formulation, const Solver& solver, const Limits& limits) {
  double bound_ms = 0;
  for (int round = 0; round < kMostRounds && !limits.deadline.expired(); ++round) {
    const Program relaxation = relaxed(formulation.program());
    Answer answer = solver.solve(relaxation, {}, limits);
    check_answer(answer, relaxation, {});
    if (answer.status != Status::kOptimal) break;
    bound_ms = std::max(bound_ms, formulation.ms(answer.bound));
    if (!add_cuts(formulation, answer.values)) break;
  }
  return bound_ms;
}

}  // namespace hios::scheduler::milp

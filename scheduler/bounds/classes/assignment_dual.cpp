#include "scheduler/bounds/classes/assignment_dual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "scheduler/structures/cholesky.h"
#include "scheduler/structures/numbers.h"

// Let rows r say Σ a_r(v, k)·x(v, k) <= s_r·T + c_r in every schedule of at most latency T, where
// operator v is on one of its candidate classes k. For any multipliers u_r >= 0 with Σ u_r·s_r = 1,
// their sum says Σ_v Σ_k x(v, k)·Σ_r u_r·a_r(v, k) <= T + Σ_r u_r·c_r, and each operator is on one
// class, so
//   T >= Σ_v min_k Σ_r u_r·a_r(v, k) − Σ_r u_r·c_r.
// So if the right side is above T, there is no such schedule (weak duality). If moving v from its
// cheapest class to class k raises that sum above T, v is not on k in any schedule of latency T.
//
// The best multipliers are found by Newton's method. The minimum is replaced by the soft minimum
// −m·log Σ_k exp(−cost/m), which is smooth and concave, and a barrier w·Σ log u_r keeps multipliers
// positive; m and w shrink in steps. Exp decides the way only: the bound is computed exactly for
// the multipliers reached, and its rounding error is subtracted. Between the steps, rows are added
// that the soft minima's assignment violates.
//
// A step costs operators × (classes + rows of an operator²), and rows³ for a Cholesky
// factorization. tests/scheduler/bounds/placement_test.cpp compares with all assignments of small
// problems.

namespace hios::scheduler {
namespace {

constexpr double kLeastChance = 1e-9;

}  // namespace

double AssignmentDual::cost(std::size_t cell, const std::vector<double>& multipliers) const {
  double sum = 0;
  for (std::size_t t = first_term_[cell]; t < first_term_[cell + 1]; ++t) {
    sum += multipliers[terms_[t].row] * terms_[t].coefficient;
  }
  return sum;
}

/// Sorts the rows' entries by cell.
void AssignmentDual::gather(const ClassCandidates& candidates) {
  std::vector<std::size_t> index(costs_.operators * costs_.classes());
  first_cell_.assign(1, 0);
  class_of_.clear();
  for (std::size_t v = 0; v < costs_.operators; ++v) {
    for (std::size_t k = 0; k < costs_.classes(); ++k) {
      if (!candidates.may_be(v, k)) continue;
      index[costs_.cell(v, k)] = class_of_.size();
      class_of_.push_back(static_cast<std::uint32_t>(k));
    }
    first_cell_.push_back(class_of_.size());
  }
  first_term_.assign(class_of_.size() + 1, 0);
  for (const AssignmentRow& row : rows_.rows()) {
    for (const auto& entry : row.entries) ++first_term_[index[costs_.cell(entry.v, entry.k)] + 1];
  }
  for (std::size_t i = 1; i < first_term_.size(); ++i) first_term_[i] += first_term_[i - 1];
  terms_.resize(first_term_.back());
  std::vector<std::size_t> next(first_term_.begin(), first_term_.end() - 1);
  for (std::size_t r = 0; r < rows_.rows().size(); ++r) {
    for (const auto& entry : rows_.rows()[r].entries) {
      terms_[next[index[costs_.cell(entry.v, entry.k)]]++] = {static_cast<std::uint32_t>(r),
                                                              entry.coefficient};
    }
  }
  chance_.assign(class_of_.size(), 0);
}

/// Gives new rows a multiplier, and makes the sum of slopes 1.
void AssignmentDual::scale_multipliers() {
  const auto& rows = rows_.rows();
  double slopes = 0;
  for (std::size_t r = multipliers_.size(); r < rows.size(); ++r) {
    multipliers_.push_back(rows[r].slope > 0 ? 0.05 / rows[r].slope : 0);
  }
  for (std::size_t r = 0; r < rows.size(); ++r) slopes += multipliers_[r] * rows[r].slope;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].slope > 0) multipliers_[r] /= slopes;
  }
}

AssignmentDual::Value AssignmentDual::value(const std::vector<double>& multipliers,
                                            const Smoothing& smoothing) {
  constexpr double kError = 1e-12;  // of a sum of that many numbers
  const auto& rows = rows_.rows();
  double exact = 0, soft = 0, size = 0;
  std::array<double, kMostClasses> own;
  for (std::size_t v = 0; v < costs_.operators; ++v) {
    const std::size_t first = first_cell_[v], count = first_cell_[v + 1] - first;
    double least = kInfinity, sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      own[i] = cost(first + i, multipliers);
      least = std::min(least, own[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      chance_[first + i] = std::exp((least - own[i]) / smoothing.soft);
      sum += chance_[first + i];
    }
    for (std::size_t i = 0; i < count; ++i) chance_[first + i] /= sum;
    exact += least;
    size += std::abs(least);
    soft += least - smoothing.soft * std::log(sum);
  }
  double barrier = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    exact -= multipliers[r] * rows[r].constant;
    size += std::abs(multipliers[r] * rows[r].constant);
    soft -= multipliers[r] * rows[r].constant;
    barrier += std::log(multipliers[r]);
  }
  return {exact - kError * size, soft + smoothing.barrier * barrier};
}

/// Adds the part of one operator to the negated second derivatives, times the smoothing.
void AssignmentDual::add_curvature(std::size_t v) {
  const std::size_t rows = multipliers_.size();
  touched_.clear();
  for (std::size_t cell = first_cell_[v]; cell < first_cell_[v + 1]; ++cell) {
    const double chance = chance_[cell];
    if (chance < kLeastChance) continue;
    const auto begin = first_term_[cell], end = first_term_[cell + 1];
    for (std::size_t a = begin; a < end; ++a) {
      const Term& term = terms_[a];
      if (!is_touched_[term.row]) touched_.push_back(term.row);
      is_touched_[term.row] = true;
      mean_[term.row] += chance * term.coefficient;
      for (std::size_t b = begin; b <= a; ++b) {
        curvature_[term.row * rows + terms_[b].row] +=
            chance * term.coefficient * terms_[b].coefficient;
      }
    }
  }
  std::sort(touched_.begin(), touched_.end());
  for (std::size_t a = 0; a < touched_.size(); ++a) {
    const double own = mean_[touched_[a]];
    gradient_[touched_[a]] += own;
    for (std::size_t b = 0; b <= a; ++b) {
      curvature_[touched_[a] * rows + touched_[b]] -= own * mean_[touched_[b]];
    }
  }
  for (std::uint32_t row : touched_) {
    mean_[row] = 0;
    is_touched_[row] = false;
  }
}

/// Computes the value and its derivatives.
AssignmentDual::Value AssignmentDual::derive(const Smoothing& smoothing) {
  const auto& rows = rows_.rows();
  const Value result = value(multipliers_, smoothing);
  gradient_.assign(rows.size(), 0);
  curvature_.assign(rows.size() * rows.size(), 0);
  mean_.assign(rows.size(), 0);
  is_touched_.assign(rows.size(), false);
  for (std::size_t v = 0; v < costs_.operators; ++v) add_curvature(v);
  for (double& entry : curvature_) entry /= smoothing.soft;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double own = multipliers_[r];
    gradient_[r] += smoothing.barrier / own - rows[r].constant;
    curvature_[r * rows.size() + r] += smoothing.barrier / (own * own);
  }
  return result;
}

/// Returns Newton's direction that keeps Σ slope · multiplier.
std::vector<double> AssignmentDual::direction() const {
  const std::size_t rows = multipliers_.size();
  std::vector<double> slopes, step = gradient_;
  for (const AssignmentRow& row : rows_.rows()) slopes.push_back(row.slope);
  std::vector<double> along = slopes;
  const Cholesky factor(curvature_, rows);
  factor.solve(step);
  factor.solve(along);
  double over = 0, under = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    over += slopes[r] * step[r];
    under += slopes[r] * along[r];
  }
  for (std::size_t r = 0; r < rows; ++r) step[r] -= over / under * along[r];
  return step;
}

void AssignmentDual::keep_best(const Value& value, const std::vector<double>& multipliers) {
  if (!(value.bound_ms > best_ms_)) return;
  best_ms_ = value.bound_ms;
  best_ = multipliers;
}

/// Takes one step of Newton's method. Returns false if it gains nothing.
bool AssignmentDual::step(const Smoothing& smoothing, Value& now) {
  constexpr double kKept = 0.1;  // of a multiplier, at least
  constexpr int kHalvings = 8;
  now = derive(smoothing);
  keep_best(now, multipliers_);
  const std::vector<double> way = direction();
  double length = 1, slope = 0;
  for (std::size_t r = 0; r < way.size(); ++r) {
    slope += gradient_[r] * way[r];
    if (way[r] < 0) length = std::min(length, (1 - kKept) * multipliers_[r] / -way[r]);
  }
  if (!(slope > 0) || !std::isfinite(slope)) return false;
  std::vector<double> moved(way.size());
  for (int i = 0; i < kHalvings; ++i, length /= 2) {
    double slopes = 0;  // 1, but for rounding in the factorization
    for (std::size_t r = 0; r < way.size(); ++r) {
      moved[r] = multipliers_[r] + length * way[r];
      slopes += moved[r] * rows_.rows()[r].slope;
    }
    if (!(slopes > 0) || !std::isfinite(slopes)) continue;
    for (double& multiplier : moved) multiplier /= slopes;
    const Value there = value(moved, smoothing);
    keep_best(there, moved);
    if (!(there.smooth_ms > now.smooth_ms + 1e-3 * length * slope)) continue;
    const double gained = there.smooth_ms - now.smooth_ms;
    multipliers_ = std::move(moved);
    now = there;
    return gained > 1e-3 * smoothing.barrier;
  }
  return false;
}

double AssignmentDual::raise(const ClassCandidates& candidates, double latency_ms,
                             const Deadline& deadline, double& work) {
  constexpr double kFirst = 1, kAgain = 0.1, kCoarse = 0.02, kFinest = 3e-4, kShrunk = 0.4;
  constexpr int kCycles = 24, kSteps = 3;
  constexpr double kWorkOfStep = 2000;
  rows_.refresh(candidates, latency_ms);
  const bool first = multipliers_.empty();
  best_ms_ = 0;
  best_.clear();
  if (first) {
    for (const AssignmentRow& row : rows_.rows()) {
      multipliers_.push_back(row.slope > 0 ? 1 : 0.1 * latency_ms);
    }
  }
  const double cells = static_cast<double>(costs_.operators);
  double level = first ? kFirst : kAgain;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    gather(candidates);
    scale_multipliers();
    bool finest = false;
    for (; !finest; level *= kShrunk) {
      finest = level * kShrunk < (cycle + 1 == kCycles ? kFinest : kCoarse);
      const Smoothing smoothing{level * latency_ms / cells,
                                level * latency_ms / static_cast<double>(3 * multipliers_.size())};
      Value now;
      for (int i = 0; i < kSteps; ++i) {
        const auto rows = static_cast<double>(multipliers_.size());
        work -= static_cast<double>(class_of_.size() + 4 * terms_.size()) + rows * rows * rows / 6 +
                kWorkOfStep;
        const bool gained = step(smoothing, now);
        if (best_ms_ > latency_ms || work < 0 || deadline.expired()) return best_ms_;
        if (!gained) break;
      }
    }
    if (cycle + 1 < kCycles && !rows_.add_violated(shares(), candidates, latency_ms)) {
      cycle = kCycles - 2;  // one more, to the finest level
      continue;
    }
    level = kAgain;
  }
  if (!best_.empty()) best_.resize(rows_.rows().size(), 0);
  return best_ms_;
}

std::vector<double> AssignmentDual::shares() const {
  if (first_cell_.empty()) return {};
  std::vector<double> x(costs_.operators * costs_.classes(), 0);
  for (std::size_t v = 0; v < costs_.operators; ++v) {
    for (std::size_t cell = first_cell_[v]; cell < first_cell_[v + 1]; ++cell) {
      x[costs_.cell(v, class_of_[cell])] = chance_[cell];
    }
  }
  return x;
}

double AssignmentDual::bound_ms(const ClassCandidates& candidates) const {
  if (best_.size() != rows_.rows().size()) return 0;
  double sum = best_ms_;
  for (std::size_t v = 0; v < costs_.operators; ++v) {
    double least = kInfinity, left = kInfinity;
    for (std::size_t cell = first_cell_[v]; cell < first_cell_[v + 1]; ++cell) {
      const double here = cost(cell, best_);
      least = std::min(least, here);
      if (candidates.may_be(v, class_of_[cell])) left = std::min(left, here);
    }
    sum += left - least;
  }
  return sum;
}

bool AssignmentDual::exclude_costly(ClassCandidates& candidates, double latency_ms) const {
  if (best_.size() != rows_.rows().size()) return false;
  bool any = false;
  for (std::size_t v = 0; v < costs_.operators; ++v) {
    double least = kInfinity;
    for (std::size_t cell = first_cell_[v]; cell < first_cell_[v + 1]; ++cell) {
      least = std::min(least, cost(cell, best_));
    }
    for (std::size_t cell = first_cell_[v]; cell < first_cell_[v + 1]; ++cell) {
      if (best_ms_ + cost(cell, best_) - least <= latency_ms * (1 + kRounding)) continue;
      candidates.exclude(v, class_of_[cell]);
      any = true;
    }
  }
  return any;
}

}  // namespace hios::scheduler

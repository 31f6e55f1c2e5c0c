#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace hios::scheduler {

/// The Cholesky factor of a symmetric, positive definite matrix. Pivots that rounding has made too
/// small are raised to a small part of the diagonal, so that solve() always ends with numbers.
class Cholesky {
 public:
  /// Takes the matrix by rows; only its lower triangle is read. O(size³).
  Cholesky(std::vector<double> matrix, std::size_t size) : factor_(std::move(matrix)), size_(size) {
    constexpr double kLeastPivot = 1e-13;
    for (std::size_t j = 0; j < size_; ++j) {
      const double diagonal = at(j, j);
      double pivot = diagonal;
      for (std::size_t i = 0; i < j; ++i) pivot -= at(j, i) * at(j, i);
      at(j, j) = std::sqrt(std::max(pivot, std::max(diagonal * kLeastPivot, 1e-300)));
      for (std::size_t r = j + 1; r < size_; ++r) {
        double sum = at(r, j);
        for (std::size_t i = 0; i < j; ++i) sum -= at(r, i) * at(j, i);
        at(r, j) = sum / at(j, j);
      }
    }
  }

  /// Replaces the right side by the solution. O(size²).
  void solve(std::vector<double>& side) const {
    for (std::size_t r = 0; r < size_; ++r) {
      for (std::size_t i = 0; i < r; ++i) side[r] -= at(r, i) * side[i];
      side[r] /= at(r, r);
    }
    for (std::size_t r = size_; r-- > 0;) {
      for (std::size_t i = r + 1; i < size_; ++i) side[r] -= at(i, r) * side[i];
      side[r] /= at(r, r);
    }
  }

 private:
  double& at(std::size_t row, std::size_t column) { return factor_[row * size_ + column]; }
  double at(std::size_t row, std::size_t column) const { return factor_[row * size_ + column]; }

  std::vector<double> factor_;
  std::size_t size_;
};

}  // namespace hios::scheduler

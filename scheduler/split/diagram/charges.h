#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/split/diagram/diagram_problem.h"

namespace hios::scheduler::split {

/// A lower bound of a state's completion: the operators that remain are charged to devices at fixed
/// dual prices (proof in charges.cpp). The problem must outlive it.
class Charges {
 public:
  explicit Charges(const DiagramProblem& problem);

  /// The remaining operators, by price vector: their total cost and the least of their tails.
  struct Remaining {
    std::vector<double> cost, tail;
  };
  /// Returns the charges of operators that are not in `done`: a bit for each operator, 64 a word.
  Remaining remaining(std::span<const std::uint64_t> done) const;

  /// Returns a lower bound of the latency when device d runs remaining operators from free[d] (ms).
  double end_ms(const Remaining& remaining, std::span<const double> free) const;

 private:
  std::vector<std::vector<double>> dual_prices_;  ///< vectors by device, each with sum 1
  std::vector<std::size_t> by_tail_;              ///< operators by decreasing least tail
  std::vector<double> least_tail_;                ///< by operator
  std::vector<double> least_cost_;                ///< operator × price vector
};

}  // namespace hios::scheduler::split

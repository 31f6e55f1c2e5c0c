#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/split/diagram/diagram_problem.h"

namespace hios::scheduler::split {

/// What is left of a work, charged to devices by some prices: a bound of a begun schedule from when
/// its devices are free (proof in charges.cpp). The work must outlive it.
class Charges {
 public:
  explicit Charges(const Work& work);

  /// By price: what operators cost that are not done, and the least tail of those.
  struct Rest {
    std::vector<double> cost, tail;
  };
  /// `done`: a bit for each operator, 64 a word.
  Rest rest(std::span<const std::uint64_t> done) const;

  /// No schedule ends earlier whose rest begins on each device when that is free, or later. `free`:
  /// ms by device.
  double end_ms(const Rest& rest, std::span<const double> free) const;

 private:
  std::vector<std::vector<double>> prices_;  ///< by device; each sums up to 1
  std::vector<std::size_t> by_tail_;         ///< operators, the largest least tail first
  std::vector<double> least_tail_;           ///< by operator
  std::vector<double> least_cost_;           ///< operator × prices
};

}  // namespace hios::scheduler::split

#pragma once

#include <vector>

#include "scheduler/milp/solver.h"
#include "scheduler/pipeline/bounds/least_costs.h"

namespace hios::scheduler::pipeline {

/// Dual prices of vertices, at which divisible work costs the same on every device: price(v) = min
/// over classes of share(c) · work(v, c), where the shares of all devices add up to 1. The prices
/// of a block on a device of class c add up to at most share(c) · its work. So some block has at
/// least share(c) · all prices, and the sum of all prices is a bound of the period.
struct DualPrices {
  std::vector<double> shares;        ///< by class: the share of each device
  std::vector<double> by_vertex_ms;  ///< by vertex
  double all_ms = 0;
};

/// Returns dual prices of the largest sum: for alike devices, an even part of the work, else by a
/// linear program. REQUIRES: every vertex runs somewhere.
DualPrices largest_dual_prices(const LeastCosts& costs, const milp::Solver& solver);

}  // namespace hios::scheduler::pipeline

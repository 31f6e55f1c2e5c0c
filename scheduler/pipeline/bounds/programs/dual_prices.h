#pragma once

#include <vector>

#include "scheduler/milp/solver.h"
#include "scheduler/pipeline/bounds/least_costs.h"

namespace hios::scheduler::pipeline {

/// Prices of vertices, at which work that can be cut anywhere costs the same whichever device does
/// it: price(v) = min over classes of share(c) · work(v, c), shares of all devices adding up to 1.
/// The prices of a block on a device of class c are at most share(c) · its work; so of all blocks
/// one has at least share(c) · all prices, and all prices are a bound of the period.
struct Prices {
  std::vector<double> shares;    ///< by class, of each device of it
  std::vector<double> price_ms;  ///< by vertex
  double all_ms = 0;
};

/// The most expensive such prices: of devices alike their number's part of the work, else by a
/// linear program. REQUIRES: every vertex runs somewhere.
Prices largest_prices(const LeastCosts& costs, const milp::Solver& solver);

}  // namespace hios::scheduler::pipeline

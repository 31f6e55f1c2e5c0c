#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/split/diagram/diagram_problem.h"

namespace hios::scheduler::split {

struct DiagramLimits {
  double cutoff_ms = 0;      ///< states whose bound is not below this latency are pruned
  std::size_t width = 1000;  ///< states of a layer, approximately
  Deadline deadline = {};    ///< asked often
};

struct DiagramResult {
  /// A lower bound of the problem, at most the cutoff: in every schedule, some operator's end plus
  /// its tail is not less.
  double bound_ms = 0;
  /// The path to the least state of the last layer: operators with their devices, each to be put at
  /// the end of its device. Empty where every state was pruned. After merges, the schedule can be
  /// longer than the bound and even than the cutoff.
  std::vector<std::pair<std::size_t, std::size_t>> order = {};
};

/// Compiles a decision diagram over partial schedules, layer by layer: layer k holds the
/// non-dominated states that have scheduled k operators. A layer wider than `width` is relaxed:
/// states are merged into one that is no worse than each, which weakens the bound (proof in
/// decision_diagram.cpp). The same arguments give the same result unless the deadline expires.
/// REQUIRES: cutoff_ms is finite.
DiagramResult compile_diagram(const DiagramProblem& problem, const DiagramLimits& limits);

}  // namespace hios::scheduler::split

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/split/diagram/diagram_problem.h"

namespace hios::scheduler::split {

struct BegunLimits {
  double below_ms = 0;       ///< what takes as long or longer is of no interest
  std::size_t width = 1000;  ///< begun schedules of as many operators, more or less
  Deadline deadline = {};    ///< asked often
};

struct BegunResult {
  /// In every schedule of the work, an operator's end and its tail come to that or more.
  double bound_ms = 0;
  /// An order in which to place each operator at the end of its device; empty where none was found.
  /// What comes of it can be longer than the bound and even than `below_ms`.
  std::vector<std::pair<std::size_t, std::size_t>> order = {};
};

/// Searches all schedules at once: those of no operator, of one, of two, and so on, of each set of
/// operators those alone that no other makes needless (proof in begun.cpp). Where there are more
/// than `width`, several are replaced by one that is better than each, and the bound becomes less.
/// The same arguments give the same result unless the deadline ends it. REQUIRES: below_ms is
/// finite.
BegunResult search_begun(const Work& work, const BegunLimits& limits);

}  // namespace hios::scheduler::split

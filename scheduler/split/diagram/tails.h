#pragma once

#include <cstddef>

#include "scheduler/deadline.h"
#include "scheduler/split/diagram/diagram_problem.h"

namespace hios::scheduler::split {

struct TailLimits {
  double cutoff_ms = 0;        ///< schedules that are not shorter are not considered
  std::size_t followers = 12;  ///< operators after one that its tail considers
  std::size_t width = 200;     ///< width of each decision diagram
  Deadline deadline = {};      ///< asked often
};

/// Raises tails by decision diagrams of the operators that follow each operator. Where no schedule
/// below the cutoff has an operator on a device, its time there becomes infinite (proof in
/// tails.cpp).
void raise_tails(DiagramProblem& problem, const TailLimits& limits);

/// Returns a lower bound of the latency: the largest of head, time and tail of any one operator.
double longest_path_ms(const DiagramProblem& problem);

}  // namespace hios::scheduler::split

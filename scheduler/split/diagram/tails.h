#pragma once

#include <cstddef>

#include "scheduler/deadline.h"
#include "scheduler/split/diagram/diagram_problem.h"

namespace hios::scheduler::split {

struct TailLimits {
  double below_ms = 0;      ///< what takes as long or longer is of no interest
  std::size_t window = 12;  ///< operators of which one's tail is made
  std::size_t width = 200;  ///< of each search (begun.h)
  Deadline deadline = {};   ///< asked often
};

/// Raises tails, by what follows an operator and shares devices; where none is left of a device for
/// it in schedules below the limit, its time there becomes infinity (proof in tails.cpp).
void raise_tails(Work& work, const TailLimits& limits);

/// No schedule of the work is shorter, by head, time and tail of each operator alone.
double longest_path_ms(const Work& work);

}  // namespace hios::scheduler::split

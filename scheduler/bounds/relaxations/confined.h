#pragma once

#include <vector>

#include "scheduler/bounds/relaxations/preemptive.h"

namespace hios::scheduler {

/// Operators that can only come to some devices, and those devices.
struct Confined {
  std::vector<Job> jobs;       ///< of the least window shares on those devices
  std::vector<double> speeds;  ///< device_speeds(), the fastest first; of one device at least
};

/// What they take at least (proof in confined.cpp). 0 without jobs.
double confined_ms(Confined confined);

}  // namespace hios::scheduler

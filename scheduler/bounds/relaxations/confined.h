#pragma once

#include <vector>

#include "scheduler/bounds/relaxations/preemptive.h"

namespace hios::scheduler {

/// Operators that can run only on some devices, and those devices.
struct Confined {
  std::vector<Job> jobs;       ///< with the least window shares on those devices
  std::vector<double> speeds;  ///< device_speeds(), the fastest first; at least one
};

/// Returns a lower bound on the latency due to these operators (proof in confined.cpp), or 0
/// without jobs.
double confined_ms(Confined confined);

}  // namespace hios::scheduler

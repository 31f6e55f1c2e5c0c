#pragma once

#include <string>
#include <vector>

#include "hios/flight/flight.h"

namespace hios::flight {

/// Reads the records of a job's ranks together, and says in words where each stood, who waited for
/// whom, and where to look first: at the ranks that others wait for and that wait for nobody, at a
/// circle of ranks that wait for each other, at a tensor that was sent and did not arrive. A line a
/// rank, then the conclusion. Throws InputError where the records are of different jobs or two are
/// of the same rank. REQUIRES: not empty.
std::string explain(std::vector<Flight> flights);

}  // namespace hios::flight

#pragma once

#include <string>
#include <vector>

#include "hios/flight/flight.h"

namespace hios::flight {

/// Describes the records of a job's ranks: the step that each rank was in, who waited for whom, and
/// where to look first. That is at ranks that others wait for and that wait for nobody, at a cycle
/// of ranks that wait for each other, or at a tensor that was sent and did not arrive. One line a
/// rank, then the conclusion. Of several jobs, the one whose record was written last counts; a
/// first line names the records of the others. Throws InputError where a record says no rank, or
/// two of the job are of the same rank. REQUIRES: not empty.
std::string explain(std::vector<Flight> flights);

}  // namespace hios::flight

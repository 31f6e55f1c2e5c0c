#pragma once

#include "scheduler/cold/shared/server.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::cold {

/// Returns an expected latency that no keeping of the server beats, whatever its cold starts do
/// (proof in keeping_bound.cpp); 0 where nothing is known. Throws as bound_terms(). Ends soon after
/// the deadline, with a smaller bound.
double keeping_bound_ms(const Server& server, const Deadline& deadline);

}  // namespace hios::scheduler::cold

#pragma once

#include <cstdint>

#include "scheduler/cold/shared/keeping_judge.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::cold {

/// Returns a keeping of small expected latency by the judge: never larger than that of `start`.
/// First greedy, then `exchanges` exchanges, each kept unless it is worse. Ends at the deadline,
/// and then depends on when. Otherwise the same arguments give the same keeping.
Keeping search_keeping(KeepingJudge& judge, const Keeping& start, std::int64_t exchanges,
                       std::uint64_t seed, const Deadline& deadline);

}  // namespace hios::scheduler::cold

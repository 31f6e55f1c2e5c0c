#pragma once

#include "scheduler/algorithms/hios/mapping_recording.h"

namespace hios::test {

/// Computes record_mappings() and reads every history back in full.
Schedule plain_mappings(const Graph& graph, const CostModel& costs,
                        scheduler::LastRow last_row = scheduler::LastRow::kLeastLatency);

}  // namespace hios::test

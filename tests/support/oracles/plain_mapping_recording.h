#pragma once

#include "scheduler/algorithms/hios/mapping_recording.h"

namespace hios::test {

/// record_mappings() with every history read back in full.
Schedule plain_mappings(const Graph& graph, const CostModel& costs);

}  // namespace hios::test

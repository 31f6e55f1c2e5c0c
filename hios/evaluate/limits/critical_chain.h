#pragma once

#include <cstddef>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// A transfer that a stage of the critical chain waited for.
struct ChainTransfer {
  OpId producer;
  DeviceId from, to;
  double ms = 0;  ///< from the end of the producer's stage to the start of the waiting one
};

/// A load that a stage, or another load, of the critical chain waited for.
struct ChainLoad {
  OpId of;
  DeviceId to;
  std::size_t lane = 0;
  double ms = 0;  ///< from its start to that of the waiting one
};

/// The chain of stages, transfers and loads that decides a timeline's latency: each starts when the
/// one before it ends. A shorter latency needs a shorter chain. The times add up to the latency.
struct CriticalChain {
  std::size_t stages = 0;
  double stages_ms = 0;
  std::vector<ChainTransfer> transfers;  ///< in the order of time
  double transfers_ms = 0;
  std::vector<ChainLoad> loads = {};  ///< of parameters, in the order of time
  double loads_ms = 0;
  double other_ms = 0;  ///< planned: launches; measured: the executor's own time as well
};

/// Returns the chain that ends with the last stage. `costs`: those of a planned timeline; null: it
/// was measured. Linear in operators and edges. REQUIRES: the timeline belongs to the schedule.
CriticalChain critical_chain(const Graph& graph, const Schedule& schedule, const Timeline& timeline,
                             const CostModel* costs);

}  // namespace hios

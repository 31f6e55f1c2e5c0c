#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/bounds/graph/allowed_devices.h"
#include "scheduler/bounds/graph/shares.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// The problem that bounds are computed for, and the data that they share.
struct BoundContext {
  const Graph& graph;
  const CostModel& costs;
  const Shares& shares;
  const AllowedDevices& allowed;
  const Deadline& deadline;  ///< once expired, bounds return what they have, or 0

  bool stopped() const { return deadline.expired(); }
};

}  // namespace hios::scheduler

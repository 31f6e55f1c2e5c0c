#pragma once

#include <cstddef>
#include <vector>

#include "engine/run/plan/stage_order.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// Proofs by edges alone that a tensor is not needed any more, for stages in any order. A stage
/// begins when the stages that produce its inputs have ended, also those of other devices, and so
/// when all have ended from which a chain of edges leads to it. Memory: a bit for each pair of
/// stages. Time: for each edge, the number of stages. All arguments outlive it.
class EdgeChains {
 public:
  /// `order`: of the same schedule.
  EdgeChains(const Graph& graph, const Schedule& schedule, const StageOrder& order);

  /// Returns true if, whenever `next` begins on a device, nobody needs an older tensor there:
  /// chains lead to `next` from the older tensor's operator, if that runs there, from all of its
  /// consumers there, and from one on each device to which it is sent from there, which therefore
  /// has it. REQUIRES: `next` runs there; `old` runs there, or is received.
  bool not_needed(OpId old, OpId next, DeviceId device) const;

 private:
  std::size_t number(const AssignedTo& at) const { return first_[at.device.index()] + at.stage; }
  bool ends_before(OpId a, OpId b) const;
  bool comes_first_in_stage(OpId a, OpId b) const;

  const Graph& graph_;
  const Schedule& schedule_;
  const StageOrder& order_;
  std::vector<std::size_t> first_;         // by device: the number of its first stage
  std::vector<std::vector<bool>> before_;  // by stage: the stages that have ended when it begins
};

}  // namespace hios

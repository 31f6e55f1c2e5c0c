#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler::milp {

/// A set of operators of a small graph, by OpId.
using OpSet = std::uint32_t;

/// A stage that some schedule may have.
struct PossibleStage {
  OpSet operators = 0;
  OpSet inputs = 0;  ///< outside the stage
  Stage stage = {};
  std::vector<double> cost_ms = {};  ///< by device; infinity where it helps no schedule
};

/// Returns the stages that a shortest schedule may need: groups that are independent of each other,
/// also by way of operators outside, and that take less time together, on some device, than their
/// operators one after the other, which could take their place. Single operators come first, by
/// OpId. Nothing where more than kMostStages would have to be looked at. REQUIRES: at most 32
/// operators.
std::optional<std::vector<PossibleStage>> possible_stages(const Graph& graph,
                                                          const CostModel& costs);

inline constexpr std::size_t kMostStages = 200'000;

}  // namespace hios::scheduler::milp

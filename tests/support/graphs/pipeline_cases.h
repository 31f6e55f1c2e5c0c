#pragma once

#include <cstddef>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/cost_model.h"

/// Small problems of blocks for many inferences, and their costs by the definitions of Archer,
/// Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference":
/// computed slowly, from sets.
namespace hios::test {

/// A problem of a few operators on devices that may differ in everything that a block's cost
/// depends on.
struct PipelineCase {
  Graph graph;
  Platform platform;
};

struct PipelineStyle {
  bool overflow = false;  ///< fast memory that holds only a part of the weights and tensors
  bool limits = false;    ///< memory_bytes, labels
};

PipelineCase random_case(std::size_t operators, std::size_t devices, const PipelineStyle& style,
                         Random& random);

/// Returns the block's cost by Eq. 3, or infinity if the device cannot run or hold the block.
double plain_block_ms(const PipelineCase& made, const CostModel& costs,
                      const std::vector<OpId>& block, DeviceId device);

/// Returns the cost of the most expensive block, given each operator's device in the graph's order.
/// Infinite if blocks form a cycle, labels are separated, or a block cannot run.
double plain_period_ms(const PipelineCase& made, const CostModel& costs,
                       const std::vector<std::size_t>& device);

/// Returns the minimum of plain_period_ms() over all devices^n assignments.
double plain_optimum_ms(const PipelineCase& made, const CostModel& costs);

}  // namespace hios::test

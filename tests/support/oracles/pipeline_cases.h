#pragma once

#include <cstddef>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/cost_model.h"

/// Small problems of blocks for many inferences, and what they cost by the letter of Archer,
/// Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference":
/// slowly, from sets.
namespace hios::test {

/// A problem of a few operators on devices that may be unlike in all that a block's cost knows.
struct PipelineCase {
  Graph graph;
  Platform platform;
};

struct PipelineStyle {
  bool overflow = false;  ///< fast memory that holds a part
  bool limits = false;    ///< memory_bytes, labels
};

PipelineCase random_case(std::size_t operators, std::size_t devices, const PipelineStyle& style,
                         Random& random);

/// Eq. 3. Infinite where the device cannot run or hold the block.
double plain_block_ms(const PipelineCase& made, const CostModel& costs,
                      const std::vector<OpId>& block, DeviceId device);

/// The most expensive block where each operator runs on this device, in the graph's order; infinite
/// where blocks form a cycle, labels part, or a block cannot run.
double plain_period_ms(const PipelineCase& made, const CostModel& costs,
                       const std::vector<std::size_t>& device);

/// The least of that over all devices^n assignments.
double plain_optimum_ms(const PipelineCase& made, const CostModel& costs);

}  // namespace hios::test

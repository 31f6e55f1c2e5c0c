#pragma once

#include <span>
#include <string>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"

/// Blocks: the operators that each device runs for one inference, where many are in flight (Archer,
/// Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference",
/// section 2.2). The most expensive block decides the period from one inference to the next.
namespace hios {

/// The cost of a block (Archer et al., Eq. 3).
struct BlockCost {
  double stages_ms = 0;
  /// The share of transfers that occupies the device (IoCharge), for each tensor of other blocks
  /// that it reads, once.
  double receive_ms = 0;
  double send_ms = 0;      ///< the same share for each of its tensors that other blocks read, once
  double overflow_ms = 0;  ///< Eq. 2: reading the bytes that fast memory does not hold

  double ms() const { return stages_ms + receive_ms + send_ms + overflow_ms; }
};

/// The costs of all blocks of a schedule.
struct Period {
  std::vector<BlockCost> blocks;  ///< by device
  DeviceId bottleneck;            ///< device of the most expensive block; the first of several

  double ms() const { return blocks[bottleneck.index()].ms(); }
};

/// Returns the cost of a tensor for its sender and receivers: that of its most expensive edge or,
/// where consumers read ranges, of all bytes from the first to the last that is read, in the mean
/// over all pairs of different devices. 0 for a tensor without consumers.
double tensor_ms(const Graph& graph, const CostModel& costs, OpId producer);

/// Returns the bytes of a tensor: those of its operator's output or, where the graph has none, of
/// its largest edge.
Bytes tensor_bytes(const Graph& graph, OpId producer);

/// Returns Eq. 2 for a block of these bytes; 0 on a device without fast memory.
double overflow_ms(const FastMemory& memory, Bytes parameters, Bytes peak);

/// Returns the most bytes of tensors that a block holds at a time, run in this order. Received
/// tensors count from the start to the end. Its own count from their operator to their last
/// consumer in the block, or to the end where another block or nobody reads them.
Bytes peak_bytes(const Graph& graph, std::span<const OpId> block);

/// Returns the costs of all blocks. Linear in operators and edges. REQUIRES: validate() finds
/// nothing.
Period period_of(const Graph& graph, const Schedule& schedule, const CostModel& costs);

/// Returns devices whose blocks form a cycle, each before the one that it reads from; empty: there
/// is none. Operators that the schedule lacks are ignored.
std::vector<DeviceId> cycle_of_blocks(const Graph& graph, const Schedule& schedule);

}  // namespace hios

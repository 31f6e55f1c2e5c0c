#pragma once

#include <span>
#include <string>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"

/// What each device has to do for one inference, where many are in flight: its block (Archer,
/// Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference",
/// section 2.2). The most expensive block decides how often an inference ends.
namespace hios {

/// The cost of a block (the same, Eq. 3).
struct BlockCost {
  double stages_ms = 0;
  /// Of each tensor of other blocks that it reads, once, the share that occupies the device
  /// (IoCharge).
  double receive_ms = 0;
  double send_ms = 0;      ///< the same of each of its tensors that other blocks read, once
  double overflow_ms = 0;  ///< Eq. 2: reading again what fast memory does not hold

  double ms() const { return stages_ms + receive_ms + send_ms + overflow_ms; }
};

/// All blocks of a schedule.
struct Period {
  std::vector<BlockCost> blocks;  ///< by device
  DeviceId bottleneck;            ///< the most expensive; the first of several

  double ms() const { return blocks[bottleneck.index()].ms(); }
};

/// What a tensor costs whoever sends or receives it: its most expensive edge, in the mean over all
/// pairs of different devices. 0 where nothing reads it.
double tensor_ms(const Graph& graph, const CostModel& costs, OpId producer);

/// The bytes of a tensor: those of its operator's output or, where the graph does not say, of its
/// largest edge.
Bytes tensor_bytes(const Graph& graph, OpId producer);

/// Eq. 2 of a block of these bytes. 0 on a device whose memory is all as fast.
double overflow_ms(const FastMemory& memory, Bytes parameters, Bytes peak);

/// The most bytes of tensors that a block holds at a time, run in this order: all that it receives,
/// from the start to the end, and its own, each from its operator to its last consumer in the block
/// or, where others read it or nobody does, to the end.
Bytes peak_bytes(const Graph& graph, std::span<const OpId> block);

/// Linear in operators and edges. REQUIRES: validate() finds nothing.
Period period_of(const Graph& graph, const Schedule& schedule, const CostModel& costs);

/// Devices whose blocks wait for each other in a ring, each before the one that it reads from;
/// empty where there is none. Operators that the schedule lacks count for nothing.
std::vector<DeviceId> ring_of_blocks(const Graph& graph, const Schedule& schedule);

}  // namespace hios

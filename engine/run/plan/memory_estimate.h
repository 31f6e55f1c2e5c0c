#pragma once

#include <string>
#include <tuple>

#include "engine/backend/backend.h"
#include "engine/run/plan/plan.h"

/// The memory that a plan needs on its device, and a check that there is enough, before anything is
/// allocated.
namespace hios {

struct MemoryEstimate {
  Bytes tensors = 0;
  Bytes input = 0;
  Bytes parameters = 0;  ///< counted once; a library's own layouts and workspaces are not counted
  Bytes scratch = 0;     ///< workspaces, known once operators are bound
  Bytes total() const { return tensors + input + parameters + scratch; }
  /// Returns references to all members, for the exchange between ranks.
  static auto fields(auto& self) {
    return std::tie(self.tensors, self.input, self.parameters, self.scratch);
  }
};

/// Estimates the memory of a plan: tensors in all buffers, inputs, outputs kept, and weights.
MemoryEstimate estimate_memory(const CoarseGraph& coarse, const Model& model, const RankPlan& plan);

/// Returns " (of 12, the largest is conv_3's: 4096 bytes)", for messages where memory is short.
/// REQUIRES: at least one tensor.
std::string largest_tensor_text(const Graph& graph, const RankPlan& plan);

/// Returns the memory of a plan whose operators are all bound: the estimate, with parameters and
/// scratch as the backend counts them, where it does.
MemoryEstimate held_memory(const MemoryEstimate& estimate, const Backend& backend);

/// Throws InputError where `free` is less than `estimate`; it names the missing bytes, their use
/// and the remedy. `who` is "rank 0", or all ranks that share the memory: then `estimate` is their
/// sum.
void require_device_memory(const MemoryEstimate& estimate, Bytes free, const std::string& who);

}  // namespace hios

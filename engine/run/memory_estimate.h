#pragma once

#include <string>
#include <tuple>

#include "engine/backend/backend.h"
#include "engine/run/plan.h"

/// What a plan takes of a device's memory, and whether it is there, before anything is allocated.
namespace hios {

struct MemoryEstimate {
  Bytes tensors = 0;
  Bytes input = 0;
  Bytes parameters = 0;  ///< once; a library's own layouts and workspaces come on top
  Bytes scratch = 0;     ///< known once operators are bound
  Bytes total() const { return tensors + input + parameters + scratch; }
  /// For ranks that tell each other.
  static auto fields(auto& self) {
    return std::tie(self.tensors, self.input, self.parameters, self.scratch);
  }
};
MemoryEstimate estimate_memory(const CoarseGraph& coarse, const Model& model, const RankPlan& plan);

/// " (of 12, the largest is conv_3's: 4096 bytes)", for messages where memory is short. REQUIRES: a
/// tensor at least.
std::string largest_tensor_text(const Graph& graph, const RankPlan& plan);

/// The same of a plan whose operators are all bound: parameters and scratch as the backend counts
/// them, where it does.
MemoryEstimate held_memory(const MemoryEstimate& estimate, const Backend& backend);

/// Throws InputError that says how much is missing, for what and what to do, where `free` is less.
/// `who` is "rank 0", or all that share the memory: then `need` is their sum.
void require_device_memory(const MemoryEstimate& need, Bytes free, const std::string& who);

}  // namespace hios

#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "engine/run/bound_plan.h"
#include "engine/run/clocks/step_progress.h"
#include "engine/run/plan/plan.h"
#include "engine/run/rank_context.h"

namespace hios {

/// A block of a network: consecutive operators of the graph's topological order.
struct NetworkBlock {
  std::size_t first = 0;  ///< position in that order
  std::size_t count = 0;
  static auto fields(auto& self) { return std::tie(self.first, self.count); }
  std::span<const OpId> operators(const Graph& graph) const {
    return graph.topological().subspan(first, count);
  }
};

/// Divides the whole order into at most so many blocks, none of them empty, such that the largest
/// number of bytes of parameters in a block is as small as possible. O(operators · log bytes).
std::vector<NetworkBlock> blocks_by_weights(const Graph& graph, std::size_t most);

/// A block of a network made ready to be run repeatedly on this rank alone, one operator after the
/// other, as a device runs its block where many inferences are in flight. Tensors from other blocks
/// are written here before. Host backends only. Used by the main thread.
class BlockRun {
 public:
  /// The context's references outlive this. Throws as BoundPlan does.
  BlockRun(const RankContext& rank, const NetworkBlock& block);
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;

  std::size_t size() const { return bound_.stages(0).size(); }
  /// Writes the tensors that come from other blocks, as receiving them would.
  void receive();
  /// Runs the i-th operator, with all cores of the rank, and returns its time in ms. `poll` (may be
  /// null) is called as by Backend::run_stage. Allocates nothing.
  double run(std::size_t i, void (*poll)(void*) = nullptr, void* poll_argument = nullptr);
  /// See BoundPlan::parameter_memory.
  std::vector<std::span<std::byte>> parameter_memory(OpId op) const {
    return bound_.parameter_memory(op);
  }

 private:
  Backend& backend_;
  RankPlan plan_;
  StepProgress progress_;
  BoundPlan bound_;
};

}  // namespace hios

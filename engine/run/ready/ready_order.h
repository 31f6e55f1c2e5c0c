#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/run/plan/plan.h"
#include "hios/graph/graph.h"

/// The order of a rank's stages where each runs as soon as its inputs and parameters are there: of
/// the stages that can run, the earliest in the plan's order is next. Pure data.
///
/// No new deadlock. Receives are posted before the first stage, and a rank blocks in no wait: while
/// nothing can run it serves its messages and loads. So sends end, lanes go on and parameters
/// leave, whatever its stages wait for. A stage waits for data alone: for stages of this rank that
/// produce its inputs, for messages, for loads, and for sends whose slots it overwrites. The plan's
/// own order has all these waits, too, and validate() has found no cycle in it, through the stages,
/// lanes and sources of all ranks. So of all stages that have not run, the first in that order can.
/// Shards are operators with edges, batches likewise, and lanes that go from rank to rank wait for
/// loads alone: none of them adds a wait.
namespace hios {

/// Steps of a plan that run one after the other: the sends of a stage follow it at once. An
/// eviction is a block of its own.
struct ReadyBlock {
  std::size_t first = 0;  ///< its first step
  /// The first step that is no wait: Compute or Evict. The steps before it are conditions.
  std::size_t run = 0;
  std::size_t end = 0;                      ///< after its last step
  std::size_t follows = 0;                  ///< the number of blocks that must end before it
  bool is_stage = true;                     ///< false: an eviction
  std::vector<std::size_t> followers = {};  ///< the blocks that must follow it, ascending
};

/// Returns the blocks of a plan in its order. A stage follows the stages that produce its inputs;
/// it needs no edge for memory, since a plan for any order shares slots only where edges prove it.
/// An eviction follows its stage, and all stages before that one that read the parameters.
/// REQUIRES: plan.any_order.
std::vector<ReadyBlock> ready_order(const RankPlan& plan, const Graph& graph);

/// The blocks of an iteration that have not ended. Only the constructor allocates.
class OpenBlocks {
 public:
  /// `blocks`: outlives this.
  explicit OpenBlocks(std::span<const ReadyBlock> blocks);

  void begin();
  bool empty() const { return open_.empty(); }
  /// Returns the blocks whose predecessors have all ended, ascending. Where any is left, one is
  /// open.
  std::span<const std::size_t> open() const { return open_; }
  /// Returns the number of stages that have not ended.
  std::size_t stages() const { return stages_; }
  /// Ends an open block, and opens those that only waited for it.
  void end(std::size_t block);

 private:
  std::span<const ReadyBlock> blocks_;
  std::vector<std::size_t> left_;  // by block: predecessors that have not ended
  std::vector<std::size_t> open_;
  std::size_t stages_ = 0;
};

}  // namespace hios

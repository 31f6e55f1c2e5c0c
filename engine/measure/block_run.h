#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "engine/measure/profiler_context.h"
#include "engine/run/bound_plan.h"
#include "engine/run/plan.h"
#include "engine/run/step_progress.h"

namespace hios {

/// Some operators that stand one behind the other in a graph's topological order.
struct NetworkPart {
  std::size_t first = 0;  ///< in that order
  std::size_t count = 0;
  static auto fields(auto& self) { return std::tie(self.first, self.count); }
  std::span<const OpId> of(const Graph& graph) const {
    return graph.topological().subspan(first, count);
  }
};

/// The whole order in at most so many parts, none of them empty, such that the one with the most
/// bytes of parameters has as few as can be. O(operators · log bytes).
std::vector<NetworkPart> parts_by_weights(const Graph& graph, std::size_t parts);

/// A part of a network made ready to be run again and again on this rank alone, one operator after
/// the other, as a device runs its part where many inferences are in flight; what comes from other
/// parts is written here before. Host backends only. Used by the main thread.
class BlockRun {
 public:
  /// The context outlives it. Throws as BoundPlan does.
  BlockRun(const ProfilerContext& context, const NetworkPart& part);
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;

  std::size_t size() const { return bound_.stages(0).size(); }
  /// Writes the tensors that come from outside, as whoever receives a message does.
  void receive();
  /// Runs the i-th operator, with all cores of the rank, and returns its time in ms. `poll` (may be
  /// null) as Backend::run_stage calls it. Allocates nothing.
  double run(std::size_t i, void (*poll)(void*) = nullptr, void* poll_argument = nullptr);

 private:
  Backend& backend_;
  RankPlan plan_;
  StepProgress progress_;
  BoundPlan bound_;
};

}  // namespace hios

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// All down-sets: sets of vertices that contain, with a vertex, all its predecessors. They are the
/// unions of a pipeline's first blocks. From each set a step leads to each that has one more
/// vertex.
class DownSets {
 public:
  /// A down-set: 0 is the empty one, and every step leads to a greater number.
  using Id = std::uint32_t;
  struct Step {
    Vertex vertex;
    Id to;
  };

  /// Returns all down-sets; nothing if there are more than `most` or the deadline expires. Costs
  /// vertices / 64 for each step.
  static std::optional<DownSets> all(const PipelineProblem& problem, std::size_t most,
                                     const Deadline& deadline);

  std::size_t size() const { return begin_.size() - 1; }
  Id full() const { return static_cast<Id>(size() - 1); }
  std::span<const Step> steps(Id id) const {
    return std::span(steps_).subspan(begin_[id], begin_[id + 1] - begin_[id]);
  }

 private:
  DownSets() : begin_{0} {}

  std::vector<std::size_t> begin_;  // into steps_, by id
  std::vector<Step> steps_;
};

}  // namespace hios::scheduler::pipeline

#pragma once

#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// Lower bounds of blocks' costs, whatever the stages of their operators: a block's work counts
/// with the shares that no stage is below (scheduler/bounds/graph/shares.h). So a bound of blocks
/// at these costs is also one of schedules with several groups in a stage. Keeps the problem, which
/// must outlive it; any thread may read it.
class LeastCosts {
 public:
  explicit LeastCosts(const PipelineProblem& problem);

  const PipelineProblem& problem() const { return *problem_; }
  std::size_t size() const { return problem_->size(); }
  std::size_t devices() const { return problem_->devices(); }
  /// Returns the problem's classes with that work.
  const std::vector<PipelineClass>& classes() const { return classes_; }
  /// Returns, by vertex, the work on the class where it is least; infinite where no class can run
  /// it.
  const std::vector<double>& work_ms() const { return work_ms_; }
  double total_work_ms() const { return total_work_ms_; }
  /// Returns the least shares of a transfer among all classes.
  IoCharge charge() const { return charge_; }
  /// A lower bound of the time in which blocks reload parameters that exceed fast memory: a line,
  /// max(0, sum of parameters − bytes) · ms_per_byte.
  struct Overflow {
    double bytes = 0;
    double ms_per_byte = 0;
  };
  Overflow overflow_of(std::size_t blocks) const;

 private:
  const PipelineProblem* problem_;
  std::vector<PipelineClass> classes_;
  std::vector<double> work_ms_;
  double total_work_ms_ = 0;
  IoCharge charge_;
};

/// Returns the line of one block.
LeastCosts::Overflow overflow_line(const FastMemory& memory);

}  // namespace hios::scheduler::pipeline

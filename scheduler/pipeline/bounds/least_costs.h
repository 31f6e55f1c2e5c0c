#pragma once

#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// What blocks cost at least, whatever the stages that their operators come to: a block's work
/// counts with the shares that no stage is below (scheduler/bounds/graph/shares.h). So a bound of
/// blocks that cost this is one of schedules with several groups in a stage, too. Keeps the
/// problem, which must outlive it; any thread may read it.
class LeastCosts {
 public:
  explicit LeastCosts(const PipelineProblem& problem);

  const PipelineProblem& problem() const { return *problem_; }
  std::size_t size() const { return problem_->size(); }
  std::size_t devices() const { return problem_->devices(); }
  /// The problem's classes with such work.
  const std::vector<PipelineClass>& classes() const { return classes_; }
  /// By vertex: on the class where it is least; infinite where none can run it.
  const std::vector<double>& work_ms() const { return work_ms_; }
  double total_work_ms() const { return total_work_ms_; }
  /// Of all classes the least shares of a transfer.
  IoCharge charge() const { return charge_; }
  /// What so many blocks together take at least to read parameters again that fast memory does not
  /// hold: a line, (sum of parameters − bytes) · ms_per_byte, and never below 0.
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

/// The same for one block.
LeastCosts::Overflow overflow_line(const FastMemory& memory);

}  // namespace hios::scheduler::pipeline

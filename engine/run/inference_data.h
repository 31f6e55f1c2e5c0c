#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/run/bound_plan.h"
#include "engine/run/rank_context.h"

namespace hios {

/// The inputs and outputs of many inferences on one rank: the inputs that inferences take in turn,
/// and for each input the outputs that it gave last. On a device both are copied in its work queue.
/// Allocates in the constructor and in output() only.
class InferenceData {
 public:
  /// `bound`, whose plan has the number of inputs, and the context's references outlive this.
  /// Throws RunError where memory is short.
  InferenceData(const RankContext& rank, const BoundPlan& bound);

  std::size_t inputs() const { return count_; }
  /// Copies the inference's input to where the operators read it.
  void bring_input(std::size_t inference);
  /// Copies the graph outputs that this rank has computed in the buffers of this index.
  void keep_outputs(std::size_t inference, std::size_t buffer);
  /// Forgets all outputs, at the start of a run.
  void begin();

  /// Returns the number of inferences since begin() whose outputs differ in some bit from those of
  /// the inference before with the same input. Counted in host memory only.
  std::size_t unlike() const { return unlike_; }
  /// Returns true if an inference since begin() had that input.
  bool ran(std::size_t input) const { return kept_[input] > 0; }
  /// Returns a copy of the output that this input gave last. REQUIRES: ran(input); nothing runs.
  std::vector<float> output(OpId op, std::size_t input) const;

 private:
  void copy(std::byte* to, const std::byte* from, Bytes size_bytes);

  Backend& backend_;
  const BoundPlan& bound_;
  mpi::Accelerator* device_;  // null: host memory
  std::size_t count_;
  std::vector<std::unique_ptr<Buffer>> inputs_;   // by input; none where nothing is computed here
  std::vector<std::unique_ptr<Buffer>> outputs_;  // by output of the plan, for all inputs in a row
  std::vector<std::size_t> kept_;                 // by input: the number of its inferences
  std::size_t unlike_ = 0;
};

}  // namespace hios

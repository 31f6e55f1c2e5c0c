#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "engine/run/bound_plan.h"
#include "hios/model/model.h"

namespace hios {

/// What goes into the inferences of a network on one rank and what comes out: the inputs that
/// inferences take in turn, and for each of them the outputs that it gave last. On a device both
/// are copies in its work queue. Allocates in the constructor and in output() only.
class InferenceData {
 public:
  /// `bound`, whose plan says how many inputs there are, outlives this. Throws RunError where
  /// memory is short.
  InferenceData(const Model& model, const BoundPlan& bound, TensorSource& source);

  std::size_t inputs() const { return count_; }
  /// Puts the inference's input where the operators read it.
  void bring_input(std::size_t inference);
  /// Keeps what the graph's outputs that this rank computes are now, where tensors that travel are
  /// in that place.
  void keep_outputs(std::size_t inference, std::size_t place);
  /// Forgets what was kept, as a run begins.
  void begin();

  /// How many inferences since begin() gave other bits than the one before them with the same
  /// input. Counted in host memory only.
  std::size_t unlike() const { return unlike_; }
  /// Whether an inference since begin() had that input.
  bool ran(std::size_t input) const { return kept_[input] > 0; }
  /// A copy of what came out last for that input. REQUIRES: ran(input); nothing runs.
  std::vector<float> output(OpId op, std::size_t input) const;

 private:
  void copy(std::byte* to, const std::byte* from, Bytes size_bytes);

  const BoundPlan& bound_;
  mpi::Accelerator* device_;
  std::size_t count_;
  std::vector<std::unique_ptr<Buffer>> inputs_;   // by input; none where nothing is computed here
  std::vector<std::unique_ptr<Buffer>> outputs_;  // by output of the plan, the inputs' in a row
  std::vector<std::size_t> kept_;                 // by input: how many inferences
  std::size_t unlike_ = 0;
};

}  // namespace hios

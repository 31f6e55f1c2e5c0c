// The engines of the emulated cuDNN: one of every kind that the choice must tell apart.
#include "support/emulated_cuda/libraries/descriptor.h"

namespace hios::cuda_emulation {

const std::vector<Engine>& engines() {
  static const std::vector<Engine> known{
      {.index = 0, .notes = {}, .lanes = 4, .has_knob = true},
      {.index = 1,
       .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS},
       .lanes = 8,
       .workspace_bytes = 256},
      {.index = 2, .notes = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, .lanes = 2},
      {.index = 3,
       .notes = {CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP},
       .lanes = 2,
       .workspace_bytes = 1024},
      {.index = 4, .notes = {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}},
      {.index = 5, .notes = {}, .compiled = true, .lanes = 8},
      {.index = 6, .notes = {}, .plans = false},
      {.index = 7, .notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, .lanes = 8}};
  return known;
}

std::vector<Proposed> proposals(cudnnBackendHeurMode_t mode, const GraphConvolution& graph) {
  const auto one = [](std::size_t index, std::int64_t knob) {
    return Proposed{&engines()[index], knob};
  };
  switch (mode) {
    case CUDNN_HEUR_MODE_A:
      // Tensor cores round floats; halves they take as they are.
      return {one(6, 0), one(graph.convolution.halves ? 7 : 1, 0), one(0, 1), one(3, 0)};
    case CUDNN_HEUR_MODE_B:
      return {one(0, 1), one(0, 0), one(2, 0), one(4, 0)};
    default:
      if (!graph.convolution.relu) throw CUDNN_STATUS_NOT_SUPPORTED;
      return {one(5, 0)};
  }
}

}  // namespace hios::cuda_emulation

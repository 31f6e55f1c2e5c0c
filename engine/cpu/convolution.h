#pragma once

#include <array>
#include <memory>
#include <string>

#include "engine/cpu/operators.h"

namespace hios::cpu {

/// What a primitive computes of a layer: the whole, or a block of its rows, whose input may have
/// been made such that the stride is spent already.
struct ConvolutionShape {
  Shape input, output;
  Extent stride;
  bool relu = false;  ///< behind it
};

/// A oneDNN convolution from one NHWC tensor to another with bias and, where asked for, a relu, in
/// one primitive. oneDNN settles its blocking for the number of threads in force when a primitive
/// is made, so it is made under, and run with, those of its core share.
class ConvolutionPrimitive {
 public:
  /// `layout`: what the layer's weights must look like; null: as oneDNN likes best.
  ConvolutionPrimitive(const Binding& binding, const Layer& layer, const ConvolutionShape& shape,
                       const dnnl::memory::desc* layout = nullptr);

  std::size_t scratch_bytes() const { return scratchpad_.get_desc().get_size(); }
  const PackedWeights& weights() const { return *weights_; }

  /// Allocates nothing of ours. `scratch` has scratch_bytes() and is 64-byte aligned.
  void run(const float* input, float* output, std::byte* scratch);

 private:
  static void point(dnnl::memory& memory, const void* data, const void*& current);

  std::string name_;  // for messages
  int threads_;
  dnnl::stream stream_;
  dnnl::convolution_forward primitive_;
  std::shared_ptr<const PackedWeights> weights_;
  dnnl::memory input_, output_, filter_, bias_, scratchpad_;
  const void *input_at_ = nullptr, *output_at_ = nullptr, *scratch_at_ = nullptr;
  std::array<dnnl_exec_arg_t, 5> arguments_;
  int argument_count_ = 0;
};

}  // namespace hios::cpu

#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "engine/cpu/kernels/activation_pass.h"
#include "engine/cpu/operators.h"

namespace hios::cpu {

/// The shape of a primitive's computation of a layer: the whole, or a block of its rows, whose
/// input may already have been thinned out by the stride.
struct ConvolutionShape {
  Shape input, output;
  Extent stride;
  bool add_output = false;                ///< adds to the output's present values
  const LayerKind* activation = nullptr;  ///< after it; null: none
};

/// Returns the activation after a chain; null: none.
const LayerKind* activation_of(const Binding& binding, const ConvolutionChain& chain);
/// Returns the pixels of all images as those of one, in the same order in memory. A pointwise
/// convolution gives the same result; but oneDNN computes many small images one by one (a
/// transformer's 197 tokens as images of one pixel: ten times the time).
Shape as_one_image(const Shape& shape);

/// A oneDNN convolution from one NHWC tensor to another, with bias and the layers after it in one
/// primitive, but for an activation that is faster in a pass of our own. oneDNN fixes its blocking
/// for the number of threads at the time when a primitive is made. So it is made under, and run
/// with, the number of threads of its core share.
class ConvolutionPrimitive {
 public:
  /// `layout`: the layout of the layer's weights; null: oneDNN's choice.
  ConvolutionPrimitive(const Binding& binding, const Layer& layer, const ConvolutionShape& shape,
                       const dnnl::memory::desc* layout = nullptr);

  std::size_t scratch_bytes() const { return scratchpad_.get_desc().get_size(); }
  const PackedWeights& weights() const { return *weights_; }

  /// Runs the primitive. Allocates nothing itself. `scratch` has scratch_bytes() and is 64-byte
  /// aligned.
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
  ActivationPass after_;  // what the primitive leaves
  std::size_t values_;    // of the output
};

/// Copies `values` floats, an even share on each thread: the addend that a convolution finds in its
/// output.
void copy_floats(int threads, const float* from, float* to, std::size_t values);

}  // namespace hios::cpu

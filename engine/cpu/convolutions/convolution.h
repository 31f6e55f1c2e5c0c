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
  bool add_output = false;                ///< adds to what the output holds
  const LayerKind* activation = nullptr;  ///< behind it; null: none
};

/// The activation behind a chain; null: none.
const LayerKind* activation_of(const Binding& binding, const ConvolutionChain& chain);
/// The pixels of all images as those of one, in the same order in memory. To a pointwise
/// convolution they are the same; oneDNN does many small images one by one (a transformer's 197
/// tokens as images of a pixel: ten times the time).
Shape as_one_image(const Shape& shape);
/// The whole of a chain's convolution and what is behind it. REQUIRES: nothing is in front.
ConvolutionShape shape_of(const Binding& binding, const ConvolutionChain& chain);

/// A description of the layer's convolution between two layouts, with bias and what follows it in
/// the same pass. `filter`: what its weights must look like; null: as oneDNN likes best. Throws
/// dnnl::error where oneDNN has no such convolution.
dnnl::convolution_forward::primitive_desc describe_convolution(
    const Binding& binding, const Layer& layer, const ConvolutionShape& shape,
    dnnl::algorithm algorithm, const dnnl::memory::desc& from, const dnnl::memory::desc& to,
    const dnnl::memory::desc* filter = nullptr);

/// A oneDNN convolution from one NHWC tensor to another with bias and what follows it in one
/// primitive. oneDNN settles its blocking for the number of threads in force when a primitive is
/// made, so it is made under, and run with, those of its core share.
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

/// Copies `values` floats, an even share on each of the threads: what an addend's convolution finds
/// in its output.
void copy_floats(int threads, const float* from, float* to, std::size_t values);

}  // namespace hios::cpu

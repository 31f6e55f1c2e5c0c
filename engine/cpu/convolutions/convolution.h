#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/cpu/convolutions/panel_product.h"
#include "engine/cpu/kernels/activation_pass.h"
#include "engine/cpu/operators.h"

namespace hios::cpu {

/// The shape of a primitive's computation of a layer: the whole, or a block of its rows or pixels,
/// whose input may already have been thinned out by the stride.
struct ConvolutionShape {
  Shape input, output;
  Extent stride;
  bool adds = false;                      ///< adds an addend
  const LayerKind* activation = nullptr;  ///< after it; null: none
  /// The pixels of the whole output, of which this is a block that a shard need not have; 0: its
  /// own.
  std::int64_t all_pixels = 0;
};

/// Returns the activation after a chain; null: none.
const LayerKind* activation_of(const Binding& binding, const ConvolutionChain& chain);
/// Returns the pixels of all images as those of one, in the same order in memory. A pointwise
/// convolution gives the same result; but oneDNN computes many small images one by one (a
/// transformer's 197 tokens as images of one pixel: ten times the time).
Shape as_one_image(const Shape& shape);

/// A convolution from one NHWC tensor to another, with bias and the layers after it: our own
/// product where it is pointwise and suits (panel_product.h), else one oneDNN primitive, but for an
/// activation that is faster in a pass of our own. oneDNN fixes its blocking for the number of
/// threads at the time when a primitive is made. So it is made under, and run with, the number of
/// threads of its core share.
class ConvolutionPrimitive {
 public:
  /// `like`: a primitive of the same layer for other rows, whose method it has, and whose weights
  /// unless oneDNN has no fast code for that; null: none.
  ConvolutionPrimitive(const Binding& binding, const Layer& layer, const ConvolutionShape& shape,
                       const ConvolutionPrimitive* like = nullptr);

  std::size_t scratch_bytes() const { return product_ ? 0 : scratchpad_.get_desc().get_size(); }

  /// Runs the primitive. Allocates nothing itself. `scratch` has scratch_bytes() and is 64-byte
  /// aligned. `addend`: of the output's shape. REQUIRES: an addend where its shape adds one.
  void run(const float* input, const float* addend, float* output, std::byte* scratch);

 private:
  void make(const Binding& binding, const Layer& layer, const ConvolutionShape& shape,
            const dnnl::memory::desc* layout);
  static void point(dnnl::memory& memory, const void* data, const void*& current);

  std::string name_;  // for messages
  int threads_;
  std::optional<PanelProduct> product_;  // empty: what follows
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

}  // namespace hios::cpu

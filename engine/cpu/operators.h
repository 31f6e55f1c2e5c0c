#pragma once

#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/fusion.h"
#include "engine/cpu/choices.h"
#include "engine/cpu/memory.h"
#include "engine/cpu/weights.h"

/// The operators of this backend, one file a family. Each is made from the form of an operation and
/// from what its stream lends it.
namespace hios::cpu {

/// What an operator is bound with. The references outlive the operator, except `operation`,
/// `inputs` and `source`, which serve the making only.
struct Binding {
  const Operation& operation;
  BoundInputs inputs;
  float* output;
  CoreShare share;
  TensorSource& source;
  const dnnl::engine& engine;
  const dnnl::stream& stream;
  WeightsCache& weights;
  Scratch& scratch;
  const Choices& choices;

  const Layer& layer(LayerId id) const { return operation.model->layer(id); }
  const Shape& output_shape() const {
    return operation.model->tensor(operation.layers->output).shape;
  }
};

/// Any operation, by its form.
std::unique_ptr<BoundOperator> bind_operator(const Binding& binding);

/// Operations of one form. REQUIRES: it is that of the binding's operation.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ConvolutionChain& chain);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const PoolForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const GlobalAverageForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const CombineForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const SingleForm& form);
/// Part by part, through buffers of its own: any operation.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const LayeredForm& form);

/// conv + bias + addend + activation in one oneDNN primitive. REQUIRES: one term, no relu before,
/// no depthwise.
std::unique_ptr<BoundOperator> bind_convolution(const Binding& binding,
                                                const ConvolutionChain& chain);
/// conv + bias + activation by Winograd's method, in blocks of about so many rows a thread (0: the
/// whole image at once). Null where there is none: oneDNN takes 3×3 windows at stride 1, on
/// processors with AVX-512, up to version 2; and blocks are for images of two or more, in channels
/// of sixteens. REQUIRES: one term, no relu before, no depthwise.
std::unique_ptr<BoundOperator> bind_winograd(const Binding& binding, const ConvolutionChain& chain,
                                             std::int64_t rows);
/// Everything in front of a pointwise convolution, and an addend. REQUIRES: the convolution is
/// pointwise.
std::unique_ptr<BoundOperator> bind_separable(const Binding& binding,
                                              const ConvolutionChain& chain);

}  // namespace hios::cpu

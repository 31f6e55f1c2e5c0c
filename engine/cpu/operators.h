#pragma once

#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/fusion.h"
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

/// conv + bias + relu in one oneDNN primitive. REQUIRES: one term, no relu before, no depthwise.
std::unique_ptr<BoundOperator> bind_convolution(const Binding& binding,
                                                const ConvolutionChain& chain);
/// Everything in front of a pointwise convolution. REQUIRES: the convolution is pointwise.
std::unique_ptr<BoundOperator> bind_separable(const Binding& binding,
                                              const ConvolutionChain& chain);

}  // namespace hios::cpu

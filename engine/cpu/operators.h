#pragma once

#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/fusion.h"
#include "engine/cpu/choices.h"
#include "engine/cpu/memory.h"
#include "engine/cpu/weights.h"

/// The operators of this backend, made from the form of an operation and the resources of its
/// stream. Convolutions are in convolutions/, the other forms in combine.cpp, pooling.cpp and
/// single/.
namespace hios::cpu {

/// Everything an operator is bound with. The references outlive the operator, except `operation`,
/// `inputs` and `source`, which are used only while it is made, and `stream`, of which it keeps a
/// handle.
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
  /// Returns this binding for some of its threads, with a stream of their own.
  Binding on(const dnnl::stream& own, int threads) const {
    const CoreShare some{share.stream, threads, share.first_core};
    return {operation, inputs, output, some, source, engine, own, weights, scratch, choices};
  }
  const Shape& output_shape() const {
    return operation.model->tensor(operation.layers->output).shape;
  }
};

/// Binds any operation by its form.
std::unique_ptr<BoundOperator> bind_operator(const Binding& binding);

/// Bind operations of one form. REQUIRES: it is the form of the binding's operation.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ConvolutionChain& chain);
/// Defined in convolutions/expanded.cpp.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ExpandedForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const PoolForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const GlobalAverageForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const CombineForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const SingleForm& form);
/// Binds any operation as a sequence of layers, through buffers of its own.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const LayeredForm& form);

/// Binds conv + bias + addend + activation as one oneDNN primitive. REQUIRES: one term, no relu
/// before, no depthwise.
std::unique_ptr<BoundOperator> bind_convolution(const Binding& binding,
                                                const ConvolutionChain& chain);

}  // namespace hios::cpu

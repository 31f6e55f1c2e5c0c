#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/fusion.h"
#include "engine/cuda/operators/autotune.h"
#include "engine/cuda/operators/weights.h"

/// The operators of this backend, made from the form of an operation and the resources of its
/// stream (aligned.cpp, chain.cpp, operators.cpp, layered.cpp). They only queue when they run.
namespace hios::cuda {

/// Everything an operator is bound with. The references outlive the operator, except `operation`,
/// `inputs` and `source`, which are used only while it is made.
struct Binding {
  const Operation& operation;
  BoundInputs inputs;
  std::byte* output;
  TensorSource& source;
  ConvolutionTools tools;
  Algorithms& algorithms;
  WeightsCache& weights;
  Precision precision;

  Element element() const { return element_of(precision); }
  const Layer& layer(LayerId id) const { return operation.model->layer(id); }
  const Shape& output_shape() const {
    return operation.model->tensor(operation.layers->output).shape;
  }
};

/// Binds any operation by its form. REQUIRES: inputs and output are aligned to kOperandAlignment.
std::unique_ptr<BoundOperator> bind_operator(const Binding& binding);

/// Everything that binding needs, except the operation and its tensors; see Binding.
struct Resources {
  TensorSource& source;
  ConvolutionTools tools;
  Algorithms& algorithms;
  WeightsCache& weights;
  Precision precision;
};

/// Binds any operation to tensors that may begin at any value: to aligned copies of those that are
/// not aligned.
std::unique_ptr<BoundOperator> bind_aligned(const Operation& operation,
                                            std::span<const std::byte* const> inputs,
                                            std::byte* output, const Resources& resources);

/// Bind operations of one form. REQUIRES: it is the form of the binding's operation.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ConvolutionChain& chain);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const PoolForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const GlobalAverageForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const CombineForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const SingleForm& form);
/// Bind an operation as a sequence of parts, through buffers of its own.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const LayeredForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ExpandedForm& form);

/// Returns the dense convolution of a chain as a problem; nothing if the chain has only a depthwise
/// one.
std::optional<ConvolutionProblem> problem_of(const Model& model, const ConvolutionChain& chain,
                                             Precision precision);

/// Returns the reason why our kernels cannot run the operation; empty: they can.
std::optional<std::string> refusal(const Operation& operation);

TaskWindow window_of(const Shape& input, const Shape& output, const Extent& kernel,
                     const Extent& stride, const Extent& padding, const Extent& dilation);
/// Returns the window of a Conv or a Pool. It omits the padding after the input: the output's shape
/// determines the last window.
template <class Windowed>
TaskWindow window_of(const Shape& input, const Shape& output, const Windowed& layer) {
  return window_of(input, output, layer.kernel, layer.stride, layer.padding.begin, layer.dilation);
}

/// Returns launches of CombineTask for the terms of each channel range. REQUIRES: no more terms in
/// a range than a task holds.
std::vector<CombineTask> combine_tasks(const std::vector<std::vector<Source>>& ranges, bool relu,
                                       const Shape& output, Element element, void* to);

/// Returns the beginning of an operator's error messages: "running conv_7 (…)".
std::string doing_text(const Operation& operation);

}  // namespace hios::cuda

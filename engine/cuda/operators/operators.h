#pragma once

#include <memory>
#include <span>

#include "engine/backend/backend.h"
#include "engine/backend/fusion.h"
#include "engine/cuda/operators/autotune.h"
#include "engine/cuda/operators/weights.h"

/// The operators of this backend, one file a family. Each is made from the form of an operation and
/// from what its stream lends it, and only queues when it runs.
namespace hios::cuda {

/// What an operator is bound with. The references outlive the operator, except `operation`,
/// `inputs` and `source`, which serve the making only.
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

/// Any operation, by its form.
std::unique_ptr<BoundOperator> bind_operator(const Binding& binding);

/// Operations of one form. REQUIRES: it is that of the binding's operation.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const ConvolutionChain& chain);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const PoolForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const GlobalAverageForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const CombineForm& form);
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const SingleForm& form);
/// Part by part, through buffers of its own.
std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const LayeredForm& form);

/// The dense convolution of a chain, as a problem; nothing where the chain has none, but a
/// depthwise one that stands alone.
std::optional<ConvolutionProblem> problem_of(const Model& model, const ConvolutionChain& chain,
                                             Precision precision);

/// Why our kernels cannot run the operation; empty: they can.
std::optional<std::string> refusal(const Operation& operation);

TaskWindow window_of(const Shape& input, const Shape& output, const Extent& kernel,
                     const Extent& stride, const Extent& padding, const Extent& dilation);
/// Of a Conv or a Pool. What pads behind is not in it: the output's shape says how far a window
/// goes.
template <class Windowed>
TaskWindow window_of(const Shape& input, const Shape& output, const Windowed& layer) {
  return window_of(input, output, layer.kernel, layer.stride, layer.padding.begin, layer.dilation);
}

/// Launches of CombineTask for the terms of each channel range. REQUIRES: no more terms in a range
/// than a task holds.
std::vector<CombineTask> combine_tasks(const std::vector<std::vector<Source>>& ranges, bool relu,
                                       const Shape& output, Element element, void* to);

/// "running conv_7 (…)": how errors of an operator begin.
std::string doing_text(const Operation& operation);

}  // namespace hios::cuda

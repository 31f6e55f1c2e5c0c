#include "hios/onnx/operators/constants/compute.h"

#include <map>

#include "hios/onnx/operators/constants/values.h"

namespace hios::onnx {
namespace {

/// Limit of the operations of all constants: some ten seconds of plain loops.
constexpr double kMostOperations = 8e9;

/// Returns the layer's operations; plain loops find values one after the other (TopK).
double operations_of(const DraftLayer& layer, const Shape& output) {
  const auto* const top = std::get_if<TopK>(&layer.kind);
  if (top == nullptr) return flop(layer.kind, layer.input_shapes, output);
  return static_cast<double>(layer.input_shapes.front().elements()) * static_cast<double>(top->k);
}

/// Adds the operations of a draft. Fails for layers that would make too many values, or take too
/// long.
void add_work(const Draft& draft, const Node& node, double& operations) {
  for (const DraftLayer& layer : draft.layers) {
    checked_size(node, {draft.size(layer.output)});
    operations += operations_of(layer, draft.tensors[layer.output.index()].shape);
  }
  if (operations <= kMostOperations) return;
  node.fail("the constants up to it would take " +
            std::to_string(static_cast<std::int64_t>(operations)) + " operations, more than " +
            std::to_string(static_cast<std::int64_t>(kMostOperations)) + kSimplify);
}

}  // namespace

Views compute_constants(const Node& node, const Operator& row, const LayerKernel& kernel,
                        double& operations) {
  Draft draft;
  LayerEmitter::Values values;
  LayerEmitter emitter(draft, node, &values);
  Views views = row.emit(emitter, node);
  if (!draft.layers.empty() && !kernel) {
    node.fail("computes constants, for which there are no kernels here");
  }
  add_work(draft, node, operations);
  values.resize(draft.tensors.size());
  for (const DraftLayer& layer : draft.layers) {
    std::vector<LayerOperand> operands;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      operands.push_back({values[layer.inputs[i].index()], layer.input_shapes[i]});
    }
    values[layer.output.index()] = kernel(layer.kind, operands, layer.parameters);
  }
  std::map<std::size_t, std::shared_ptr<const Constant>> made;  // by DraftId
  for (View& view : views) {
    if (view.is_constant()) continue;
    auto& constant = made[view.tensor().index()];
    if (!constant) {
      constant = std::make_shared<Constant>(
          Constant{ConstantType::kFloat, std::move(values[view.tensor().index()]), {}});
    }
    view.base = constant;
  }
  return views;
}

}  // namespace hios::onnx

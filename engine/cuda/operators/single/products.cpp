// Transposed convolutions, and products of two computed tensors.
#include "engine/cuda/operators/single/single.h"

namespace hios::cuda {

BoundLayer bind_single(const Binding& binding, const Layer& layer, const ConvTranspose& kind) {
  const Source input = binding.inputs[InputIndex(0)];
  const auto weights = binding.weights.get(*binding.operation.model, layer, binding.source);
  TransposedTask task;
  task.element = binding.element();
  task.window = window_of(input.shape, binding.output_shape(), kind);
  task.groups = static_cast<int>(kind.groups);
  task.input = input.data;
  task.weights = weights->weight_values();
  task.bias = weights->bias_values();
  task.output = binding.output;
  return make_launches<TransposedTask>(binding, transposed_convolution, {task}, {weights});
}

BoundLayer bind_single(const Binding& binding, const Layer&, const MatMul& layer) {
  const Source left = binding.inputs[InputIndex(0)], right = binding.inputs[InputIndex(1)];
  const Shape& output = binding.output_shape();
  const auto from_inner = [](const Shape& shape) {
    return shape.h == 1 ? 0 : static_cast<int>(shape.w * shape.c);
  };
  const auto from_outer = [](const Shape& shape) {
    return shape.n == 1 ? 0 : static_cast<int>(shape.h * shape.w * shape.c);
  };
  ProductTask task;
  task.element = binding.element();
  task.outer = static_cast<int>(output.n);
  task.inner = static_cast<int>(output.h);
  task.rows = static_cast<int>(output.w);
  task.columns = static_cast<int>(output.c);
  task.depth = static_cast<int>(left.shape.c);
  task.left_outer = from_outer(left.shape);
  task.left_inner = from_inner(left.shape);
  task.right_outer = from_outer(right.shape);
  task.right_inner = from_inner(right.shape);
  task.transpose_right = layer.transpose_right;
  task.left = left.data;
  task.right = right.data;
  task.output = binding.output;
  return make_launches<ProductTask>(binding, product, {task});
}

}  // namespace hios::cuda

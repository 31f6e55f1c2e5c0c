// Functions of one value and of two.
#include "engine/cuda/operators/single/single.h"
#include "engine/cuda/operators/single/views.h"

namespace hios::cuda {

BoundLayer bind_single(const Binding& binding, const Layer&, const Unary& layer) {
  UnaryTask task;
  task.element = binding.element();
  task.function = layer.function;
  task.alpha = layer.alpha;
  task.beta = layer.beta;
  task.input = binding.inputs[InputIndex(0)].data;
  task.output = binding.output;
  task.values = count_of(binding.output_shape());
  return make_launches<UnaryTask>(binding, unary, {task});
}

BoundLayer bind_single(const Binding& binding, const Layer& layer, const Binary& kind) {
  BinaryTask task;
  task.element = binding.element();
  task.function = kind.function;
  task.output = binding.output;
  const Shape& output = binding.output_shape();
  task.values = count_of(output);
  const auto set_left = [&](const void* values, const Shape& shape) {
    task.left = values;
    task.of_left = broadcast_view(shape, output);
  };
  const auto set_right = [&](const void* values, const Shape& shape) {
    task.right = values;
    task.of_right = broadcast_view(shape, output);
  };
  const Source first = binding.inputs[InputIndex(0)];
  std::vector<std::shared_ptr<const void>> kept;
  if (!kind.constant) {
    const Source second = binding.inputs[InputIndex(1)];
    set_left(first.data, first.shape);
    set_right(second.data, second.shape);
  } else {
    const auto weights = binding.weights.get(*binding.operation.model, layer, binding.source);
    kept.push_back(weights);
    if (kind.constant_first) {
      set_left(weights->weight_values(), *kind.constant);
      set_right(first.data, first.shape);
    } else {
      set_left(first.data, first.shape);
      set_right(weights->weight_values(), *kind.constant);
    }
  }
  return make_launches<BinaryTask>(binding, binary, {task}, std::move(kept));
}

}  // namespace hios::cuda

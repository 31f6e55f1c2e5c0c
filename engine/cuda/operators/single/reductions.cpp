// Layers that reduce many values to one, or compare each with others.
#include <algorithm>

#include "engine/cuda/operators/single/single.h"
#include "engine/cuda/operators/single/views.h"

namespace hios::cuda {

BoundLayer bind_single(const Binding& binding, const Layer&, const Reduce& layer) {
  const Source input = binding.inputs[InputIndex(0)];
  ReduceTask task;
  task.element = binding.element();
  task.function = layer.function;
  task.boxes = boxes_of(input.shape, layer.axes);
  task.input = input.data;
  task.output = binding.output;
  return make_launches<ReduceTask>(binding, reduce, {task});
}

BoundLayer bind_single(const Binding& binding, const Layer&, const Softmax& layer) {
  const Source input = binding.inputs[InputIndex(0)];
  SoftmaxTask task;
  task.element = binding.element();
  task.log = layer.log;
  task.boxes = boxes_of(input.shape, layer.axes);
  task.input = input.data;
  task.output = binding.output;
  return make_launches<SoftmaxTask>(binding, softmax, {task});
}

BoundLayer bind_single(const Binding& binding, const Layer& layer, const Normalization& kind) {
  const Source input = binding.inputs[InputIndex(0)];
  NormalizationTask task;
  task.element = binding.element();
  task.epsilon = kind.epsilon;
  task.boxes = boxes_of(input.shape, kind.axes, kind.groups);
  task.input = input.data;
  task.output = binding.output;
  std::vector<std::shared_ptr<const void>> kept;
  if (kind.scale || kind.bias) {
    const auto weights = binding.weights.get(*binding.operation.model, layer, binding.source);
    kept.push_back(weights);
    if (kind.scale) {
      task.scale = weights->weight_values();
      task.of_scale = broadcast_view(*kind.scale, input.shape);
    }
    if (kind.bias) {
      task.bias = weights->bias_values();
      task.of_bias = broadcast_view(*kind.bias, input.shape);
    }
  }
  return make_launches<NormalizationTask>(binding, normalize, {task}, std::move(kept));
}

BoundLayer bind_single(const Binding& binding, const Layer&,
                       const LocalResponseNormalization& layer) {
  const Source input = binding.inputs[InputIndex(0)];
  ResponseTask task;
  task.element = binding.element();
  task.values = count_of(input.shape);
  task.channels = static_cast<int>(input.shape.c);
  // No window reaches further than all channels.
  const std::int64_t before = (layer.size - 1) / 2, after = layer.size - 1 - before;
  task.before = static_cast<int>(std::min(before, input.shape.c));
  task.after = static_cast<int>(std::min(after, input.shape.c));
  task.scale = layer.alpha / static_cast<float>(layer.size);
  task.power = layer.beta;
  task.bias = layer.bias;
  task.input = input.data;
  task.output = binding.output;
  return make_launches<ResponseTask>(binding, normalize_response, {task});
}

}  // namespace hios::cuda
